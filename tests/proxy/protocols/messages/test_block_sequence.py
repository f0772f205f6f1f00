"""In whatever order parts come, their blocks stand one after the other."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.proxy.protocols.messages.streams import assembled, documents
from tests.proxy.protocols.messages.writer_streams import REQUEST, kinds, message, written
from toolwire.proxy.protocols.messages import CODEC
from toolwire.proxy.protocols.messages.object_scan import ObjectScan
from toolwire.proxy.protocols.neutral import (
    Call,
    Delta,
    End,
    Failure,
    Finish,
    Opaque,
    PartEnd,
    PartStart,
    Ping,
    Refusal,
    Start,
    Stop,
    StreamEvent,
    StreamFailure,
    Text,
    Thinking,
    Usage,
    UsageReport,
)


def test_a_call() -> None:
    call = {"type": "tool_use", "id": "call_1", "name": "f", "input": {"city": "Oslo"}}
    events = (
        PartStart(0, Call("call_1", "f")),
        Delta(0, '{"city":'),
        Delta(0, '"Oslo"}'),
        PartEnd(0),
        Finish(Stop.CALLS),
    )
    assert message(*events)["content"] == [call]
    start = documents(written(*events))[1]
    assert start["content_block"] == {"type": "tool_use", "id": "call_1", "name": "f", "input": {}}


def test_a_call_without_arguments_has_an_empty_input() -> None:
    done = message(PartStart(0, Call("call_1", "now")), PartEnd(0), Finish(Stop.CALLS))
    assert done["content"] == [{"type": "tool_use", "id": "call_1", "name": "now", "input": {}}]


def test_arguments_that_only_the_end_tells_are_told() -> None:
    whole = Call("call_1", "f", '{"a":1}')
    done = message(PartStart(0, Call("call_1", "f")), PartEnd(0, whole))
    assert done["content"][0]["input"] == {"a": 1}


def test_interleaved_calls_are_put_one_after_the_other() -> None:
    events = (
        PartStart(0, Call("a", "f")),
        PartStart(1, Call("b", "g")),
        Delta(1, '{"y":'),
        Delta(0, '{"x":"}'),
        Delta(1, "2}"),
        Delta(0, '\\"{"}'),
        PartEnd(1),
        PartEnd(0),
        Finish(Stop.CALLS),
    )
    assert [block["input"] for block in message(*events)["content"]] == [{"x": '}"{'}, {"y": 2}]


def test_a_call_whose_arguments_are_whole_makes_way_for_the_next() -> None:
    writer = CODEC.stream_writer(REQUEST)
    for event in (Start("m", "m"), PartStart(0, Call("a", "f")), Delta(0, '{"x":{}}')):
        writer.write(event)
    assert kinds(writer.write(PartStart(1, Call("b", "g")))) == [
        "content_block_stop",
        "content_block_start",
    ]
    assert kinds(writer.write(Delta(1, "{"))) == ["content_block_delta"]


def test_a_call_that_is_not_whole_holds_the_next_one_back() -> None:
    writer = CODEC.stream_writer(REQUEST)
    for event in (Start("m", "m"), PartStart(0, Call("a", "f")), Delta(0, '{"x":')):
        writer.write(event)
    assert writer.write(PartStart(1, Call("b", "g"))) == []
    assert writer.write(Delta(1, '{"y":2}')) == []
    assert kinds(writer.write(Delta(0, "1}"))) == [
        "content_block_delta",
        "content_block_stop",
        "content_block_start",
        "content_block_delta",
    ]


def test_text_makes_way_for_a_call_and_goes_on_after_it() -> None:
    done = message(
        PartStart(0, Text("")),
        Delta(0, "before"),
        PartStart(1, Call("a", "f")),
        Delta(0, "after"),
        Delta(1, "{}"),
        PartEnd(0),
    )
    assert [block.get("text") for block in done["content"]] == ["before", None, "after"]


def test_white_space_alone_is_no_block() -> None:
    done = message(
        PartStart(0, Text("")), Delta(0, "\n\n"), PartStart(1, Call("a", "f", "{}")), PartEnd(0)
    )
    assert [block["type"] for block in done["content"]] == ["tool_use"]


def test_white_space_before_text_is_kept() -> None:
    done = message(PartStart(0, Text("")), Delta(0, "\n"), Delta(0, " a"), Delta(0, "\n"))
    assert done["content"] == [{"type": "text", "text": "\n a\n"}]


def test_thinking_without_a_signature_has_an_empty_one() -> None:
    done = message(PartStart(0, Thinking()), Delta(0, "hm"), PartEnd(0), PartStart(1, Text("a")))
    assert done["content"] == [
        {"type": "thinking", "thinking": "hm", "signature": ""},
        {"type": "text", "text": "a"},
    ]


def test_an_empty_signature_is_told_like_any_other() -> None:
    """Clients that wait for the event (Vercel's) would forget the thinking otherwise."""
    events = written(Start("msg_1", "m"), PartStart(0, Thinking()), Delta(0, "hm"), PartEnd(0))
    told = [d["delta"] for d in documents(events) if d["type"] == "content_block_delta"]
    assert told[-1] == {"type": "signature_delta", "signature": ""}


@pytest.mark.parametrize("text", ["", "hm"])
def test_a_signature_of_its_own_is_given_on(text: str) -> None:
    whole = Thinking(text, signature="c2ln", origin="messages")
    done = message(PartStart(0, Thinking()), Delta(0, text), PartEnd(0, whole))
    assert done["content"] == [{"type": "thinking", "thinking": text, "signature": "c2ln"}]


def test_ciphertext_of_another_protocol_is_not_given_on() -> None:
    whole = Thinking("hm", encrypted="secret", origin="responses")
    events = written(PartStart(0, Thinking()), Delta(0, "hm"), PartEnd(0, whole), End())
    assert all(b"secret" not in (event.data or b"") for event in events)
    assert assembled(events)["content"] == [{"type": "thinking", "thinking": "hm", "signature": ""}]


@pytest.mark.parametrize("told_at_the_start", [True, False])
def test_redacted_thinking(told_at_the_start: bool) -> None:
    whole = Thinking(redacted="b3BhcXVl", origin="messages")
    start = PartStart(0, whole if told_at_the_start else Thinking(origin="messages"))
    done = message(start, PartEnd(0, whole))
    assert done["content"] == [{"type": "redacted_thinking", "data": "b3BhcXVl"}]


def test_a_free_form_call_is_wrapped() -> None:
    free = Call("c", "shell", custom=True)
    done = message(PartStart(0, free), Delta(0, 'echo "'), Delta(0, 'a"'), PartEnd(0))
    assert done["content"][0]["input"] == {"input": 'echo "a"'}


def test_parts_of_other_protocols_are_left_out() -> None:
    searched = Opaque("responses", {"type": "web_search_call"})
    done = message(PartStart(0, searched), PartEnd(0), PartStart(1, Text("t")))
    assert done["content"] == [{"type": "text", "text": "t"}]


def test_blocks_of_its_own_are_given_on() -> None:
    used = {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {"query": "x"}}
    done = message(PartStart(0, Opaque("messages", used)), Delta(0, "{}"), PartEnd(0))
    assert done["content"] == [used]


KEYS = st.integers(0, 3)
PIECES = st.sampled_from(["", " ", "a", "{", '"', "}", '{"a":1}', "\\", "ø\n"])
PARTS = st.one_of(
    st.builds(Text, PIECES),
    st.builds(Refusal, PIECES),
    st.builds(Thinking, PIECES, signature=st.sampled_from([None, "s"]), origin=st.just("messages")),
    st.builds(Thinking, redacted=st.just("r"), origin=st.just("messages")),
    st.builds(Call, st.sampled_from(["", "c"]), st.just("f"), PIECES, custom=st.booleans()),
    st.just(Opaque("chat", {})),
)
EVENTS = st.lists(
    st.one_of(
        st.builds(PartStart, KEYS, PARTS),
        st.builds(Delta, KEYS, PIECES),
        st.builds(PartEnd, KEYS, st.one_of(st.none(), PARTS)),
        st.builds(Finish, st.sampled_from(list(Stop)), st.none()),
        st.builds(UsageReport, st.builds(Usage, input=st.integers(0, 9), output=st.none())),
        st.just(Start("id", "m")),
        st.just(Ping()),
        st.just(End()),
        st.just(StreamFailure(Failure(500, "broken"))),
    ),
    max_size=25,
)


@given(EVENTS)
def test_any_order_of_events_gives_a_well_formed_stream(events: list[StreamEvent]) -> None:
    done = assembled(written(*events, End()))
    failed = any(isinstance(event, StreamFailure) for event in events)
    assert ("error" in done) <= failed


@given(st.lists(st.tuples(st.integers(0, 2), PIECES), max_size=40))
def test_interleaved_text_and_calls_lose_nothing(deltas: list[tuple[int, str]]) -> None:
    writer = CODEC.stream_writer(REQUEST)
    starts = [PartStart(0, Text("")), PartStart(1, Call("1", "f")), PartStart(2, Call("2", "g"))]
    ends = [PartEnd(key) for key in range(3)]
    events = [*starts, *(Delta(key, text) for key, text in deltas), *ends, End()]
    wires = [wire for event in events for wire in writer.write(event)]
    told = {"text": "", "1": "", "2": ""}
    current = ""
    for document in documents(wires):
        if document["type"] == "content_block_start":
            current = document["content_block"].get("id", "text")
        elif document["type"] == "content_block_delta":
            told[current] += document["delta"].get("text", document["delta"].get("partial_json"))
    sent = ["".join(text for key, text in deltas if key == wanted) for wanted in range(3)]
    assert sent[0].startswith(told["text"]) and not sent[0].removeprefix(told["text"]).strip()
    for key in (1, 2):
        out, text = told[str(key)], sent[key].lstrip()
        if text[:1] != "{":
            assert isinstance(json.loads(out or "{}"), dict)
            continue
        # what comes after the end of an object is no part of it
        assert text.startswith(out)
        if out != text:
            scan = ObjectScan()
            scan.feed(out)
            assert scan.complete()
