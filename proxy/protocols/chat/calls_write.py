"""Calls in answers: entries of ``tool_calls``, or the one ``function_call`` of clients that gave
``functions``, which both are deprecated.

https://platform.openai.com/docs/api-reference/chat/object (choices.message)
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from toolwire.proxy.protocols.identifiers import random_id
from toolwire.proxy.protocols.neutral import Call, Request


class Opening(Struct):
    """How a call begins in a stream: its first ``delta``, and what stands around the JSON string of
    each piece of its text after it."""

    delta: dict[str, Any]
    before: bytes
    after: bytes


def is_legacy(request: Request) -> bool:
    """Whether the client knows functions only: a message has place for one call of these, and the
    model makes a further one when it has seen the first one's result."""
    return bool(request.document.get("functions")) and not request.document.get("tools")


def opening(call: Call, index: int | None) -> Opening:
    """``index`` is the call's place in the message; None for the ``function_call`` of a client that
    knows no other."""
    if index is None:
        begun = {"name": call.name, "arguments": ""}
        return Opening({"function_call": begun}, b'{"function_call":{"arguments":', b"}}")
    kind, text = ("custom", "input") if call.custom else ("function", "arguments")
    head = {
        "index": index,
        "id": call.id or random_id("call_"),
        "type": kind,
        kind: {"name": call.name, text: ""},
    }
    before = b'{"tool_calls":[{"index":%d,"%b":{"%b":' % (index, kind.encode(), text.encode())
    return Opening({"tool_calls": [head]}, before, b"}}]}")


def write_call(call: Call, *, cut: bool = False) -> dict[str, Any]:
    """An entry of ``tool_calls``; no arguments are ``{}`` unless the call was ``cut``."""
    if call.custom:
        custom = {"name": call.name, "input": call.arguments}
        return {"id": call.id, "type": "custom", "custom": custom}
    arguments = call.arguments if cut or call.arguments.strip() else "{}"
    function = {"name": call.name, "arguments": arguments}
    return {"id": call.id, "type": "function", "function": function}


def write_calls(calls: list[Call], *, cut: bool, legacy: bool) -> dict[str, Any]:
    """The field of a message that holds its calls; none where there are none."""
    if not calls:
        return {}
    if legacy:
        return {"function_call": write_call(calls[0], cut=cut)["function"]}
    return {"tool_calls": [write_call(call, cut=cut) for call in calls]}
