"""How the tests here read a client's request."""

from __future__ import annotations

from typing import Any

from toolwire.proxy.protocols.neutral import (
    Turn,
)
from toolwire.proxy.protocols.responses import CODEC


def read(**fields: Any) -> Any:
    return CODEC.read_request({"model": "m", "input": "hi", **fields})


def read_item(item: dict[str, Any], **fields: Any) -> Turn:
    (turn,) = read(input=[item], **fields).turns
    return turn
