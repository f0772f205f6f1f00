"""Calls that an upstream did not tell apart, or tells in odd pieces."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.proxy.protocols.chat.chunks import (
    DONE,
    call,
    chunk,
    finishes,
    pieces,
    repaired,
    role,
    wire,
)
from tests.proxy.protocols.chat.test_late_content import arguments, each_in_its_read
from toolwire.proxy.protocols import sse
from toolwire.proxy.protocols.chat import StreamRepair
from toolwire.proxy.protocols.chat.oddities import objects_in

OSLO, ROME = '{"city":"Oslo"}', '{"city":"Rome"}'
REQUEST: dict[str, Any] = {
    "tools": [
        {"type": "function", "function": {"name": name}} for name in ("read", "read_file", "now")
    ]
}


def made(documents: list[Any]) -> list[tuple[str, str]]:
    """The calls that a client has at the end: their names and arguments."""
    calls: dict[int, list[str]] = {}
    for piece in pieces(documents):
        function = piece["function"]
        name, text = calls.setdefault(piece["index"], ["", ""])
        calls[piece["index"]] = [
            name + function.get("name", ""),
            text + (function["arguments"] or ""),
        ]
    return [(name, text) for name, text in calls.values()]


# ----------------------------------------------------------------------------------- names
@pytest.mark.parametrize(
    ("names", "name"),
    [
        (["read_", "file"], "read_file"),
        (["read_f", "il", "e"], "read_file"),
        (["no", "w"], "now"),
        (["read", "read"], "read"),
        (["unknown", "unknown"], "unknown"),
    ],
)
def test_a_name_in_pieces_is_told_when_it_is_whole(names: list[str], name: str) -> None:
    heads = [call(0, name=piece) for piece in names]
    heads[0]["choices"][0]["delta"]["tool_calls"][0]["id"] = "a"
    sent = [role(), *heads, call(0, arguments=OSLO), chunk({}, "tool_calls"), DONE]
    out, _ = repaired(*sent, repair=StreamRepair(request=REQUEST))
    assert made(out) == [(name, OSLO)]


@pytest.mark.parametrize("more", [[call(0, arguments=OSLO)], []])
def test_a_name_that_was_none_s_is_told_with_the_arguments_or_the_end(more: list[Any]) -> None:
    sent = [role(), call(0, id="a", name="read_"), *more, chunk({}, "tool_calls"), DONE]
    out, _ = repaired(*sent, repair=StreamRepair(request=REQUEST))
    assert made(out) == [("read_", OSLO if more else "{}")]
    assert (pieces(out)[0]["id"], pieces(out)[0]["type"]) == ("a", "function")
    assert finishes(out) == ["tool_calls"]


# ----------------------------------------------------------------------------- several objects
@pytest.mark.parametrize("index", [0, None])
@pytest.mark.parametrize(
    "texts", [["", OSLO, ROME], [OSLO, ROME], [OSLO + ROME], [OSLO[:5], OSLO[5:], ROME]]
)
def test_arguments_behind_whole_ones_are_those_of_the_next_call(
    texts: list[str], index: int | None
) -> None:
    head = call(index, id="a", name="f", arguments=texts[0])
    later = [call(index, arguments=text) for text in texts[1:]]
    out, _ = repaired(role(), head, *later, chunk({}, "tool_calls"), DONE)
    assert made(out) == [("f", OSLO), ("f", ROME)]
    ids = [piece["id"] for piece in pieces(out) if "id" in piece]
    assert ids[0] == "a" and len(set(ids)) == 2


@pytest.mark.parametrize(
    ("text", "objects"),
    [
        (OSLO, [OSLO]),
        (f"{OSLO}\n{ROME}", [OSLO, ROME]),
        (OSLO + OSLO, [OSLO]),
        ("{}" + OSLO, [OSLO]),
        ("{}{}", ["{}{}"]),
        ('{"code":"}{"}', ['{"code":"}{"}']),
        (OSLO + '{"city":', [OSLO + '{"city":']),
        (OSLO + "{}[]", [OSLO + "{}[]"]),
        ('{"a":{}}{', ['{"a":{}}{']),
        ("a}{", ["a}{"]),
    ],
)
def test_objects_in_a_text(text: str, objects: list[str]) -> None:
    assert objects_in(text) == objects


# -------------------------------------------------------------------------------------- ids
def test_two_calls_of_one_id_get_another() -> None:
    out, repair = repaired(
        role(),
        call(0, id="a", name="f", arguments=OSLO),
        call(1, id="a", name="f", arguments=ROME),
        chunk({}, "tool_calls"),
        DONE,
    )
    assert made(out) == [("f", OSLO), ("f", ROME)]
    first, second = pieces(out)
    assert first["id"] == "a" != second["id"]
    assert repair.repairs["call_id_doubled"] == 1


@pytest.mark.parametrize(
    "texts", [["", OSLO], [OSLO, OSLO], [OSLO, ""], [OSLO[:6], OSLO], [OSLO[:6], OSLO[6:]]]
)
def test_one_call_under_several_indices_is_one(texts: list[str]) -> None:
    heads = [call(at, id="a", name="f", arguments=text) for at, text in enumerate(texts)]
    out, _ = repaired(role(), *heads, chunk({}, "tool_calls"), DONE)
    assert made(out) == [("f", OSLO)]


def test_another_tool_under_the_same_id_is_another_call() -> None:
    heads = [call(at, id="a", name=name, arguments=OSLO) for at, name in enumerate("fg")]
    out, _ = repaired(role(), *heads, chunk({}, "tool_calls"), DONE)
    assert made(out) == [("f", OSLO), ("g", OSLO)]


# ---------------------------------------------------------------------------- encoded twice
@pytest.mark.parametrize("cut", [0, 1, 8])
def test_arguments_that_are_written_in_a_string_wait_for_its_end(cut: int) -> None:
    text = json.dumps(OSLO)
    parts = [text[:cut], text[cut:]]
    sent = [call(0, id="a", name="f", arguments=parts[0]), call(0, arguments=parts[1])]
    out, repair = repaired(role(), *sent, chunk({}, "tool_calls"), DONE)
    assert made(out) == [("f", OSLO)]
    assert finishes(out) == ["tool_calls"]
    assert repair.repairs["arguments_encoded_twice"] >= 1


def test_a_string_that_is_no_object_stays_one() -> None:
    sent = [role(), call(0, id="a", name="f", arguments='"Oslo"'), chunk({}, "tool_calls"), DONE]
    out, _ = repaired(*sent)
    assert made(out) == [("f", '"Oslo"')]


# ------------------------------------------------------------------------------- early stop
HEAD = call(0, id="a", type="function", name="f", arguments="")


def test_a_stop_before_the_arguments_goes_behind_them() -> None:
    sent = [call(0, arguments='{"x"'), call(0, arguments=":1}"), chunk({}, "stop")]
    out = each_in_its_read(role(), HEAD, chunk({}, "stop"), b": still here\n\n", *sent, DONE)
    assert arguments(out) == '{"x":1}'
    assert finishes(out) == ["tool_calls"]
    assert out[2] is None


@pytest.mark.parametrize("rest", [[DONE], [chunk(usage={"prompt_tokens": 1}), DONE], []])
def test_a_stop_that_nothing_follows_is_the_end(rest: list[Any]) -> None:
    out = each_in_its_read(role(), HEAD, chunk({}, "stop"), *rest)
    assert arguments(out) == "{}"
    assert finishes(out) == ["tool_calls"]
    assert out[-1] == "[DONE]"


def test_a_stop_waits_for_no_more_than_that() -> None:
    repair = StreamRepair()
    for sent in (role(), HEAD, chunk({}, "stop")):
        assert not repair.finished
        repair.feed(read_of(sent))
    assert repair.finished


@pytest.mark.parametrize(
    "last", [chunk({}, "tool_calls"), chunk({}, "length"), chunk({}, "stop", usage={})]
)
def test_other_ends_do_not_wait(last: dict[str, Any]) -> None:
    repair = StreamRepair()
    for sent in (role(), HEAD):
        repair.feed(read_of(sent))
    assert repair.feed(read_of(last))


def read_of(document: dict[str, Any]) -> list[Any]:
    return sse.Decoder().feed(wire(document))


# ------------------------------------------------------------------------------- other places
def test_a_whole_answer_at_the_end_is_not_said_again() -> None:
    whole = {**chunk(), "object": "chat.completion"}
    message = {"role": "assistant", "content": "Hi"}
    whole["choices"] = [{"index": 0, "message": message, "finish_reason": "stop"}]
    out, _ = repaired(role(), chunk({"content": "Hi"}), whole, DONE)
    assert out[-2]["object"] == "chat.completion.chunk"
    assert out[-2]["choices"] == [{"index": 0, "delta": {}, "finish_reason": "stop"}]


def test_counts_in_the_choice_are_noted_and_stay_there() -> None:
    end = chunk({}, "stop")
    end["choices"][0]["usage"] = {"prompt_tokens": 9, "completion_tokens": 1, "cached_tokens": 4}
    out, repair = repaired(role(), chunk({"content": "Hi"}), end, DONE)
    assert out[-2] == end
    assert repair.usage is not None and (repair.usage.input, repair.usage.cached) == (9, 4)


def test_function_call_is_no_reason_beside_tool_calls() -> None:
    sent = [role(), call(0, id="a", name="f", arguments=OSLO), chunk({}, "function_call"), DONE]
    out, _ = repaired(*sent)
    assert finishes(out) == ["tool_calls"]
