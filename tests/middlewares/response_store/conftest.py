"""A gateway on a store in memory, and on one in a file."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from tests.middlewares.response_store.gateway import (
    Gateway,
)
from toolwire.config.model import ResponsesStore
from toolwire.proxy.store import MemoryStore, open_store


@pytest.fixture(params=["memory", "sqlite"])
async def gateway(
    request: pytest.FixtureRequest, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Gateway]:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    store = MemoryStore() if request.param == "memory" else open_store(ResponsesStore())
    yield Gateway(store)
    await store.aclose()
