"""How the tests here repair a stream."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tests.proxy.protocols.responses.wire_events import (
    documents_of,
)
from toolwire.proxy.protocols import json
from toolwire.proxy.protocols.responses import CODEC
from toolwire.proxy.protocols.sse import Event

FIELDS = ("sequence_number", "output_index", "content_index", "item_id")


def repair(events: Iterable[Event]) -> tuple[list[dict[str, Any]], dict[str, int]]:
    """The documents that come out, the end of the body included, and the repairs."""
    repair = CODEC.stream_repair()
    passed = [*repair.feed(list(events)), *repair.close()]
    assert all(
        sent.name == json.decode(sent.data)["type"] for sent in passed if sent.data is not None
    )
    return documents_of(passed), repair.repairs


def without(document: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in document.items() if name not in names}
