"""What clients' types demand of a response, where an upstream left it out."""

from __future__ import annotations

from typing import Any

from openai.types.responses import Response, ResponseStreamEvent
from pydantic import TypeAdapter

from tests.proxy.protocols.responses.repairing import repair, without
from tests.proxy.protocols.responses.wire_events import (
    CALL,
    MESSAGE,
    RESPONSE,
    USAGE,
    completed,
    created,
    event,
    whole_stream,
    wire,
)
from toolwire.proxy.protocols import json
from toolwire.proxy.protocols.responses import CODEC

WHOLE: TypeAdapter[Any] = TypeAdapter(Response)
EVENT: TypeAdapter[Any] = TypeAdapter(ResponseStreamEvent)
BARE = {"id": "resp_u1", "object": "response", "status": "in_progress"}
"""All that llama.cpp says of a response in its first events."""

TOOL = {"type": "function", "name": "get_weather", "parameters": {"type": "object"}}
REQUEST = {
    "model": "asked-model",
    "input": "hi",
    "tools": [TOOL],
    "tool_choice": "required",
    "parallel_tool_calls": False,
}


def told_by_llama_cpp() -> list[dict[str, Any]]:
    """Text and a call, with all that llama.cpp leaves out."""
    absent = ("output_index", "content_index", "logprobs")
    text, call = MESSAGE["content"][0], whole_stream()[8:11]
    bare_part = {**whole_stream()[2], "part": {"type": "output_text", "text": ""}}
    items = [whole_stream()[1], bare_part, *whole_stream()[3:7], *call]
    ends = [event("response.output_item.done", item=item) for item in (MESSAGE, CALL)]
    usage = without(USAGE, "output_tokens_details")
    usage["input_tokens_details"] = {"cached_tokens": 5}
    last = completed([MESSAGE, CALL], usage=usage)
    last["response"] = without(last["response"], "tools", "tool_choice", "parallel_tool_calls")
    assert text["annotations"] == []
    return [
        event("response.created", response=BARE),
        event("response.in_progress", response=BARE),
        *(without(document, *absent) for document in [*items, *ends]),
        last,
    ]


def test_a_stream_of_llama_cpp_is_what_the_types_say() -> None:
    passed, repairs = repair(wire(told_by_llama_cpp()))

    for document in passed:
        EVENT.validate_json(json.encode(document), strict=True)
    assert [document["sequence_number"] for document in passed] == list(range(len(passed)))
    assert repairs["response_fields"] == 3
    assert repairs["part_fields"] == 1


def test_the_end_of_a_calls_arguments_is_told() -> None:
    passed, repairs = repair(wire(told_by_llama_cpp()))

    kinds = [document["type"].removeprefix("response.") for document in passed]
    assert kinds[-3:] == ["function_call_arguments.done", "output_item.done", "completed"]
    assert passed[-3] == event(
        "response.function_call_arguments.done",
        item_id="fc_1",
        output_index=1,
        arguments=CALL["arguments"],
        sequence_number=len(passed) - 3,
    )
    assert repairs["done"] == 1


def test_the_end_of_reasoning_is_told() -> None:
    item = {"id": "rs_1", "type": "reasoning", "summary": [], "content": []}
    whole = {**item, "content": [{"type": "reasoning_text", "text": "Hm."}]}
    stem = "response.reasoning_text"
    documents = [
        created(),
        event("response.output_item.added", item=item),
        event(f"{stem}.delta", item_id="rs_1", delta="H"),
        event(f"{stem}.delta", item_id="rs_1", delta="m."),
        event("response.output_item.done", item=whole),
        completed([whole]),
    ]

    passed, repairs = repair(wire(documents))

    assert passed[4] == event(
        f"{stem}.done",
        item_id="rs_1",
        output_index=0,
        content_index=0,
        text="Hm.",
        sequence_number=4,
    )
    assert len(passed) == len(documents) + 1
    assert repairs["done"] == 1


def test_the_input_of_a_free_form_call_that_comes_only_with_its_end() -> None:
    call = {"type": "custom_tool_call", "id": "ctc_1", "call_id": "c", "name": "sh", "input": "ls"}
    ends = [
        event("response.output_item.added", output_index=0, item={**call, "input": ""}),
        event("response.output_item.done", output_index=0, item=call),
    ]

    passed, _ = repair(wire([created(), *ends, completed([call])]))

    stem = "response.custom_tool_call_input"
    place = {"item_id": "ctc_1", "output_index": 0}
    assert passed[2:4] == [
        event(f"{stem}.delta", **place, delta="ls", sequence_number=2),
        event(f"{stem}.done", **place, input="ls", sequence_number=3),
    ]


def test_what_repeats_the_request_is_taken_from_it() -> None:
    repair = CODEC.stream_repair(request=REQUEST)
    (sent,) = repair.feed(wire([event("response.created", response=BARE)]))

    assert sent.data is not None
    response = json.decode(sent.data)["response"]
    assert response["model"] == "asked-model"
    assert response["tools"] == [{"description": None, "strict": False, **TOOL}]
    assert (response["tool_choice"], response["parallel_tool_calls"]) == ("required", False)
    assert response.keys() <= {*BARE, "created_at", "model", "output", *REQUEST} - {"input"}


def test_a_whole_answer() -> None:
    document = {
        **without(RESPONSE, "tools", "tool_choice", "parallel_tool_calls"),
        "output": [{**MESSAGE, "content": [{"type": "output_text", "text": "Hello"}]}],
        "usage": without(USAGE, "output_tokens_details"),
        "unknown": 1,
    }

    repairs = CODEC.repair_answer(document, request=REQUEST)

    WHOLE.validate_json(json.encode(document), strict=True)
    assert document["tool_choice"] == "required"
    assert document["usage"] == {**USAGE, "output_tokens_details": {"reasoning_tokens": 0}}
    assert document["unknown"] == 1
    assert repairs == {"response_fields": 1, "part_fields": 1}


def test_a_request_of_wrong_types_is_not_repeated() -> None:
    document = dict(BARE)
    CODEC.repair_answer(document, request={"model": 1, "tools": {"a": 1}})
    assert (document["model"], document["tools"]) == ("", [])


def test_what_may_be_absent_is_not_added() -> None:
    usage = {**USAGE, "input_tokens_details": {"cached_tokens": 5}}
    document = completed([MESSAGE, CALL], usage=usage)["response"]
    before = json.encode(document)
    assert CODEC.repair_answer(document) == {}
    assert json.encode(document) == before
