"""The log's two forms: what stands in a line, and what never does."""

from __future__ import annotations

import json
import logging as standard
from collections.abc import Iterator
from typing import Any

import pytest
import structlog

from toolwire.proxy import logging


@pytest.fixture(autouse=True)
def as_before() -> Iterator[None]:
    """Puts back what a configuration of the log changes for the whole process."""
    root = standard.getLogger()
    handlers, level = root.handlers[:], root.level
    structlog_before = structlog.get_config()
    disabled = standard.getLogger("uvicorn.access").disabled
    yield
    root.handlers[:], root.level = handlers, level
    structlog.configure(**structlog_before)
    standard.getLogger("uvicorn.access").disabled = disabled


def fail(secret: str) -> None:
    body = {"key": secret}
    raise KeyError(len(body))


def lines(capfd: pytest.CaptureFixture[str], form: str, level: str = "info") -> Any:
    """What is written of an event, of an exception and of another library's record."""
    logging.configure(level, form)
    log = structlog.get_logger("toolwire.test")
    log.debug("whisper")
    log.info("said", model="m\ud83d", number=1, path="a\nb")
    try:
        fail("sk-" + "local")
    except KeyError:
        log.exception("failed")
    standard.getLogger("elsewhere").warning("by %s", "another")
    return capfd.readouterr().err


def test_json_is_one_object_a_line(capfd: pytest.CaptureFixture[str]) -> None:
    said, failed, another = (json.loads(line) for line in lines(capfd, "json").splitlines())
    assert said["event"] == "said"
    assert (said["model"], said["number"], said["path"]) == ("m?", 1, "a\nb")
    assert (failed["level"], failed["event"]) == ("error", "failed")
    assert "KeyError: 1" in failed["exception"]
    assert (another["level"], another["event"]) == ("warning", "by another")
    assert said["timestamp"].endswith("Z")


@pytest.mark.parametrize("form", ["json", "console", "auto"])
def test_no_variable_of_a_frame_is_shown(capfd: pytest.CaptureFixture[str], form: str) -> None:
    text = lines(capfd, form)
    assert "KeyError" in text
    assert "sk-local" not in text


def test_an_event_on_a_terminal_is_one_line(capfd: pytest.CaptureFixture[str]) -> None:
    text = lines(capfd, "console")
    (said,) = [line for line in text.splitlines() if "said" in line]
    assert "number" in said and "path" in said


def test_levels(capfd: pytest.CaptureFixture[str]) -> None:
    assert "whisper" in lines(capfd, "json", "debug")
    assert "whisper" not in lines(capfd, "json", "info")
    assert "said" not in lines(capfd, "json", "error")
