"""A whole answer as an upstream sent it, to one as the protocol has it.

https://platform.openai.com/docs/api-reference/chat/object
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from typing import Any

from toolwire.proxy.protocols.chat import finish, oddities, think_tags
from toolwire.proxy.protocols.chat.errors import error_document
from toolwire.proxy.protocols.chat.joined_choices import joined
from toolwire.proxy.protocols.identifiers import random_id

OBJECT = "chat.completion"

_TEXTS: tuple[tuple[str, Callable[[], str]], ...] = (
    ("id", lambda: random_id("chatcmpl-")),
    ("object", lambda: OBJECT),
)


def repair_answer(document: dict[str, Any], *, tags: bool = False) -> dict[str, int]:
    """Repairs an answer in place; the kinds of repair and how often.

    ``tags`` moves ``<think>…</think>`` at the beginning of the text to ``reasoning_content``.
    An error, and what has no choices, is left alone.
    """
    repairs: Counter[str] = Counter()
    choices = document.get("choices")
    if not isinstance(choices, list) or error_document(document) is not None:
        return repairs
    for name, make in _TEXTS:
        if not document.get(name) or not isinstance(document[name], str):
            repairs[f"{name}_added"] += 1
            document[name] = make()
    if document.get("created") is None:
        repairs["created_added"] += 1
        document["created"] = int(time.time())
    choices[:] = joined(choices, "message", lambda kind: repairs.update([kind]))
    for place, choice in enumerate(choices):
        if isinstance(choice, dict):
            _repair_choice(choice, place, tags, repairs)
    return repairs


def _repair_choice(choice: dict[str, Any], place: int, tags: bool, repairs: Counter[str]) -> None:
    if type(choice.get("index")) is not int:
        repairs["choice_index_added"] += 1
        choice["index"] = place
    message = choice.get("message")
    if not isinstance(message, dict):
        repairs["message_missing"] += 1
        message = choice["message"] = {"content": None}
    if message.get("role") != "assistant":
        repairs["role_added"] += 1
        message["role"] = "assistant"
    _repair_content(message, tags, repairs)
    word = choice.get("finish_reason")
    _repair_calls(message, word == "length", repairs)
    details = choice.get("finish_details")  # an early form: {"type": "max_tokens"}
    said = word or (details.get("type") if isinstance(details, dict) else "")
    legacy = message.get("function_call")
    right = finish.corrected(
        said if isinstance(said, str) else "",
        calls=bool(message.get("tool_calls")),
        legacy_call=isinstance(legacy, dict) and bool(legacy.get("name")),
    )
    if right != word:
        repairs["finish_reason_corrected" if word else "finish_reason_added"] += 1
        choice["finish_reason"] = right


def _repair_content(message: dict[str, Any], tags: bool, repairs: Counter[str]) -> None:
    value = message.get("content")
    if value is not None and not isinstance(value, str):
        repairs["content_not_text"] += 1
        found = oddities.content(value)
        if found.left_out:
            repairs["content_part_dropped"] += found.left_out
        message["content"] = found.text
        _add_thinking(message, found.thinking)
    if tags and isinstance(value, str):
        moved, visible = think_tags.split(value)
        if moved or visible != value:
            repairs["think_tag"] += 1
            message["content"] = visible
            _add_thinking(message, moved)


def _add_thinking(message: dict[str, Any], text: str) -> None:
    if text:
        present = message.get("reasoning_content")
        message["reasoning_content"] = (present if isinstance(present, str) else "") + text


def _repair_calls(message: dict[str, Any], cut: bool, repairs: Counter[str]) -> None:
    calls = message.get("tool_calls")
    if isinstance(calls, dict):
        repairs["tool_calls_not_a_list"] += 1
        calls = message["tool_calls"] = [calls]
    if not isinstance(calls, list):
        return
    for call in calls:
        if isinstance(call, dict):
            _repair_call(call, cut, repairs)


def _repair_call(call: dict[str, Any], cut: bool, repairs: Counter[str]) -> None:
    if not call.get("id") or not isinstance(call["id"], str):
        repairs["call_id_added"] += 1
        call["id"] = random_id("call_")
    kind = "custom" if "custom" in call and "function" not in call else "function"
    if call.get("type") not in ("custom", "function"):
        repairs["call_type_added"] += 1
        call["type"] = kind
    if call["type"] == "custom":
        return
    function = call.get("function")
    if not isinstance(function, dict):
        return
    value = function.get("arguments")
    if not isinstance(value, str) or not (cut or value.strip()):
        repairs["arguments_not_text" if value else "arguments_added"] += 1
        function["arguments"] = oddities.arguments(value).strip() or "{}"
    elif value[:1] == '"' and (text := oddities.encoded_twice(value)) is not None:
        repairs["arguments_encoded_twice"] += 1
        function["arguments"] = text
