"""What upstreams send in other forms than the documented one, read as what it means."""

from __future__ import annotations

import re
from json import JSONDecoder
from typing import Any, NamedTuple

from toolwire.proxy.protocols import json


class Content(NamedTuple):
    """What a ``content`` says; ``left_out`` counts parts that are neither text nor thinking."""

    text: str
    thinking: str = ""
    left_out: int = 0


def content(value: Any) -> Content:
    """The content of a message or delta, which may be no string.

    Mistral sends a list of parts with thinking and references among them, Databricks one with
    summaries of the reasoning, Cloudflare the parsed object of a structured output.
    https://docs.mistral.ai/capabilities/reasoning,
    https://docs.databricks.com/aws/en/machine-learning/model-serving/query-reason-models
    """
    if isinstance(value, str):
        return Content(value)
    if value is None:
        return Content("")
    if not isinstance(value, list):
        return Content(json.encode_text(value))
    visible: list[str] = []
    thinking: list[str] = []
    left_out = 0
    for part in value:
        if isinstance(part, str):
            visible.append(part)
        elif isinstance(part, dict) and (kind := part.get("type")) in _THOUGHTS:
            thinking.append(content(part.get(_THOUGHTS[kind])).text)
        elif isinstance(part, dict) and isinstance(text := part.get("text"), str):
            visible.append(text)
        else:
            left_out += 1
    return Content("".join(visible), "".join(thinking), left_out)


_THOUGHTS = {"thinking": "thinking", "reasoning": "summary"}
"""The field that has the text of a part which shows what the model thought, by its type."""


def detailed(value: Any) -> str:
    """What ``reasoning_details`` shows: reasoning, or a summary of it; encrypted entries show none.
    https://openrouter.ai/docs/use-cases/reasoning-tokens
    """
    if not value or not isinstance(value, list):
        return ""
    entries = [entry for entry in value if isinstance(entry, dict)]
    shown = [entry.get(_SHOWN.get(str(entry.get("type")), "")) for entry in entries]
    return "".join([text for text in shown if isinstance(text, str)])


_SHOWN = {"reasoning.text": "text", "reasoning.summary": "summary"}
"""The field of an entry that has its text, by the entry's type."""


def arguments(value: Any) -> str:
    """The JSON text of arguments that may come as an object, or as null."""
    if isinstance(value, str):
        return value
    return "" if value is None else json.encode_text(value)


def is_object(text: str) -> bool:
    """Whether ``text`` is one whole JSON object, as the arguments of a finished call are."""
    try:
        return isinstance(json.decode(text), dict)
    except ValueError:
        return False


_BORDER = re.compile(r"\}\s*\{")
_WHITE = re.compile(r"\s*")
_decoder = JSONDecoder(strict=False)


def objects_in(text: str) -> list[str]:
    """Different JSON objects that stand one behind the other, less such as are empty; the text
    alone where it is something else."""
    if text[:1] != "{" or _BORDER.search(text) is None:
        return [text]
    found: list[str] = []
    place = 0
    while place < len(text):
        try:
            value, end = _decoder.raw_decode(text, place)
        except (ValueError, RecursionError):
            return [text]
        if not isinstance(value, dict):
            return [text]
        if value:
            found.append(text[place:end])
        place = _WHITE.match(text, end).end()  # type: ignore[union-attr]
    return list(dict.fromkeys(found)) or [text]


def encoded_twice(text: str) -> str | None:
    """The JSON object that is written in a JSON string; None for anything else."""
    try:
        inner = json.decode(text)
    except ValueError:
        return None
    return inner if isinstance(inner, str) and is_object(inner) else None
