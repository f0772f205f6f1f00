"""What comes after a finish reason: nothing of it is lost, and the reason is the right one."""

from __future__ import annotations

from typing import Any

import pytest

from tests.proxy.protocols.chat.chunks import (
    DONE,
    call,
    chunk,
    deltas,
    finishes,
    pieces,
    repaired,
    role,
    told,
    wire,
)
from tests.proxy.protocols.chat.test_stream_reader import START
from tests.proxy.protocols.chat.test_stream_writer import write
from toolwire.proxy.protocols import sse
from toolwire.proxy.protocols.chat import CODEC, StreamRepair
from toolwire.proxy.protocols.neutral import (
    Call,
    Delta,
    End,
    Failure,
    Finish,
    PartEnd,
    PartStart,
    Start,
    Stop,
    StreamEvent,
    Text,
    Usage,
    UsageReport,
)

USAGE = {"prompt_tokens": 9, "completion_tokens": 1, "total_tokens": 10}
CALL = [
    call(0, id="a", type="function", name="f", arguments='{"x"'),
    call(0, arguments=":1}"),
]


def each_in_its_read(*documents: dict[str, Any] | bytes) -> list[Any]:
    """What the client gets where each of the documents is a read of its own."""
    repair, decoder = StreamRepair(), sse.Decoder()
    out = [repair.feed(decoder.feed(wire(document))) for document in documents]
    return [told(event) for events in [*out, repair.close()] for event in events]


def text(documents: list[Any]) -> str:
    return "".join(delta.get("content") or "" for delta in deltas(documents))


def arguments(documents: list[Any]) -> str:
    return "".join(piece["function"]["arguments"] for piece in pieces(documents))


# -------------------------------------------------------------------------------- in one read
def test_in_one_read_the_reason_goes_behind_the_call() -> None:
    out, _ = repaired(role(), chunk({"content": "Let me see."}, "stop"), *CALL, DONE)
    assert finishes(out) == ["tool_calls"]
    assert out[-2]["choices"][0] == {"index": 0, "delta": {}, "finish_reason": "tool_calls"}
    assert (text(out), arguments(out)) == ("Let me see.", '{"x":1}')


def test_a_reason_in_every_chunk_of_a_read_is_said_once() -> None:
    sent = [chunk({"content": letter}, "stop") for letter in "abc"]
    out, _ = repaired(role(), *sent, chunk(usage=USAGE), DONE)
    assert finishes(out) == ["stop"]
    assert text(out) == "abc"
    assert out[-3]["choices"][0]["finish_reason"] == "stop"
    assert out[-2:] == [chunk(usage=USAGE), "[DONE]"]


def test_each_choice_has_its_own_reason_moved() -> None:
    other = {"index": 1, "delta": {"role": "assistant", "content": "b"}, "finish_reason": None}
    out, _ = repaired(
        role(),
        chunk({"content": "a"}, "length"),
        {**chunk({}), "choices": [other]},
        chunk({"content": "A"}),
        {**chunk({}), "choices": [{"index": 1, "delta": {}, "finish_reason": "stop"}]},
        DONE,
    )
    ends = [d["choices"][0] for d in out[:-1] if d["choices"][0]["finish_reason"]]
    assert [(end["index"], end["finish_reason"]) for end in ends] == [(0, "length"), (1, "stop")]
    assert ends[0]["delta"] == {"content": "A"}


@pytest.mark.parametrize(
    ("reasons", "counts"),
    [(("stop", "length"), "length"), (("length", "stop"), "length"), (("eos", "eos"), "stop")],
)
def test_of_several_reasons_the_one_that_tells_more_counts(
    reasons: tuple[str, str], counts: str
) -> None:
    sent = [chunk({"content": "x"}, reason) for reason in reasons]
    out, _ = repaired(role(), *sent, DONE)
    assert finishes(out) == [counts]
    assert finishes(each_in_its_read(role(), *sent, DONE))[-1] == counts


def test_a_reason_that_nothing_follows_stays_where_it_is() -> None:
    repair = StreamRepair()
    sent = wire(role(), chunk({"content": "x"}), chunk({}, "stop"), chunk({"content": ""}), DONE)
    events = sse.Decoder().feed(sent)
    assert all(one is other for one, other in zip(events, repair.feed(events), strict=True))


# ----------------------------------------------------------------------------- in later reads
def test_a_call_after_the_reason_makes_it_another() -> None:
    out = each_in_its_read(role(), chunk({}, "stop"), *CALL, chunk(usage=USAGE), DONE)
    assert finishes(out) == ["stop", "tool_calls"]
    assert out[-3]["choices"][0]["finish_reason"] == "tool_calls"
    assert out[-2:] == [chunk(usage=USAGE), "[DONE]"]
    assert arguments(out) == '{"x":1}'


def test_text_after_the_reason_does_not_make_it_another() -> None:
    out = each_in_its_read(role(), chunk({}, "stop"), chunk({"content": "more"}), DONE)
    assert finishes(out) == ["stop"]
    assert text(out) == "more"


def test_a_call_without_arguments_after_the_reason_gets_an_empty_object() -> None:
    late = call(1, id="b", type="function", name="g", arguments="")
    for end in ([DONE], [chunk(usage=USAGE)], []):
        out = each_in_its_read(role(), *CALL, chunk({}, "tool_calls"), late, *end)
        assert finishes(out) == ["tool_calls"]
        assert pieces(out)[-1] == {"index": 1, "function": {"arguments": "{}"}}
        assert out[-1] == "[DONE]"


def ended(document: dict[str, Any], reason: str) -> dict[str, Any]:
    """The same chunk with a finish reason."""
    (choice,) = document["choices"]
    return {**document, "choices": [{**choice, "finish_reason": reason}]}


def test_a_stop_with_every_piece_of_a_call_takes_no_arguments_from_it() -> None:
    begun = call(0, id="a", type="function", name="f", arguments="")
    sent = [ended(piece, "stop") for piece in (begun, call(0, arguments='{"x"'), CALL[1])]
    out = each_in_its_read(role(), *sent, DONE)
    assert arguments(out) == '{"x":1}'
    assert finishes(out) == ["tool_calls"]
    events = neutral(role(), *sent, DONE)
    assert [e for e in events if type(e) is PartEnd] == [PartEnd(0)]
    assert "".join(e.text for e in events if type(e) is Delta) == '{"x":1}'


def test_a_stop_with_a_call_that_nothing_follows_ends_it_without_arguments() -> None:
    begun = ended(call(0, id="a", type="function", name="f", arguments=""), "stop")
    for end in ([DONE], [chunk(usage=USAGE), DONE], []):
        out = each_in_its_read(role(), begun, *end)
        assert arguments(out) == "{}"
        assert finishes(out) == ["tool_calls"]
        assert out[-1] == "[DONE]"
    # that it calls is the last word of an upstream
    out = each_in_its_read(role(), ended(begun, "tool_calls"))
    assert [d["choices"][0]["finish_reason"] for d in out[1:-1]] == [None, None, "tool_calls"]


def test_a_stream_that_broke_off_after_it_had_gone_on_is_not_whole() -> None:
    cut = Failure(502, "the connection was lost")
    whole, broken = StreamRepair(), StreamRepair()
    decoder = sse.Decoder()
    whole.feed(decoder.feed(wire(role(), chunk({}, "stop"))))
    assert [told(event) for event in whole.close(cut)] == ["[DONE]"]
    for sent in (wire(role(), chunk({}, "stop")), wire(CALL[0])):
        broken.feed(decoder.feed(sent))
    (event,) = broken.close(cut)
    assert told(event)["error"]["message"] == "the connection was lost"


# -------------------------------------------------------------------------------- as it is read
def neutral(*documents: dict[str, Any] | bytes) -> list[StreamEvent]:
    reader, decoder, repair = CODEC.stream_reader(), sse.Decoder(), CODEC.stream_repair()
    events = [e for sent in documents for e in repair.feed(decoder.feed(wire(sent)))]
    return [*(found for e in [*events, *repair.close()] for found in reader.read(e))]


def test_a_finish_follows_what_came_after_the_first() -> None:
    assert neutral(role(), chunk({"content": "a"}), chunk({}, "stop"), *CALL, DONE) == [
        START,
        PartStart(0, Text("")),
        Delta(0, "a"),
        PartEnd(0),
        Finish(Stop.DONE),
        PartStart(1, Call("a", "f")),
        Delta(1, '{"x"'),
        Delta(1, ":1}"),
        PartEnd(1),
        Finish(Stop.CALLS),
        End(),
    ]


def test_text_with_a_reason_in_every_chunk_is_one_part() -> None:
    sent = [chunk({"content": letter}, "stop") for letter in "ab"]
    assert neutral(role(), *sent, DONE) == [
        START,
        PartStart(0, Text("")),
        Delta(0, "a"),
        Finish(Stop.DONE),
        Delta(0, "b"),
        PartEnd(0),
        Finish(Stop.DONE),
        End(),
    ]


def test_arguments_may_go_on_after_a_reason() -> None:
    events = neutral(role(), CALL[0], chunk({}, "tool_calls"), CALL[1], DONE)
    assert events[-5:] == [
        Finish(Stop.CALLS),
        Delta(0, ":1}"),
        PartEnd(0),
        Finish(Stop.CALLS),
        End(),
    ]


def test_arguments_after_the_end_of_a_whole_call_are_none() -> None:
    late = call(0, arguments="}")
    events = neutral(role(), *CALL, chunk({}, "tool_calls"), late, DONE)
    assert Delta(0, "}") not in events
    assert events[-1] == End()


def test_the_word_of_the_first_reason_holds_for_what_comes_later() -> None:
    events = neutral(role(), chunk({"content": "a"}, "length"), chunk({"content": "b"}), DONE)
    assert [event for event in events if type(event) is Finish] == [Finish(Stop.LENGTH)] * 2


# -------------------------------------------------------------------------------- as it is written
def test_the_writer_says_a_reason_again_where_it_is_another() -> None:
    late: list[StreamEvent] = [PartStart(1, Call("c", "f")), Delta(1, '{"x":1}'), PartEnd(1)]
    usage = UsageReport(Usage(1, 2))
    begun: list[StreamEvent] = [Start("", ""), PartStart(0, Text("")), Delta(0, "a")]
    out = write(
        *begun, Finish(Stop.DONE), *late, Finish(Stop.DONE), usage, End(), include_usage=True
    )
    assert finishes(out) == ["stop", "tool_calls"]
    assert arguments(out) == '{"x":1}'
    assert out[-2]["choices"] == []
    assert out[-3]["choices"][0]["finish_reason"] == "tool_calls"
    out = write(*begun, Finish(Stop.LENGTH), PartStart(1, Text("b")), Finish(Stop.LENGTH), End())
    assert finishes(out) == ["length"]
    assert text(out) == "ab"
