"""Fields that clients' types demand, and that an upstream left out.

llama.cpp's first events hold nothing of the response but its id and status, its last one repeats
nothing of the request, and it counts no reasoning tokens; mistral.rs leaves out much the same.
Values that are there are never touched, and nothing is added that may be absent.

https://platform.openai.com/docs/api-reference/responses/object
"""

from __future__ import annotations

from typing import Any

from toolwire.proxy.protocols.identifiers import random_id
from toolwire.proxy.protocols.responses.echo import response_object

_DEMANDED = (
    "id",
    "object",
    "created_at",
    "model",
    "output",
    "parallel_tool_calls",
    "tool_choice",
    "tools",
)
_DETAILS = {
    "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
    "output_tokens_details": {"reasoning_tokens": 0},
}


def fill_response(response: dict[str, Any], request: dict[str, Any] | None, created: int) -> bool:
    """Fills in what is missing, in place; whether anything was.

    ``request`` is what this answers, where it is known: a response repeats some of it.
    ``created`` is a Unix time in seconds.
    """
    missing = [name for name in _DEMANDED if name not in response]
    if missing:
        model = (request or {}).get("model")
        whole = response_object(
            request or {},
            response_id=random_id("resp_"),
            model=model if isinstance(model, str) else "",
            created=created,
        )
        response.update({name: whole[name] for name in missing})
    filled = _fill_usage(response.get("usage"))
    return bool(missing) or filled


def _fill_usage(usage: Any) -> bool:
    if not isinstance(usage, dict) or all(name in usage for name in _DETAILS):
        return False
    for name, silent in _DETAILS.items():
        told = usage.get(name)
        usage[name] = {**silent, **told} if isinstance(told, dict) else dict(silent)
    return True


def fill_part(part: dict[str, Any]) -> bool:
    """The same for a part of a message."""
    if part.get("type") != "output_text" or "annotations" in part:
        return False
    part["annotations"] = []
    return True


_LISTS = {"message": "content", "reasoning": "summary"}


def fill_item(item: dict[str, Any]) -> bool:
    """The same for an item that begins: the list that its parts are added to."""
    name = _LISTS.get(str(item.get("type")))
    if name is None or isinstance(item.get(name), list):
        return False
    item[name] = []
    return True
