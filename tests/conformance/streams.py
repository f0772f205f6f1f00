"""A client's stream: its events, and the whole answer that they spell out.

Strict where clients are: a delta for what is not open, or a second start, is an error.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Callable
from typing import Any

Event = tuple[str, Any]
"""The name of an event (``chunk``, ``error`` or ``[DONE]`` in chat, else its type) and its data."""

_DONE = "[DONE]"


class BrokenStream(AssertionError):
    """The stream breaks its protocol's own rules."""


def events(protocol: str, body: bytes) -> list[Event]:
    """The events; comments and pings left out."""
    found: list[Event] = []
    for block in re.split(r"\r\n\r\n|\n\n|\r\r", body.decode("utf-8", "surrogatepass")):
        lines = [line for line in re.split(r"\r\n|\n|\r", block) if line.startswith("data:")]
        data = "\n".join(line.removeprefix("data:").removeprefix(" ") for line in lines)
        if data == _DONE:
            found.append((_DONE, None))
        elif data:
            found.append(_named(protocol, json.loads(data, strict=False)))
    return [event for event in found if event[0] != "ping"]


def _named(protocol: str, document: Any) -> Event:
    if protocol == "chat":
        return ("error" if document.get("error") else "chunk"), document
    return document["type"], document


def assemble(protocol: str, found: list[Event]) -> Any:
    """The object that an SDK of the protocol would hold at the end."""
    return _ASSEMBLE[protocol](found)


# -------------------------------------------------------------------------------------- chat
def _chat(found: list[Event]) -> Any:
    choice: dict[str, Any] = {
        "index": 0,
        "message": {"role": None, "content": None},
        "finish_reason": None,
    }
    whole: dict[str, Any] = {"choices": [choice]}
    for name, chunk in found:
        if name != "chunk":
            continue
        whole |= {key: value for key, value in chunk.items() if key != "choices" and value}
        for part in chunk["choices"]:
            if part["index"] == 0:
                _add_delta(choice["message"], part["delta"])
                if told := part.get("logprobs"):
                    choice.setdefault("logprobs", {"content": []})["content"] += told["content"]
                choice["finish_reason"] = part.get("finish_reason") or choice["finish_reason"]
    return whole


def _add_delta(message: dict[str, Any], delta: dict[str, Any]) -> None:
    for key, value in delta.items():
        if key == "tool_calls":
            calls = message.setdefault("tool_calls", [])
            for piece in value:
                _add_piece(calls, piece)
        elif key == "function_call":
            call = message.setdefault(key, {})
            for field, text in value.items():
                call[field] = call.get(field, "") + text
        elif isinstance(value, str) and isinstance(message.get(key), str):
            message[key] += value
        elif value is not None:
            message[key] = value


def _add_piece(calls: list[dict[str, Any]], piece: dict[str, Any]) -> None:
    index = piece["index"]
    if index == len(calls):
        inner = piece[piece["type"]]
        calls.append({key: value for key, value in piece.items() if key != "index"})
        calls[-1][piece["type"]] = dict(inner)
        return
    if index > len(calls):
        raise BrokenStream(f"a piece of call {index}, where {len(calls)} have begun")
    call = calls[index]
    field, text = ("function", "arguments") if call["type"] == "function" else ("custom", "input")
    call[field][text] = call[field].get(text, "") + piece.get(field, {}).get(text, "")
    extra = piece.keys() - {"index", field}
    if extra or "name" in piece.get(field, {}):
        raise BrokenStream(f"a later piece of call {index} says again what it is: {piece}")


# ---------------------------------------------------------------------------------- messages
def _messages(found: list[Event]) -> Any:
    message: dict[str, Any] = {}
    written: list[str] = []
    for name, event in found:
        match name:
            case "message_start":
                message = {**event["message"], "content": []}
            case "content_block_start":
                if event["index"] != len(message["content"]):
                    raise BrokenStream(f"block {event['index']} begins out of its turn")
                message["content"].append(dict(event["content_block"]))
                written.append("")
            case "content_block_delta":
                written[event["index"]] += event["delta"].get("partial_json", "")
                _fill(message["content"][event["index"]], event["delta"])
            case "message_delta":
                message |= event["delta"]
                message["usage"] = {**message["usage"], **event["usage"]}
    for block, text in zip(message["content"], written, strict=True):
        if text:
            block["input"] = _input(text)
    return message


def _fill(block: dict[str, Any], delta: dict[str, Any]) -> None:
    for key in ("text", "thinking", "signature"):
        if key in delta:
            block[key] = block.get(key, "") + delta[key]


def _input(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:  # cut short: no case looks at it
        return text


# --------------------------------------------------------------------------------- responses
def _responses(found: list[Event]) -> Any:
    terminal = ("response.completed", "response.incomplete", "response.failed")
    last = [event for name, event in found if name in terminal]
    if not last:
        raise BrokenStream("no response.completed, response.incomplete or response.failed")
    return last[-1]["response"]


_ASSEMBLE: dict[str, Callable[[list[Event]], Any]] = {
    "chat": _chat,
    "messages": _messages,
    "responses": _responses,
}


# ------------------------------------------------------------------------------------ checks
def check(found: list[Event], name: str, argument: Any) -> bool:
    """Whether a check on the events holds."""
    if name.startswith("count:") and name != "count:finish_reason":
        names = [event for event, _ in found]
        return bool(names.count(name.removeprefix("count:")) == argument)
    return _CHECKS[name](found, argument)


def _is_at(place: int) -> Callable[[list[Event], Any], bool]:
    return lambda found, name: bool(found) and found[place][0] == name


def _in_order(found: list[Event], wanted: list[str]) -> bool:
    rest = iter([name for name, _ in found])
    return all(name in rest for name in wanted)


def _choices(found: list[Event]) -> list[dict[str, Any]]:
    return [choice for name, chunk in found if name == "chunk" for choice in chunk["choices"]]


def _finishes(found: list[Event], wanted: int) -> bool:
    return len([choice for choice in _choices(found) if choice.get("finish_reason")]) == wanted


def _pieces(found: list[Event]) -> list[dict[str, Any]]:
    return [
        piece for choice in _choices(found) for piece in choice["delta"].get("tool_calls") or ()
    ]


def _named_once(found: list[Event], _: Any) -> bool:
    said: dict[int, list[Any]] = {}
    for piece in _pieces(found):
        inner = piece.get("function") or piece.get("custom") or {}
        heads = [value for value in (piece.get("id"), inner.get("name")) if value is not None]
        said.setdefault(piece["index"], []).extend(heads)
    return all(len(heads) == 2 and all(heads) for heads in said.values())


def _indices(found: list[Event], wanted: list[int]) -> bool:
    return sorted({piece["index"] for piece in _pieces(found)}) == wanted


def _sequential(found: list[Event], _: Any) -> bool:
    begun, is_open = 0, False
    for name, event in found:
        if not name.startswith("content_block_"):
            if is_open and name in ("message_delta", "message_stop"):
                return False
            continue
        opens = name == "content_block_start"
        begun += opens
        if opens is is_open or event["index"] != begun - 1:
            return False
        is_open = name != "content_block_stop"
    return not is_open


def _numbers_grow(found: list[Event], _: Any) -> bool:
    numbers = [event["sequence_number"] for _, event in found]
    return all(before < after for before, after in itertools.pairwise(numbers))


def _starts_with_counts(found: list[Event], wanted: dict[str, Any]) -> bool:
    usage = found[0][1]["message"]["usage"]
    return {name: usage[name] for name in wanted} == wanted


_CHECKS: dict[str, Callable[[list[Event], Any], bool]] = {
    "first": _is_at(0),
    "last": _is_at(-1),
    "first_usage": _starts_with_counts,
    "order": _in_order,
    "count:finish_reason": _finishes,
    "each_tool_index_has_id_once": _named_once,
    "tool_indices": _indices,
    "blocks_sequential": _sequential,
    "sequence_numbers_increase": _numbers_grow,
}
