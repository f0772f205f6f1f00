"""Where a streamed call begins and ends that its upstream did not tell apart, or not at once."""

from __future__ import annotations

from typing import Any

from toolwire.proxy.protocols.chat import oddities


def is_whole_name(name: str, request: dict[str, Any] | None) -> bool:
    """Whether a call's name is more than the beginning of a tool's, for a few tell it in pieces;
    ``request`` is what is answered, where it is known."""
    tools = (request or {}).get("tools")
    names = [_name_of(tool) for tool in tools] if isinstance(tools, list) else []
    return name in names or not any(known.startswith(name) for known in names)


def split_objects(piece: dict[str, Any]) -> list[dict[str, Any]]:
    """A piece with the arguments of one call: some servers put those of the next ones behind them,
    without a head."""
    body = piece.get("function")
    text = body.get("arguments") if isinstance(body, dict) else None
    objects = oddities.objects_in(text) if isinstance(text, str) else []
    if not isinstance(body, dict) or len(objects) < 2:
        return [piece]
    first = {**piece, "function": {**body, "arguments": objects[0]}}
    others = [{"function": {"arguments": text}} for text in objects[1:]]
    place = {"index": piece["index"]} if "index" in piece else {}
    return [first, *({**place, **other} for other in others)]


def _name_of(tool: Any) -> str:
    function = tool.get("function") if isinstance(tool, dict) else None
    name = function.get("name") if isinstance(function, dict) else None
    return name if isinstance(name, str) else ""
