"""What one event of a stream is, in a few words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from toolwire.proxy.protocols import json, sse
from toolwire.proxy.protocols.neutral import Protocol

SNIPPET_CHARACTERS = 24
"""How much of a text or a name is shown."""


class Label(NamedTuple):
    """``kind`` is the same for events that differ in their text only."""

    kind: str
    text: str


def label(protocol: Protocol | None, event: sse.Event) -> Label:
    """What ``event`` is; ``protocol`` is that of its stream."""
    if event.data is None:
        return Label("comment", "comment")
    if event.data.strip() == sse.DONE:
        return Label("[DONE]", "[DONE]")
    try:
        document = json.decode(event.data)
    except ValueError:
        document = None
    if not isinstance(document, dict):
        return Label("no JSON", f"no JSON {_snippet(event.data.decode('utf-8', 'replace'))}")
    facts = list(_chunk(document) if protocol == "chat" else _typed(document, event.name))
    kind = ", ".join(kind for kind, _ in facts)
    return Label(kind, ", ".join(f"{kind} {text}" if text else kind for kind, text in facts))


def _chunk(document: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """The facts of a chat chunk, as (kind, text)."""
    yield "chunk" if "error" not in document else "error", _message(document.get("error"))
    choices = document.get("choices")
    for choice in choices if isinstance(choices, list) else ():
        if not isinstance(choice, dict):
            continue
        if index := choice.get("index"):
            yield f"choice {index}", ""
        delta = choice.get("delta")
        if isinstance(delta, dict):
            yield from _delta(delta)
        if choice.get("finish_reason") is not None:
            yield "finish_reason", str(choice["finish_reason"])
    if isinstance(document.get("usage"), dict):
        yield "usage", ""


def _delta(delta: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for name, value in delta.items():
        if name == "tool_calls" and isinstance(value, list):
            for call in value:
                yield from _call(call) if isinstance(call, dict) else ()
        elif isinstance(value, str):
            yield (name, value) if name == "role" else (name, _snippet(value))
        elif value is not None:
            yield name, ""


def _call(call: dict[str, Any]) -> Iterator[tuple[str, str]]:
    function = call.get("function")
    held = function if isinstance(function, dict) else {}
    where = f"tool_calls[{call.get('index', '?')}]"
    if "id" in call or "name" in held:
        yield where, f"{held.get('name')} {call.get('id')}"
    if arguments := held.get("arguments"):
        yield f"{where}.arguments", _snippet(arguments)


_TEXTS = ("delta", "text", "partial_json", "thinking", "arguments", "name", "stop_reason", "status")
"""What tells one event of a type from another, whichever of them it has."""


def _typed(document: dict[str, Any], name: str | None) -> Iterator[tuple[str, str]]:
    """The facts of an event of messages or responses."""
    kind = document.get("type") or name or "no type"
    inner: dict[str, Any] = next(
        (
            document[key]
            for key in ("delta", "content_block", "item", "part", "response", "error")
            if isinstance(document.get(key), dict)
        ),
        {},
    )
    parts = [str(kind)]
    if isinstance(index := document.get("index", document.get("output_index")), int):
        parts.append(f"[{index}]")
    if isinstance(inner_kind := inner.get("type"), str):
        parts.append(f" {inner_kind}")
    text = next(
        (
            holder[key]
            for holder in (inner, document)
            for key in _TEXTS
            if isinstance(holder.get(key), str) and holder[key]
        ),
        "",
    )
    yield "".join(parts), _message(document.get("error")) or (_snippet(text) if text else "")


def _message(error: Any) -> str:
    if isinstance(error, dict):
        error = error.get("message")
    return _snippet(error) if isinstance(error, str) else ""


def _snippet(value: Any) -> str:
    text = value if isinstance(value, str) else json.encode_text(value)
    if len(text) > SNIPPET_CHARACTERS:
        text = text[: SNIPPET_CHARACTERS - 1] + "…"
    return json.encode_text(text)
