"""``{}`` or null that some upstreams send before the true arguments of a call."""

from __future__ import annotations

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
    told,
    wire,
)
from toolwire.proxy.protocols import sse
from toolwire.proxy.protocols.chat import StreamRepair

HEAD: dict[str, Any] = {"id": "a", "type": "function", "name": "f"}
TRUE = [call(0, arguments='{"x"'), call(0, arguments=":1}")]
FINISH = chunk({}, "tool_calls")


def arguments(documents: list[Any], index: int = 0) -> str:
    of_call = [piece for piece in pieces(documents) if piece["index"] == index]
    return "".join(piece["function"]["arguments"] for piece in of_call)


@pytest.mark.parametrize("size", [0, 50])
@pytest.mark.parametrize("placeholder", ["{}", "null"])
@pytest.mark.parametrize(
    "begun",
    [
        lambda said: [call(0, **HEAD, arguments=said)],
        lambda said: [call(0, **HEAD, arguments=""), call(0, arguments=said)],
        lambda said: [call(0, **HEAD, arguments=said), b": a comment\n\n"],
    ],
    ids=["with the head", "after the head", "before a comment"],
)
def test_a_placeholder_makes_way_for_the_true_arguments(
    begun: Any, placeholder: str, size: int
) -> None:
    out, repair = repaired(role(), *begun(placeholder), *TRUE, FINISH, DONE, size=size)
    assert arguments(out) == '{"x":1}'
    assert [piece["id"] for piece in pieces(out) if "id" in piece] == ["a"]
    assert finishes(out) == ["tool_calls"]
    assert repair.repairs["arguments_placeholder"] >= 1


def test_a_placeholder_may_come_twice() -> None:
    sent = [call(0, **HEAD, arguments="{}"), call(0, arguments="{}"), *TRUE]
    out, repair = repaired(role(), *sent, FINISH, DONE)
    assert arguments(out) == '{"x":1}'
    assert repair.repairs["arguments_placeholder"] == 2


@pytest.mark.parametrize("text", ["{}", "null"])
@pytest.mark.parametrize(
    "after",
    [
        [FINISH, DONE],
        [chunk({}, "length"), DONE],
        [chunk({"content": "and text"}), FINISH, DONE],
        [call(1, id="b", type="function", name="g", arguments="{}"), FINISH, DONE],
        [DONE],
    ],
    ids=["finish", "limit", "text", "another call", "done"],
)
def test_what_no_arguments_follow_passes_as_it_came(
    text: str, after: list[dict[str, Any] | bytes]
) -> None:
    sent = wire(role(), call(0, **HEAD, arguments=text), *after)
    repair = StreamRepair()
    out = repair.feed(sse.Decoder().feed(sent))
    assert sse.encode([event for event in out if event.raw is not None]) == sent
    assert not repair.repairs.keys() - {"finish_reason_added"}


def test_other_text_after_it_is_added_to_it() -> None:
    sent = [call(0, **HEAD, arguments="null"), call(0, arguments=" and void")]
    out, repair = repaired(role(), *sent, FINISH, DONE)
    assert arguments(out) == "null and void"
    assert repair.repairs == {}


def test_it_waits_for_one_event_alone() -> None:
    repair, decoder = StreamRepair(), sse.Decoder()
    repair.feed(decoder.feed(wire(role())))
    assert repair.feed(decoder.feed(wire(call(0, **HEAD, arguments="{}")))) == []
    held, text = repair.feed(decoder.feed(wire(chunk({"content": "x"}))))
    assert told(held) == call(0, **HEAD, arguments="{}")
    assert told(text) == chunk({"content": "x"})


def test_it_goes_out_before_the_stream_breaks_off() -> None:
    out, _ = repaired(role(), call(0, **HEAD, arguments="{}"))
    assert out[1] == call(0, **HEAD, arguments="{}")
    assert out[2]["error"]["code"] == "upstream_cut"


def test_true_arguments_that_come_too_late_are_an_error() -> None:
    sent = [call(0, **HEAD, arguments="{}"), chunk({"content": "x"}), TRUE[0]]
    out, _ = repaired(role(), *sent, FINISH, DONE)
    assert arguments(out) == "{}"
    assert out[-1]["error"]["message"] == "the upstream sent arguments of a call that had some"
    assert finishes(out) == []
