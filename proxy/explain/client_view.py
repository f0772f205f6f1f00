"""A stream as the official SDK of its protocol puts it together.

By the rules of ``ChatCompletionStreamState`` of https://github.com/openai/openai-python, of
``accumulate_event`` of https://github.com/anthropics/anthropic-sdk-python, and of the last event of
a response, which holds all of it.  Fields that no SDK declares have the last value that came.
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from toolwire.proxy.protocols import json, sse
from toolwire.proxy.protocols.neutral import Protocol

Document = dict[str, Any]


class ClientView(Struct):
    """``document`` is the answer, None where there is none to speak of; ``failure`` the error that
    the SDK raises; ``complete`` whether the stream had its end."""

    document: Document | None = None
    failure: Any = None
    complete: bool = False


def view(protocol: Protocol, events: list[sse.Event]) -> ClientView:
    """What a client has at the end of a stream."""
    seen = ClientView()
    for event in events:
        if event.data is None or event.data.strip() == sse.DONE:
            continue
        try:
            document = json.decode(event.data)
        except ValueError:
            document = None
        try:
            _ADDED[protocol](seen, document)
        except (AttributeError, IndexError, KeyError, TypeError):
            seen.failure = f"no SDK can read this event: {event.data.decode('utf-8', 'replace')}"
            seen.complete = False
            break
    return seen


# ---------------------------------------------------------------------------------------- chat
def _add_chunk(seen: ClientView, chunk: Document) -> None:
    if chunk.get("error"):
        seen.failure = chunk["error"]
        return
    if seen.document is None:
        seen.document = {**chunk, "object": "chat.completion", "choices": []}
    else:
        fields = ("usage", "system_fingerprint", "service_tier")
        seen.document.update({key: chunk[key] for key in fields if chunk.get(key) is not None})
    choices = seen.document["choices"]
    for choice in chunk.get("choices") or ():
        index = choice.get("index", 0)
        known = next((known for known in choices if known["index"] == index), None)
        if known is None:
            known = {"index": index, "message": {}, "finish_reason": None}
            choices.append(known)
        _merge(known["message"], choice.get("delta") or {})
        if choice.get("finish_reason"):
            known["finish_reason"] = choice["finish_reason"]
        _merge(known, {"logprobs": choice["logprobs"]} if choice.get("logprobs") else {})
        known |= {
            key: value for key, value in choice.items() if key not in _JOINED and value is not None
        }
    seen.complete = bool(choices) and all(known["finish_reason"] for known in choices)


_JOINED = {"index", "delta", "finish_reason", "logprobs"}
"""The fields of a choice that are not simply the last that came."""


def _merge(held: Document, delta: Document) -> None:
    """Strings are joined, objects merged, and the members of lists matched by ``index``."""
    for key, value in delta.items():
        before = held.get(key)
        match before, value:
            case _, None if key in held:
                pass
            case str(), str() if key not in ("role", "type"):
                held[key] = before + value
            case dict(), dict():
                _merge(before, value)
            case list(), list():
                _merge_list(before, value)
            case _, list():
                held[key] = []
                _merge_list(held[key], value)
            case _:
                held[key] = value


def _merge_list(held: list[Any], more: list[Any]) -> None:
    for entry in more:
        index = entry.get("index") if isinstance(entry, dict) else None
        known = [old for old in held if index is not None and old.get("index") == index]
        if known:
            _merge(known[0], {key: value for key, value in entry.items() if key != "index"})
        else:
            held.append(entry)


# ------------------------------------------------------------------------------------ messages
def _add_message_event(seen: ClientView, event: Document) -> None:
    kind = event.get("type")
    if kind == "error":
        seen.failure = event.get("error")
    elif kind == "message_start":
        seen.document = {**event["message"], "content": []}
    elif seen.document is None:
        return
    elif kind == "content_block_start":
        seen.document["content"].append({**event["content_block"]})
    elif kind == "content_block_delta":
        _add_delta(seen.document["content"][event["index"]], event["delta"])
    elif kind == "content_block_stop":
        _parse_input(seen.document["content"][event["index"]])
    elif kind == "message_delta":
        seen.document.update(event.get("delta") or {})
        usage = event.get("usage") or {}
        told = {key: value for key, value in usage.items() if value is not None}
        seen.document["usage"] = {**(seen.document.get("usage") or {}), **told}
    elif kind == "message_stop":
        seen.complete = True


_PARTIAL = "partial_json"


def _add_delta(block: Document, delta: Document) -> None:
    match delta.get("type"):
        case "text_delta":
            block["text"] = block.get("text", "") + delta["text"]
        case "thinking_delta":
            block["thinking"] = block.get("thinking", "") + delta["thinking"]
        case "signature_delta":
            block["signature"] = delta["signature"]
        case "citations_delta":
            block["citations"] = [*(block.get("citations") or []), delta["citation"]]
        case "input_json_delta":
            block[_PARTIAL] = block.get(_PARTIAL, "") + delta["partial_json"]


def _parse_input(block: Document) -> None:
    text = block.pop(_PARTIAL, "")
    if text:
        try:
            block["input"] = json.decode(text)
        except ValueError:
            block["input"] = text  # the SDK raises here; the text is what there is to look at


# ----------------------------------------------------------------------------------- responses
_LAST = ("response.completed", "response.incomplete", "response.failed")


def _add_response_event(seen: ClientView, event: Document) -> None:
    kind = event.get("type")
    if kind == "error":
        seen.failure = event.get("error") or event
    elif isinstance(response := event.get("response"), dict):
        seen.document = response
        seen.complete = kind in _LAST
        if kind == "response.failed":
            seen.failure = response.get("error")


_ADDED = {"chat": _add_chunk, "messages": _add_message_event, "responses": _add_response_event}
