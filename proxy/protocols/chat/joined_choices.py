"""One answer that came in several choices.

Copilot puts the text of Claude into one choice and its calls into the next:
https://github.com/ericc-ch/copilot-api/pull/81
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from toolwire.proxy.protocols.chat import finish

Count = Callable[[str], None]


def joined(choices: list[Any], said: str, count: Count, *, all_one: bool = False) -> list[Any]:
    """Choices of one index, or of none, as one where only one of them has a text.

    ``said`` is the field that has what was said, ``message`` or ``delta``; ``all_one`` is for where
    one choice was asked for, so that its index says nothing.
    """
    if len(choices) < 2:
        return choices
    found = choices[:1]
    for choice in choices[1:]:
        if _are_one(found[-1], choice, said, all_one):
            found[-1] = _of_two(found[-1], choice, said)
            count("choices_joined")
        else:
            found.append(choice)
    return found


def _are_one(first: Any, other: Any, said: str, all_one: bool) -> bool:
    if not isinstance(first, dict) or not isinstance(other, dict):
        return False
    if not all_one and first.get("index") != other.get("index"):
        return False
    texts = [_said(choice, said).get("content") for choice in (first, other)]
    return not all(texts)


def _of_two(first: dict[str, Any], other: dict[str, Any], said: str) -> dict[str, Any]:
    one, more = _said(first, said), _said(other, said)
    both = {**one, **{name: value for name, value in more.items() if not one.get(name)}}
    if calls := [*_calls(one), *_calls(more)]:
        both["tool_calls"] = calls
    joined = {**other, **first, said: both}
    words = [word for choice in (first, other) if (word := choice.get("finish_reason"))]
    if len(words) == 2 and all(isinstance(word, str) for word in words):
        joined["finish_reason"] = finish.of_two(*words)
    elif words:
        joined["finish_reason"] = words[0]
    return joined


def _said(choice: dict[str, Any], said: str) -> dict[str, Any]:
    value = choice.get(said)
    return value if isinstance(value, dict) else {}


def _calls(message: dict[str, Any]) -> list[Any]:
    calls = message.get("tool_calls")
    return calls if isinstance(calls, list) else []
