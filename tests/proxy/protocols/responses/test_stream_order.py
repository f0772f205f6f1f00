from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tests.proxy.protocols.responses.streaming import START, stream, told, types, write
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
    Stop,
    StreamEvent,
    StreamFailure,
    Text,
    Thinking,
    Usage,
    UsageReport,
)
from toolwire.proxy.protocols.responses import CODEC


class TestOrder:
    def test_parts_open_side_by_side(self) -> None:
        documents = write(
            [
                START,
                PartStart(0, Call("a", "f")),
                PartStart(1, Call("b", "g")),
                Delta(1, "{"),
                Delta(0, "{"),
                Delta(1, "}"),
                Delta(0, "}"),
                PartEnd(1),
                PartEnd(0),
                Finish(Stop.CALLS),
                End(),
            ]
        )

        deltas = [d["output_index"] for d in documents if d["type"].endswith("arguments.delta")]
        assert deltas == [1, 0, 1, 0]
        output = documents[-1]["response"]["output"]
        assert [item["call_id"] for item in output] == ["a", "b"]

    def test_deltas_go_out_at_once(self) -> None:
        writer = CODEC.stream_writer(CODEC.read_request({"model": "m", "input": "hi"}))
        writer.write(START)
        writer.write(PartStart(0, Text("")))

        assert [event.name for event in writer.write(Delta(0, "5"))] == [
            "response.output_item.added",
            "response.content_part.added",
            "response.output_text.delta",
        ]
        assert [event.name for event in writer.write(Delta(0, " C"))] == [
            "response.output_text.delta"
        ]

    def test_empty_text_and_thinking_are_no_items(self) -> None:
        call = Call("call_1", "now")

        documents = write(
            stream(told(Text("")), told(Thinking(), whole=Thinking()), told(call, "{}", key=2))
        )

        (item,) = documents[-1]["response"]["output"]
        assert item["type"] == "function_call"

    def test_a_part_that_is_told_at_its_end_only(self) -> None:
        documents = write(stream(told(Text(""), whole=Text("whole"))))

        assert [d["delta"] for d in documents if d["type"].endswith(".delta")] == ["whole"]

    def test_the_rest_that_the_end_tells(self) -> None:
        whole = Call("call_1", "f", '{"a":1}')

        documents = write(stream(told(Call("call_1", "f"), '{"a"', whole=whole)))

        deltas = [d["delta"] for d in documents if d["type"].endswith(".delta")]
        assert deltas == ['{"a"', ":1}"]

    def test_an_end_without_finish_or_part_ends(self) -> None:
        documents = write([START, PartStart(0, Text("")), Delta(0, "x"), End()])

        assert types(documents)[-2:] == ["response.output_item.done", "response.completed"]

    def test_a_stream_without_a_start(self) -> None:
        documents = write([PartStart(0, Text("")), Delta(0, "x"), End()])

        assert types(documents)[0] == "response.created"
        assert documents[0]["response"]["model"] == "m"

    def test_pings_are_nothing(self) -> None:
        assert write([Ping()]) == []

    def test_nothing_comes_after_the_end(self) -> None:
        documents = write([*stream(), *stream(told(Text(""), "x"))])

        assert types(documents) == [
            "response.created",
            "response.in_progress",
            "response.completed",
        ]


PREFIXES = {
    "message": "msg_",
    "reasoning": "rs_",
    "function_call": "fc_",
    "custom_tool_call": "ctc_",
}


TERMINAL = ("response.completed", "response.incomplete", "response.failed")


PARTS = st.sampled_from(
    [
        Text(""),
        Text("x"),
        Thinking(),
        Thinking("t"),
        Thinking(signature="s", origin="messages"),
        Refusal(""),
        Call("call_1", "f"),
        Call("call_2", "patch", custom=True),
        Opaque("messages", {"type": "server_tool_use"}),
    ]
)


KEYS = st.integers(0, 3)


EVENTS = st.one_of(
    st.just(START),
    st.just(Ping()),
    st.builds(PartStart, KEYS, PARTS),
    st.builds(Delta, KEYS, st.text(max_size=3)),
    st.builds(PartEnd, KEYS, st.none() | PARTS),
    st.builds(Finish, st.sampled_from(Stop)),
    st.builds(UsageReport, st.builds(Usage, st.none() | st.integers(0, 9))),
    st.just(StreamFailure(Failure(502, "cut"))),
    st.just(End()),
)


@given(st.lists(EVENTS, max_size=25))
def test_whatever_comes_the_stream_is_well_formed(events: list[StreamEvent]) -> None:
    documents = write([*events, End()])

    assert types(documents)[:2] == ["response.created", "response.in_progress"]
    assert [name for name in types(documents) if name in TERMINAL] == [documents[-1]["type"]]
    assert [document["sequence_number"] for document in documents] == list(range(len(documents)))
    open_items: dict[int, str] = {}
    texts: dict[int, str] = {}
    finished: dict[int, Any] = {}
    for document in documents[2:-1]:
        index = document["output_index"]
        if document["type"] == "response.output_item.added":
            assert index == len(open_items) + len(finished)
            open_items[index] = document["item"]["id"]
            assert open_items[index].startswith(PREFIXES[document["item"]["type"]])
            texts[index] = ""
            continue
        if document["type"] == "response.output_item.done":
            assert document["item"]["id"] == open_items.pop(index)
            finished[index] = document["item"]
            continue
        assert document["item_id"] == open_items[index]
        if document["type"].endswith(".delta"):
            texts[index] += document["delta"]
        whole = [document[f] for f in ("text", "refusal", "arguments", "input") if f in document]
        assert whole in ([], [texts[index]])
    output = documents[-1]["response"]["output"]
    if documents[-1]["type"] != "response.failed":
        assert not open_items
        assert output == [finished[index] for index in range(len(output))]
