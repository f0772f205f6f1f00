"""Sorts the keys of what goes upstream, so that the upstream's prompt cache hits.

Every JSON object of the body gets its keys in sorted order; arrays keep theirs.  So does the JSON
inside the ``arguments`` strings of the history (``tool_calls`` of chat, ``function_call`` items of
responses).  An arguments string that is no JSON object, or that has 15 or more digits in a row, is
left byte for byte: what made it may not have meant a number.  Two requests that differ only in the
order of keys give the same bytes upstream; numbers and text stay as they are.

Stands innermost of those that change requests: what the others add is sorted too.

    [middlewares.key_canonicalization]
    enabled = true
    keep_schema_order = false   # true: the fields of structured output stay in the client's order,
                                # which is the order in which some models write them
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

import msgspec

from toolwire import config
from toolwire.proxy.asgi import ASGIApp, Receive, Scope, Send
from toolwire.proxy.exchange import endpoint, open_body
from toolwire.proxy.protocols import json

_LONG_NUMBER = re.compile(r"[0-9]{15}")
"""From 15 digits on a number may not survive a reader that takes it for a double."""

REMEMBERED_CALLS = 4096
REMEMBERED_CHARACTERS = 2048
"""Of an arguments string, at most; both together bound the memory to some megabytes."""

_NOTHING: list[Any] = []

_SCHEMAS = {
    "chat": ("response_format", "json_schema", "schema"),
    "messages": ("output_config", "format", "schema"),
    "responses": ("text", "format", "schema"),
}


class Options(config.Options, frozen=True, kw_only=True, forbid_unknown_fields=True):
    keep_schema_order: bool = False
    """Whether ``properties`` in structured-output schemas keep the order that the client gave."""


class KeyCanonicalization:
    """See the module."""

    def __init__(self, app: ASGIApp, options: Options | None = None) -> None:
        self.app = app
        self.options = options or Options()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        codec = endpoint(scope)
        if codec is None:
            await self.app(scope, receive, send)
            return
        scope, body = open_body(scope, receive)
        document = await body.document()
        sort_arguments(codec.name, document)
        if self.options.keep_schema_order:
            keep_schema_order(codec.name, document)
        body.sort_keys()
        await self.app(scope, body, send)


def sort_arguments(protocol: str, document: dict[str, Any]) -> None:
    """Sorts the keys inside the arguments strings of the history, in place."""
    if protocol == "chat":
        for message in _list(document.get("messages")):
            if type(message) is dict and "tool_calls" in message:
                for call in _list(message["tool_calls"]):
                    function = call.get("function") if type(call) is dict else None
                    if type(function) is dict:
                        _sort_in(function)
    elif protocol == "responses":
        for item in _list(document.get("input")):
            if type(item) is dict and item.get("type") == "function_call":
                _sort_in(item)


def _sort_in(holder: dict[str, Any]) -> None:
    if type(arguments := holder.get("arguments")) is str:
        short = len(arguments) <= REMEMBERED_CHARACTERS
        holder["arguments"] = _remembered(arguments) if short else canonical(arguments)


def canonical(arguments: str) -> str:
    """``arguments`` with sorted keys; unchanged where the rule above leaves it alone."""
    if _LONG_NUMBER.search(arguments):
        return arguments
    try:
        document = json.decode(arguments)
        if not isinstance(document, dict):
            return arguments
        return json.encode_text(document, sort_keys=True)
    except ValueError:
        return arguments


_remembered = lru_cache(REMEMBERED_CALLS)(canonical)
"""An agent sends the calls of its whole history with each request, and they are the same ones."""


def keep_schema_order(protocol: str, document: dict[str, Any]) -> None:
    """Puts the structured-output schema in its final bytes, in place: sorted, less the order inside
    ``properties``."""
    *path, last = _SCHEMAS[protocol]
    holder: Any = document
    for key in path:
        holder = holder.get(key) if isinstance(holder, dict) else None
    if isinstance(holder, dict) and isinstance(schema := holder.get(last), dict):
        holder[last] = msgspec.Raw(json.encode(_in_schema_order(schema)))


def _in_schema_order(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_in_schema_order(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        key: {name: _in_schema_order(field) for name, field in value.items()}
        if key == "properties" and isinstance(value, dict)
        else _in_schema_order(value)
        for key, value in sorted(schema.items())
    }


def _list(value: Any) -> list[Any]:
    """A list, or an empty one where a client put something else there."""
    return value if type(value) is list else _NOTHING
