"""Requests of another protocol, and how they are written for a Messages upstream."""

from __future__ import annotations

from typing import Any

from toolwire.config.profile import Profile
from toolwire.proxy.protocols.messages import CODEC
from toolwire.proxy.protocols.neutral import (
    Losses,
    Part,
    Request,
    Role,
    Text,
    Turn,
)

MARK = {"type": "ephemeral"}
PROFILE = Profile(temperature_max=1.0, default_max_tokens=4096)


def user(*parts: Part) -> Turn:
    return Turn(Role.USER, list(parts))


def assistant(*parts: Part) -> Turn:
    return Turn(Role.ASSISTANT, list(parts))


HELLO = user(Text("hello"))


def asked(*turns: Turn, max_tokens: int | None = 50, **fields: Any) -> Request:
    request = Request(model="m", protocol="chat", turns=list(turns or (HELLO,)))
    request.max_tokens = max_tokens
    for name, value in fields.items():
        setattr(request, name, value)
    return request


def written(
    request: Request, profile: Profile = PROFILE
) -> tuple[dict[str, Any], list[tuple[str, str]]]:
    losses = Losses()
    document = CODEC.write_request(request, profile, losses)
    return document, [(loss.kind, loss.path) for loss in losses.entries]


def user_block(part: Part, **fields: Any) -> tuple[dict[str, Any], list[tuple[str, str]]]:
    """The block of ``part``, beside one of text."""
    document, losses = written(asked(user(Text("see"), part), **fields))
    first, block = document["messages"][0]["content"]
    assert first == {"type": "text", "text": "see"}
    return block, losses
