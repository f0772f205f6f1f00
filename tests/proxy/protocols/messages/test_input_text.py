"""A client puts the pieces of a call's input together to an object, whatever the model wrote."""

from __future__ import annotations

import itertools
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.proxy.protocols.messages.writer_streams import REQUEST, message
from toolwire.proxy.protocols.messages import CODEC
from toolwire.proxy.protocols.messages.input_text import InputText
from toolwire.proxy.protocols.neutral import (
    Call,
    Delta,
    End,
    Finish,
    Losses,
    PartEnd,
    PartStart,
    Start,
    Stop,
)


def passed(*pieces: str) -> tuple[list[str], bool]:
    """What goes out for each piece and at the end; and whether something did not."""
    text = InputText()
    return [*(text.feed(piece) for piece in pieces), text.flush()], text.is_odd


def test_an_object_passes_as_it_comes() -> None:
    pieces = ['{"a":', '{"b":"}"', "},", '"c":[1]}']
    assert passed(*pieces) == ([*pieces, ""], False)


def test_what_was_cut_passes_as_it_came() -> None:
    assert passed('{"a":', '"b') == (['{"a":', '"b', ""], False)


@pytest.mark.parametrize("pieces", [["null"], ["[1", "]"], ["1.5"], ['"x"'], ["city", "=Oslo"]])
def test_what_is_no_object_goes_not_out(pieces: list[str]) -> None:
    assert passed(*pieces) == ([""] * (len(pieces) + 1), True)


@pytest.mark.parametrize("placeholder", ["{}", "null", " {}", "{} "])
def test_a_placeholder_goes_not_out(placeholder: str) -> None:
    assert passed(placeholder, '{"a"', ":1}") == (["", '{"a"', ":1}", ""], False)


def test_an_empty_object_goes_out_at_the_end() -> None:
    assert passed("{}") == (["", "{}"], False)
    assert passed("{", "}") == (["{", "}", ""], False)
    assert passed() == ([""], False)
    assert passed(" ", "\n") == (["", "", ""], False)


@pytest.mark.parametrize("behind", ["}", '{"b":2}', " x"])
def test_what_stands_behind_an_object_goes_not_out(behind: str) -> None:
    assert passed('{"a":1}' + behind) == (['{"a":1}', ""], True)
    assert passed('{"a":1}', behind) == (['{"a":1}', "", ""], True)


def test_white_space_behind_an_object_means_nothing() -> None:
    assert passed('{"a":1}\n', " ")[1] is False


def test_an_object_in_a_string_goes_out_as_one() -> None:
    assert passed('"{\\"a\\"', ':1}"') == (["", "", '{"a":1}'], False)


def test_it_is_whole_when_its_object_is() -> None:
    text = InputText()
    told = []
    for piece in ('{"a":', "1", "}", " "):
        text.feed(piece)
        told.append(text.complete())
    assert told == [False, False, True, True]


OBJECTS = st.dictionaries(
    st.text(max_size=3),
    st.recursive(
        st.none() | st.integers() | st.text(max_size=5),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
        max_leaves=5,
    ),
    max_size=4,
)


@given(OBJECTS, st.text("}a \n", max_size=3), st.lists(st.integers(0, 60), max_size=4))
def test_an_object_is_the_same_however_it_is_cut(
    value: dict[str, object], behind: str, cuts: list[int]
) -> None:
    text = json.dumps(value) + behind
    places = sorted({0, *cuts, len(text)} & set(range(len(text) + 1)))
    out, odd = passed(*(text[a:b] for a, b in itertools.pairwise(places)))
    assert json.loads("".join(out) or "{}") == value
    assert odd == bool(behind.strip())


# ------------------------------------------------------------------------------ in a message
@pytest.mark.parametrize("written", ["null", "[1]", "nonsense", '"x"'])
def test_a_call_of_no_object_has_an_empty_input(written: str) -> None:
    parts = (PartStart(0, Call("c", "f")), Delta(0, written), PartEnd(0))
    assert message(*parts, Finish(Stop.CALLS))["content"][0]["input"] == {}


@pytest.mark.parametrize(
    ("stop", "told"),
    [(Stop.CALLS, [("content[1].input", "coerced")]), (Stop.LENGTH, [])],
)
def test_what_was_no_object_is_reported_at_the_end(stop: Stop, told: list[tuple[str, str]]) -> None:
    losses = Losses()
    writer = CODEC.stream_writer(REQUEST, losses)
    for event in (
        Start("m", "m"),
        PartStart(0, Call("a", "f")),
        Delta(0, '{"x":1}'),
        PartEnd(0),
        PartStart(1, Call("b", "g")),
        Delta(1, "nul"),
        PartEnd(1),
        Finish(stop),
        End(),
    ):
        writer.write(event)
    assert [(loss.path, loss.kind) for loss in losses.entries] == told


def test_arguments_of_a_call_that_was_closed_are_reported() -> None:
    losses = Losses()
    writer = CODEC.stream_writer(REQUEST, losses)
    for event in (
        Start("m", "m"),
        PartStart(0, Call("a", "f")),
        Delta(0, "{}"),
        PartStart(1, Call("b", "g")),
        Delta(1, '{"y":2}'),
        Delta(0, '{"x":1}'),
        Finish(Stop.CALLS),
        End(),
    ):
        writer.write(event)
    assert [loss.path for loss in losses.entries] == ["content[0].input"]
