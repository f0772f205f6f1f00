"""The README's settings, files and configurations are real."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec
import pytest

from tests.deploy.files import DEPLOY, ENVIRON, README, code_blocks, settings
from toolwire.config.model import ResponsesStore, Server, ThinkingStore, Upstream

TABLES: dict[str, type[msgspec.Struct]] = {
    "[server]": Server,
    "[[upstreams]]": Upstream,
    "[responses_store]": ResponsesStore,
    "[thinking_store]": ThinkingStore,
}


@pytest.mark.parametrize("text", code_blocks("toml"))
def test_a_configuration_loads(text: str, tmp_path: Path) -> None:
    (tmp_path / "toolwire.toml").write_text(text, "utf-8")
    loaded = settings(tmp_path / "toolwire.toml", ENVIRON)
    assert len(loaded.upstreams) == text.count("[[upstreams]]")


def test_the_settings_exist() -> None:
    named = re.findall(r"^\| `(\[\S+\]) (\w+)` \|", README, re.MULTILINE)
    assert len(named) > 15
    for table, key in named:
        assert key in {field.encode_name for field in msgspec.structs.fields(TABLES[table])}


def test_the_files_that_the_first_table_names_exist() -> None:
    table = README[: README.index("## Image")]
    named = re.findall(r"`([\w./-]+)`", table)
    assert len(named) >= 10
    assert [path for path in named if not (DEPLOY / path).exists()] == []


def test_every_file_is_named() -> None:
    inside = (path.relative_to(DEPLOY) for path in DEPLOY.rglob("*") if path.is_file())
    files = [path for path in inside if "__pycache__" not in path.parts]
    unnamed = [
        str(path)
        for path in files
        if f"`{path}`" not in README and f"`{path.parts[0]}/`" not in README
    ]
    assert sorted(unnamed) == ["README.md", "hatch_build.py"]
