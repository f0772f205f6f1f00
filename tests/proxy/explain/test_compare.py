"""What differs between two bodies, and what is only written otherwise."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolwire.proxy.explain.compare import BodyChange, compare
from toolwire.proxy.explain.pretty import pretty, printable
from toolwire.proxy.protocols import json as our_json

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


def changed(before: Any, after: Any, **more: Any) -> BodyChange:
    change = compare(json.dumps(before).encode(), json.dumps(after).encode(), **more)
    assert change is not None
    return change


def test_the_same_bytes_are_no_change() -> None:
    assert compare(b'{"a": 1}', b'{"a": 1}') is None


def test_a_changed_member_is_shown_with_three_lines_around_it() -> None:
    before = dict.fromkeys("abcdefghi", 1)
    change = changed(before, {**before, "e": 2})
    assert change.diff == [
        "@@ -3,7 +3,7 @@",
        '   "b": 1,',
        '   "c": 1,',
        '   "d": 1,',
        '-  "e": 1,',
        '+  "e": 2,',
        '   "f": 1,',
        '   "g": 1,',
        '   "h": 1,',
    ]
    assert change.told == ""


def test_an_order_of_keys_is_counted_and_not_shown() -> None:
    before = {"b": {"d": 1, "c": [{"z": 1, "y": 2}, 3]}, "a": {"e": 1}}
    change = changed(before, our_json.decode(json.dumps(before, sort_keys=True)))
    assert (change.diff, change.reordered, change.rewritten) == ([], 3, 0)
    assert change.told == "keys reordered in 3 objects"


@pytest.mark.parametrize(
    ("before", "after"),
    [('{"b": 1, "a": 2}', '{"a":2,"b":1}'), (" [1, 2]", "[1,2]")],
)
def test_json_in_strings_that_says_the_same_is_counted(before: str, after: str) -> None:
    change = changed({"arguments": before}, {"arguments": after})
    assert change.told == "1 arguments string rewritten"
    assert change.diff == []


@pytest.mark.parametrize(
    ("before", "after"),
    [('{"a": 1}', '{"a": 2}'), ('{"a"', '{"a":1}'), ("1", "1.0"), ("", "{}"), ("x", "[]")],
)
def test_json_in_strings_that_says_something_else_is_shown(before: str, after: str) -> None:
    change = changed({"arguments": before}, {"arguments": after})
    assert change.rewritten == 0
    assert len(change.diff) == 5


def test_a_change_among_sorted_keys_is_all_that_is_shown() -> None:
    change = changed({"z": 1, "gone": 2, "b": 3, "a": 4}, {"a": 4, "b": 5, "new": 6, "z": 1})
    assert change.reordered == 1
    assert [line for line in change.diff if line[0] in "+-"] == [
        '-  "b": 3,',
        '-  "z": 1,',
        '-  "gone": 2',
        '+  "b": 5,',
        '+  "new": 6,',
        '+  "z": 1',
    ]


def test_bodies_of_two_protocols_are_compared_as_they_are() -> None:
    change = changed({"b": 1, "a": 2}, {"a": 2, "b": 1}, same_protocol=False)
    assert change.reordered == 0
    assert change.diff != []


def test_white_space_alone_is_told() -> None:
    change = compare(b'{ "a": 1 }', b'{"a":1}')
    assert change is not None
    assert change.told == "encoded anew: the same document in other bytes"
    assert change.diff == []


def test_what_is_no_json_is_compared_by_lines() -> None:
    change = compare(b"<html>\nno", b'{"error":{}}')
    assert change is not None
    assert [line for line in change.diff if line[0] in "+-"] == [
        "-<html>",
        "-no",
        "+{",
        '+  "error": {}',
        "+}",
    ]


def test_deep_nesting_is_compared_too() -> None:
    deep = b'{"a":' * 400 + b"1" + b"}" * 400
    change = compare(deep, deep.replace(b"1", b"2"))
    assert change is not None
    assert [line.strip("+- ") for line in change.diff if line[0] in "+-"] == ['"a": 1', '"a": 2']


@given(JSON)
def test_pretty_says_the_same_with_a_line_for_each_member(document: Any) -> None:
    encoded = our_json.encode(document)
    text = pretty(encoded)
    assert our_json.decode(text) == document
    assert our_json.encode(our_json.decode(text)) == encoded


def test_pretty_is_laid_out_like_json_with_an_indent() -> None:
    document = {"a": [], "b": {}, "c": [1, {"d": "x, [y]: {z}"}], "e": '\\"}'}
    assert pretty(json.dumps(document).encode()) == json.dumps(document, indent=2)


def test_pretty_leaves_numbers_and_escapes_as_they_are() -> None:
    body = b'{"a":1e400,"b":1.0,"c":12345678901234567890123,"d":"\\ud83d\\u0041"}'
    assert json.loads(pretty(b'{"n":1}')) == {"n": 1}
    assert "".join(pretty(body).split()) == body.decode()


@pytest.mark.parametrize("body", [b"", b"<html>", b'{"a"', b"\xff\xfe"])
def test_pretty_leaves_what_is_no_json(body: bytes) -> None:
    assert pretty(body) == body.decode("utf-8", "replace")


def test_nothing_that_a_terminal_obeys_is_printed() -> None:
    hostile = "a\x1b[31mred\x9b2J\x07\rb\u202eturned\tand\nlines"
    assert printable(hostile) == (
        "a\\u001b[31mred\\u009b2J\\u0007\\u000db\\u202eturned\tand\nlines"
    )
