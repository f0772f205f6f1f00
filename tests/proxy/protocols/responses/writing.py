"""How the tests here write a request for an upstream."""

from __future__ import annotations

from typing import Any

from toolwire.config.profile import Profile
from toolwire.proxy.protocols.neutral import (
    Losses,
    Protocol,
    Request,
    Turn,
)
from toolwire.proxy.protocols.responses import CODEC

OBJECT = {"type": "object", "properties": {}}


def write(
    turns: list[Turn] | None = None,
    *,
    client: Protocol = "chat",
    profile: dict[str, Any] | None = None,
    **fields: Any,
) -> tuple[dict[str, Any], list[tuple[str, str]]]:
    """The document, and each loss as its path and kind."""
    request = Request("m", turns or [], client, **fields)
    losses = Losses()
    document = CODEC.write_request(request, Profile(**(profile or {})), losses)
    return document, [(loss.path, loss.kind) for loss in losses.entries]


def items(*turns: Turn, **fields: Any) -> Any:
    document, losses = write(list(turns), **fields)
    assert losses == []
    return document["input"]
