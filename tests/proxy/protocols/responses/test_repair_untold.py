"""What a Responses upstream tells late or once only: the events that should have been before it."""

from __future__ import annotations

from typing import Any

import pytest
from openai.types.responses import ResponseStreamEvent
from pydantic import TypeAdapter

from tests.proxy.protocols.responses.repairing import repair, without
from tests.proxy.protocols.responses.wire_events import (
    CALL,
    MESSAGE,
    call_events,
    completed,
    created,
    event,
    message_events,
    numbered,
    whole_stream,
    wire,
)

EVENT: TypeAdapter[Any] = TypeAdapter(ResponseStreamEvent)
CUSTOM = {
    "id": "ctc_1",
    "type": "custom_tool_call",
    "call_id": "call_2",
    "name": "shell",
    "input": "ls -l",
    "status": "completed",
}
REASONING = {
    "id": "rs_1",
    "type": "reasoning",
    "summary": [{"type": "summary_text", "text": "Hm."}],
    "encrypted_content": "c2Vj",
}


def repaired(documents: list[dict[str, Any]]) -> tuple[list[dict[str, Any]], dict[str, int]]:
    """The events that come out, which every official type takes, and whose numbers have no gap."""
    passed, repairs = repair(wire(numbered(documents)))
    for document in passed:
        EVENT.validate_python(document)
    assert [document["sequence_number"] for document in passed] == list(range(len(passed)))
    return passed, repairs


def kinds(documents: list[dict[str, Any]]) -> list[str]:
    return [document["type"].removeprefix("response.") for document in documents]


def deltas(documents: list[dict[str, Any]]) -> str:
    return "".join(d["delta"] for d in documents if d["type"].endswith(".delta"))


class TestSuffix:
    @pytest.mark.parametrize("last", ["done", "part", "item"])
    def test_of_a_text(self, last: str) -> None:
        events = message_events()
        del events[3]  # "lo", which only what ends the text tells
        ends = {"done": 3, "part": 4, "item": 5}[last]
        documents = [created(), *events[:3], *events[ends:], completed([MESSAGE])]
        passed, repairs = repaired(documents)
        assert passed == numbered([created(), *message_events(), completed([MESSAGE])])
        assert repairs["delta"] == 1

    @pytest.mark.parametrize("heard", [0, 1])
    @pytest.mark.parametrize("told", [True, False])
    def test_of_arguments(self, heard: int, told: bool) -> None:
        added, *pieces, done, item = call_events(0)
        documents = [created(), added, *pieces[:heard], *([done] if told else []), item]
        passed, repairs = repaired([*documents, completed([CALL])])
        assert kinds(passed) == [
            "created",
            "output_item.added",
            *["function_call_arguments.delta"] * (heard + 1),
            "function_call_arguments.done",
            "output_item.done",
            "completed",
        ]
        assert deltas(passed) == CALL["arguments"]
        assert repairs["delta"] == 1

    def test_of_the_input_of_a_free_form_call(self) -> None:
        place = {"item_id": "ctc_1", "output_index": 0}
        stem = "response.custom_tool_call_input"
        passed, repairs = repaired(
            [
                created(),
                event("response.output_item.added", output_index=0, item={**CUSTOM, "input": ""}),
                event(f"{stem}.delta", **place, delta="ls"),
                event(f"{stem}.done", **place, input="ls -l"),
                event("response.output_item.done", output_index=0, item=CUSTOM),
                completed([CUSTOM]),
            ]
        )
        assert passed[3]["delta"] == " -l"
        assert repairs == {"delta": 1, "sequence_number": 3}

    def test_an_empty_end_of_arguments_that_the_item_has(self) -> None:
        added, _, _, done, item = call_events(0)
        documents = [created(), added, {**done, "arguments": ""}, item, completed([CALL])]
        passed, _ = repaired(documents)
        assert deltas(passed) == passed[-3]["arguments"] == CALL["arguments"]
        assert kinds(passed)[-3:] == [
            "function_call_arguments.done",
            "output_item.done",
            "completed",
        ]

    def test_an_end_that_repeats_too_little(self) -> None:
        events = message_events()
        events[4] = {**events[4], "text": "Hel"}
        passed, repairs = repaired([created(), *events, completed([MESSAGE])])
        assert passed[5]["text"] == "Hello"
        assert repairs == {"done_too_short": 1}

    def test_deltas_are_right_where_the_end_says_otherwise(self) -> None:
        events = message_events()
        events[4] = {**events[4], "text": "Goodbye"}
        documents = [created(), *events, completed([MESSAGE])]
        passed, repairs = repaired(documents)
        assert (passed, repairs) == (numbered(documents), {})


class TestUntold:
    @pytest.mark.parametrize("status", ["completed", "incomplete"])
    def test_items_that_only_deltas_tell(self, status: str) -> None:
        told = [created(), *message_events()[:4], *call_events()[:3], completed([], status)]
        passed, repairs = repaired(told)
        output = passed[-1]["response"]["output"]
        assert output == [{**MESSAGE, "status": status}, {**CALL, "status": status}]
        assert [d["item"] for d in passed if d["type"] == "response.output_item.done"] == output
        assert kinds(passed).count("output_text.done") == 1
        assert kinds(passed).count("content_part.done") == 1
        assert kinds(passed).count("function_call_arguments.done") == 1
        assert repairs["item_done"] == 2

    def test_a_call_without_a_word_of_arguments(self) -> None:
        passed, _ = repaired([created(), *call_events(0)[:1], completed([])])
        assert passed[-1]["response"]["output"] == [{**CALL, "arguments": "{}"}]
        assert deltas(passed) == "{}"

    def test_items_that_only_the_last_event_has(self) -> None:
        passed, repairs = repaired([created(), completed([MESSAGE, CALL])])
        told = [{**d, "delta": "Hello"} if d.get("delta") == "Hel" else d for d in whole_stream()]
        told = [
            {**d, "delta": CALL["arguments"]} if d.get("delta") == '{"city":' else d for d in told
        ]
        rest = [d for d in told if d.get("delta") not in ("lo", '"Oslo"}')]
        assert passed == numbered(rest)
        assert repairs == {
            "item_added": 2,
            "item_done": 2,
            "part_added": 1,
            "part_done": 1,
            "delta": 2,
            "done": 2,
            "sequence_number": 1,
        }

    def test_reasoning_and_what_a_vendor_ran(self) -> None:
        search = {
            "id": "ws_1",
            "type": "web_search_call",
            "status": "completed",
            "action": {"type": "search", "query": "x"},
        }
        passed, _ = repaired([created(), completed([REASONING, search, CUSTOM])])
        assert kinds(passed[1:]) == [
            "output_item.added",
            "reasoning_summary_part.added",
            "reasoning_summary_text.delta",
            "reasoning_summary_text.done",
            "reasoning_summary_part.done",
            "output_item.done",
            "output_item.added",
            "output_item.done",
            "output_item.added",
            "custom_tool_call_input.delta",
            "custom_tool_call_input.done",
            "output_item.done",
            "completed",
        ]
        assert passed[1]["item"] == {"id": "rs_1", "type": "reasoning", "summary": []}
        assert passed[6]["item"] == REASONING
        assert [d["output_index"] for d in passed if d["type"].endswith("item.done")] == [0, 1, 2]

    def test_one_item_of_several(self) -> None:
        passed, repairs = repaired([created(), *message_events(), completed([MESSAGE, CALL])])
        assert kinds(passed)[8:] == [
            "output_item.added",
            "function_call_arguments.delta",
            "function_call_arguments.done",
            "output_item.done",
            "completed",
        ]
        assert repairs["item_added"] == 1

    def test_items_that_were_never_done(self) -> None:
        documents = [
            created(),
            *message_events()[:4],
            *call_events()[:2],
            completed([MESSAGE, CALL]),
        ]
        passed, repairs = repaired(documents)
        assert deltas(passed) == "Hello" + CALL["arguments"]
        assert [d["item"] for d in passed if d["type"].endswith("item.done")] == [MESSAGE, CALL]
        assert repairs["item_done"] == 2

    @pytest.mark.parametrize("changed", [{"id": "rotated"}, {"id": None}])
    def test_no_item_is_told_twice(self, changed: dict[str, Any]) -> None:
        """ChatGPT and others give an item another id in the last event, and leave items out."""
        reasoning = [
            event("response.output_item.added", output_index=0, item=REASONING),
            event("response.output_item.done", output_index=0, item=REASONING),
        ]
        events = [*message_events(1), *call_events(2)]
        last = completed([{**MESSAGE, **changed}, {**CALL, **changed}])
        passed, _ = repaired([created(), *reasoning, *events, last])
        assert kinds(passed).count("output_item.added") == 3
        output = passed[-1]["response"]["output"]
        assert [item["id"] for item in output] == ["msg_1", "fc_1"]

    def test_a_response_that_failed_is_not_spelled_out(self) -> None:
        error = {"code": "server_error", "message": "Boom"}
        documents = [created(), completed([MESSAGE], "failed", error=error)]
        passed, repairs = repaired(documents)
        assert (passed, repairs) == (numbered(documents), {})

    def test_an_item_that_only_its_end_tells(self) -> None:
        documents = [created(), message_events()[-1], call_events()[-1], completed([MESSAGE, CALL])]
        passed, repairs = repaired(documents)
        assert kinds(passed).count("output_item.added") == 2
        assert kinds(passed)[2:7] == [
            "content_part.added",
            "output_text.delta",
            "output_text.done",
            "content_part.done",
            "output_item.done",
        ]
        assert repairs["item_added"] == 2

    @pytest.mark.parametrize("first", [2, 3])
    def test_a_text_whose_beginning_nobody_told(self, first: int) -> None:
        documents = [created(), *message_events()[first - 1 :], completed([MESSAGE])]
        passed, repairs = repaired(documents)
        assert kinds(passed)[:4] == [
            "created",
            "output_item.added",
            "content_part.added",
            "output_text.delta",
        ]
        assert repairs["item_added"] == 1

    @pytest.mark.parametrize("kind", [None, 7, ["message"], {"a": 1}])
    def test_output_of_another_shape(self, kind: Any) -> None:
        odd = [{"type": kind, "id": 7, "call_id": ["x"]}, None, "text"]
        passed, _ = repair(wire(numbered([created(), completed(odd)])))
        assert kinds(passed) == ["created", "completed"]


def test_reasoning_that_was_told_one_way_is_not_told_again_in_another() -> None:
    whole = {**REASONING, "content": [{"type": "reasoning_text", "text": "Hm."}], "summary": []}
    both = {**whole, "summary": REASONING["summary"]}
    place = {"item_id": "rs_1", "output_index": 0, "content_index": 0}
    stem = "response.reasoning_text"
    documents = [
        created(),
        event("response.output_item.added", output_index=0, item=without(whole, "content")),
        event(f"{stem}.delta", **place, delta="Hm."),
        event(f"{stem}.done", **place, text="Hm."),
        event("response.output_item.done", output_index=0, item=both),
        completed([both]),
    ]
    passed, repairs = repaired(documents)
    assert (passed, repairs) == (numbered(documents), {})
