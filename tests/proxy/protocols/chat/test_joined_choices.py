"""Choices that are one answer, and such as are not."""

from __future__ import annotations

from typing import Any

import pytest

from toolwire.proxy.protocols.chat.joined_choices import joined

CALL = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
TEXT = {"index": 0, "message": {"content": "Hi"}, "finish_reason": "stop"}
CALLS = {"index": 0, "message": {"tool_calls": [CALL]}, "finish_reason": "tool_calls"}


def test_text_and_calls_are_one() -> None:
    counted: list[str] = []
    message = {"content": "Hi", "tool_calls": [CALL]}
    one = {"index": 0, "message": message, "finish_reason": "tool_calls"}
    assert joined([TEXT, CALLS], "message", counted.append) == [one]
    assert counted == ["choices_joined"]


def test_the_calls_of_all_are_kept() -> None:
    (one,) = joined([CALLS, {**CALLS, "finish_reason": None}, TEXT], "message", print)
    assert one["message"] == {"tool_calls": [CALL, CALL], "content": "Hi"}


@pytest.mark.parametrize(
    ("first", "second"),
    [(TEXT, TEXT), (TEXT, {**CALLS, "index": 1}), (TEXT, None), ("text", CALLS)],
)
def test_further_answers_stay_apart(first: Any, second: Any) -> None:
    assert joined([first, second], "message", print) == [first, second]


def test_where_one_was_asked_for_the_index_says_nothing() -> None:
    (one,) = joined([TEXT, {**CALLS, "index": 1}], "message", print, all_one=True)
    assert one["index"] == 0
    assert one["message"]["tool_calls"] == [CALL]
    assert len(joined([TEXT, TEXT], "message", print, all_one=True)) == 2
