"""The folder in which the command is typed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.proxy.explain.samples import ANSWERS, PROTOCOLS, REQUESTS
from tests.proxy.explain.streams import STREAMS


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Requests, answers and streams, and no configuration."""
    monkeypatch.chdir(tmp_path)
    for name in ("TOOLWIRE_CONFIG", "NO_COLOR"):
        monkeypatch.delenv(name, raising=False)
    for protocol in PROTOCOLS:
        Path(f"{protocol}.json").write_text(json.dumps(REQUESTS[protocol]))
        Path(f"{protocol}-answer.json").write_text(json.dumps(ANSWERS[protocol]))
        Path(f"{protocol}.sse").write_bytes(STREAMS[protocol])
