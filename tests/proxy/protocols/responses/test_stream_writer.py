from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from openai.types.responses import ResponseStreamEvent
from pydantic import TypeAdapter

from toolwire.proxy.protocols import json
from toolwire.proxy.protocols.neutral import (
    Call,
    Delta,
    End,
    Failure,
    Finish,
    Opaque,
    Part,
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
from toolwire.proxy.protocols.responses import CODEC

NATIVE: TypeAdapter[Any] = TypeAdapter(ResponseStreamEvent)
START = Start("chatcmpl-1", "demo-model", created=1700000000)
PREFIXES = {
    "message": "msg_",
    "reasoning": "rs_",
    "function_call": "fc_",
    "custom_tool_call": "ctc_",
}
TERMINAL = ("response.completed", "response.incomplete", "response.failed")


def write(events: Iterable[StreamEvent], **request: Any) -> list[dict[str, Any]]:
    """The documents that a client gets, each after a check by the official types."""
    writer = CODEC.stream_writer(CODEC.read_request({"model": "m", "input": "hi", **request}))
    documents = []
    for event in events:
        for sent in writer.write(event):
            assert sent.data is not None
            document = json.decode(sent.data)
            assert sent.name == document["type"]
            if document["type"] != "response.failed":  # their codes are more than the types know
                NATIVE.validate_json(sent.data)
            documents.append(document)
    return documents


def types(documents: list[dict[str, Any]]) -> list[str]:
    return [document["type"] for document in documents]


def told(part: Part, *texts: str, whole: Part | None = None, key: int = 0) -> list[StreamEvent]:
    return [
        PartStart(key, part),
        *(Delta(key, text) for text in texts),
        PartEnd(key, whole),
    ]


def stream(*parts: list[StreamEvent], stop: Stop = Stop.DONE) -> list[StreamEvent]:
    return [START, *(event for part in parts for event in part), Finish(stop), End()]


class TestEvents:
    def test_text(self) -> None:
        documents = write(stream(told(Text(""), "5", " C")))

        assert types(documents) == [
            "response.created",
            "response.in_progress",
            "response.output_item.added",
            "response.content_part.added",
            "response.output_text.delta",
            "response.output_text.delta",
            "response.output_text.done",
            "response.content_part.done",
            "response.output_item.done",
            "response.completed",
        ]
        assert [document["sequence_number"] for document in documents] == list(range(10))
        added, part = documents[2], documents[3]
        assert (added["item"]["content"], added["item"]["status"]) == ([], "in_progress")
        assert part["part"]["text"] == ""
        assert documents[6]["text"] == documents[7]["part"]["text"] == "5 C"
        assert documents[9]["response"]["output"] == [documents[8]["item"]]
        assert documents[9]["response"]["status"] == "completed"

    def test_reasoning_is_a_summary(self) -> None:
        documents = write(stream(told(Thinking(), "Hm", "."), told(Text(""), "x", key=1)))

        assert types(documents)[2:9] == [
            "response.output_item.added",
            "response.reasoning_summary_part.added",
            "response.reasoning_summary_text.delta",
            "response.reasoning_summary_text.delta",
            "response.reasoning_summary_text.done",
            "response.reasoning_summary_part.done",
            "response.output_item.done",
        ]
        reasoning, message = documents[-1]["response"]["output"]
        assert reasoning["summary"] == [{"type": "summary_text", "text": "Hm."}]
        assert message["type"] == "message"

    def test_a_call(self) -> None:
        call = Call("call_1", "get_weather")

        documents = write(stream(told(call, '{"city":', '"Oslo"}'), stop=Stop.CALLS))

        assert types(documents)[2:7] == [
            "response.output_item.added",
            "response.function_call_arguments.delta",
            "response.function_call_arguments.delta",
            "response.function_call_arguments.done",
            "response.output_item.done",
        ]
        assert documents[2]["item"]["arguments"] == ""
        assert documents[2]["item"]["call_id"] == "call_1"
        assert documents[5]["arguments"] == '{"city":"Oslo"}'
        (item,) = documents[-1]["response"]["output"]
        assert (item["arguments"], item["status"]) == ('{"city":"Oslo"}', "completed")

    def test_a_call_without_arguments(self) -> None:
        documents = write(stream(told(Call("call_1", "now"))))

        assert [document.get("delta") for document in documents[3:4]] == ["{}"]
        assert documents[-1]["response"]["output"][0]["arguments"] == "{}"

    def test_a_free_form_call(self) -> None:
        documents = write(stream(told(Call("c", "patch", custom=True), "*** ", "Begin")))

        assert types(documents)[3:6] == [
            "response.custom_tool_call_input.delta",
            "response.custom_tool_call_input.delta",
            "response.custom_tool_call_input.done",
        ]
        assert documents[5]["input"] == "*** Begin"
        assert documents[-1]["response"]["output"][0]["type"] == "custom_tool_call"

    def test_a_free_form_call_without_input_stays_empty(self) -> None:
        documents = write(stream(told(Call("c", "patch", custom=True))))

        assert documents[-1]["response"]["output"][0]["input"] == ""

    def test_a_refusal(self) -> None:
        documents = write(stream(told(Refusal(""), "no"), stop=Stop.FILTERED))

        assert types(documents)[3:7] == [
            "response.content_part.added",
            "response.refusal.delta",
            "response.refusal.done",
            "response.content_part.done",
        ]
        assert types(documents)[-1] == "response.completed"

    def test_an_item_of_this_protocol(self) -> None:
        search = {"id": "ws_1", "type": "web_search_call", "status": "completed"}
        search["action"] = {"type": "search", "query": "q"}  # type: ignore[assignment]
        opaque = Opaque("responses", search)

        documents = write(stream(told(opaque, whole=opaque)))

        assert types(documents)[2:4] == ["response.output_item.added", "response.output_item.done"]
        assert documents[-1]["response"]["output"] == [search]

    def test_a_tool_of_a_namespace_is_called_by_both_names(self) -> None:
        tool = {"type": "function", "name": "read", "parameters": {}}
        group = {"type": "namespace", "name": "mcp__f", "description": "", "tools": [tool]}

        documents = write(stream(told(Call("c", "mcp__f__read"), "{}")), tools=[group])

        for item in (documents[2]["item"], documents[-1]["response"]["output"][0]):
            assert (item["namespace"], item["name"]) == ("mcp__f", "read")

    def test_the_request_is_echoed_from_the_start(self) -> None:
        documents = write(stream(), instructions="Be brief.", temperature=1)

        for document in (documents[0], documents[-1]):
            assert document["response"]["instructions"] == "Be brief."
            assert document["response"]["temperature"] == 1


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


class TestEnd:
    @pytest.mark.parametrize(
        ("stop", "word", "reason"),
        [
            (Stop.LENGTH, "incomplete", "max_output_tokens"),
            (Stop.FILTERED, "incomplete", "content_filter"),
            (Stop.PAUSED, "incomplete", "max_output_tokens"),
            (Stop.SEQUENCE, "completed", None),
        ],
    )
    def test_why_it_stopped(self, stop: Stop, word: str, reason: str | None) -> None:
        last = write(stream(told(Text(""), "x"), stop=stop))[-1]

        assert last["type"] == f"response.{word}"
        assert last["response"]["status"] == word
        assert last["response"]["incomplete_details"] == (reason and {"reason": reason})

    def test_a_call_cut_in_its_arguments_is_incomplete(self) -> None:
        documents = write(stream(told(Call("c", "f"), '{"ci'), stop=Stop.LENGTH))

        assert documents[-1]["type"] == "response.incomplete"
        assert documents[-1]["response"]["output"][0]["status"] == "incomplete"

    def test_usage_of_the_last_report(self) -> None:
        usage = Usage(input=31, output=4, cached=10, reasoning=2)
        events = [START, UsageReport(Usage(input=1)), Finish(Stop.DONE), UsageReport(usage), End()]

        assert write(events)[-1]["response"]["usage"] == {
            "input_tokens": 31,
            "input_tokens_details": {"cached_tokens": 10, "cache_write_tokens": 0},
            "output_tokens": 4,
            "output_tokens_details": {"reasoning_tokens": 2},
            "total_tokens": 35,
        }

    def test_signed_thinking_is_kept_for_the_next_request(self) -> None:
        signed = Thinking("Hm.", signature="sig", origin="messages", vendor="anthropic")

        documents = write(stream(told(Thinking(), "Hm.", whole=signed)))
        (turn,) = CODEC.read_request(
            {"model": "m", "input": documents[-1]["response"]["output"]}
        ).turns

        signed.at = "input[0]"
        assert turn.parts == [signed]

    def test_thinking_that_is_nothing_but_redacted(self) -> None:
        redacted = Thinking(redacted="gAAA", origin="messages")

        documents = write(stream(told(redacted)))

        assert types(documents)[2:] == [
            "response.output_item.added",
            "response.output_item.done",
            "response.completed",
        ]
        (item,) = documents[-1]["response"]["output"]
        assert item["summary"] == []
        assert item["encrypted_content"].startswith("toolwire:")


class TestFailure:
    def test_a_failure_in_the_middle(self) -> None:
        failure = Failure(529, "Overloaded", kind="overloaded")

        documents = write([START, PartStart(0, Text("")), Delta(0, "half"), StreamFailure(failure)])

        last = documents[-1]
        assert last["type"] == "response.failed"
        assert last["response"]["status"] == "failed"
        assert last["response"]["error"] == {"code": "server_error", "message": "Overloaded"}
        assert last["response"]["output"][0]["status"] == "incomplete"
        assert "response.completed" not in types(documents)

    def test_a_cut_call_is_never_told_whole(self) -> None:
        events = [START, PartStart(0, Call("c", "rm")), Delta(0, '{"path":"/"}')]

        documents = write([*events, StreamFailure(Failure(502, "cut"))])

        assert "response.function_call_arguments.done" not in types(documents)
        assert "response.output_item.done" not in types(documents)
        assert documents[-1]["response"]["output"][0]["status"] == "incomplete"

    @pytest.mark.parametrize(
        ("failure", "code"),
        [
            (Failure(400, "m", code="context_length_exceeded"), "context_length_exceeded"),
            (Failure(429, "m", kind="rate_limit"), "rate_limit_exceeded"),
            (Failure(400, "m", kind="invalid_request"), "invalid_prompt"),
            (Failure(502, "m", code=7), "server_error"),
        ],
    )
    def test_codes(self, failure: Failure, code: str) -> None:
        documents = write([StreamFailure(failure)])

        assert types(documents) == ["response.created", "response.in_progress", "response.failed"]
        assert documents[-1]["response"]["error"]["code"] == code

    def test_outside_of_any_stream(self) -> None:
        (event,) = CODEC.failure_event(Failure(504, "too late", kind="timeout"))

        assert event.data is not None
        document = json.decode(event.data)
        NATIVE.validate_json(event.data)
        assert event.name == document["type"] == "response.failed"
        assert document["response"]["error"]["message"] == "too late"


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
