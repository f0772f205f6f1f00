"""What a client has at the end of a stream: compared with the official SDKs."""

from __future__ import annotations

import json
from typing import Any

import pytest
from anthropic._models import construct_type as construct_anthropic
from anthropic.lib.streaming._messages import accumulate_event
from anthropic.types import RawMessageStreamEvent
from openai.lib.streaming.chat import ChatCompletionStreamState
from openai.types.chat import ChatCompletionChunk

from tests.proxy.explain.samples import (
    PROTOCOLS,
    REQUESTS,
    explained,
    settings_for,
)
from tests.proxy.explain.streams import CALLS, STREAMS, chunk, stream_of
from toolwire.proxy.explain.client_view import view
from toolwire.proxy.explain.recognition import events_in
from toolwire.proxy.protocols.sse import DONE, Event


def _openai_has(events: list[Event]) -> Any:
    state = ChatCompletionStreamState()
    for event in events:
        if event.data and event.data != DONE:
            state.handle_chunk(ChatCompletionChunk.construct(**json.loads(event.data)))
    return state.current_completion_snapshot.to_dict()


def _anthropic_has(events: list[Event]) -> Any:
    held: Any = None
    pieces: dict[int, bytes] = {}
    for event in events:
        document = json.loads(event.data or b"")
        if document["type"] != "ping":
            typed: Any = construct_anthropic(type_=RawMessageStreamEvent, value=document)
            held = accumulate_event(event=typed, current_snapshot=held, json_bufs=pieces)
    return held.to_dict()


STREAMED = [(upstream, STREAMS[upstream]) for upstream in PROTOCOLS] + [("chat", stream_of(CALLS))]


@pytest.mark.parametrize(("upstream", "stream"), STREAMED)
@pytest.mark.parametrize("client", ["chat", "messages"])
async def test_the_client_has_what_its_sdk_has(client: str, upstream: str, stream: bytes) -> None:
    request = {**REQUESTS[client], "stream": True}
    told = await explained(request, settings_for(upstream), stream, upstream="upstream")
    assert told.answer is not None
    events = events_in(told.answer.body)
    seen = told.answer.seen
    if client == "chat":
        theirs = _openai_has(events)
        ours, known = seen["choices"][0], theirs["choices"][0]
        assert ours["finish_reason"] == known["finish_reason"]
        assert ours["message"] == _subset(known["message"], ours["message"])
        assert len(ours["message"].get("tool_calls", ())) == len(
            known["message"].get("tool_calls") or ()
        )
    else:
        theirs = _anthropic_has(events)
        assert seen["content"] == _subset(theirs["content"], seen["content"])
        assert seen["stop_reason"] == theirs["stop_reason"]
        assert seen["usage"] == _subset(theirs["usage"], seen["usage"])
    assert (seen["id"], seen["model"]) == (theirs["id"], theirs["model"])
    assert (told.answer.complete, told.answer.failure) == (True, None)


def _subset(theirs: Any, ours: Any) -> Any:
    """What the SDK has of the fields that we show: it adds its own defaults."""
    if isinstance(theirs, dict) and isinstance(ours, dict):
        return {key: _subset(theirs.get(key), value) for key, value in ours.items()}
    if isinstance(theirs, list) and isinstance(ours, list):
        return [_subset(*pair) for pair in zip(theirs, ours, strict=True)]
    return theirs


def test_calls_are_put_together_by_their_index() -> None:
    seen = view("chat", events_in(stream_of(CALLS)))
    assert seen.document is not None
    message = seen.document["choices"][0]["message"]
    assert message["reasoning_content"] == "Hm"
    assert [one["function"] for one in message["tool_calls"]] == [
        {"name": "get", "arguments": '{"a":1}'},
        {"name": "put", "arguments": "{}"},
    ]
    assert seen.document["usage"] == {"prompt_tokens": 1, "completion_tokens": 2}
    assert seen.complete


def test_what_belongs_to_a_choice_is_shown_with_it() -> None:
    told = [
        chunk({"content": "a", "x": {"y": "1"}}),
        chunk({"content": "b", "x": {"y": "2"}, "role": "assistant"}, "stop"),
    ]
    for place, document in enumerate(told):
        document["choices"][0] |= {"logprobs": {"content": [place]}, "native": f"n{place}"}
    seen = view("chat", events_in(stream_of(told)))
    assert seen.document is not None
    assert seen.document["choices"] == [
        {
            "index": 0,
            "message": {"content": "ab", "x": {"y": "12"}, "role": "assistant"},
            "finish_reason": "stop",
            "logprobs": {"content": [0, 1]},
            "native": "n1",
        }
    ]


CITATION = {"type": "char_location"}
BLOCKS: list[tuple[dict[str, Any], list[dict[str, Any]]]] = [
    (
        {"type": "thinking", "thinking": "", "signature": ""},
        [
            {"type": "thinking_delta", "thinking": "Hm"},
            {"type": "signature_delta", "signature": "s"},
        ],
    ),
    (
        {"type": "text", "text": ""},
        [
            {"type": "text_delta", "text": "Hi"},
            {"type": "citations_delta", "citation": CITATION},
        ],
    ),
    (
        {"type": "tool_use", "id": "t", "name": "get", "input": {}},
        [
            {"type": "input_json_delta", "partial_json": '{"a":'},
            {"type": "input_json_delta", "partial_json": "1}"},
        ],
    ),
    ({"type": "tool_use", "id": "u", "name": "get", "input": {}}, []),
]


def blocks_stream() -> list[dict[str, Any]]:
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": {"id": "m", "usage": {"input_tokens": 3}}}
    ]
    for index, (block, deltas) in enumerate(BLOCKS):
        events.append({"type": "content_block_start", "index": index, "content_block": block})
        events += [
            {"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas
        ]
        events.append({"type": "content_block_stop", "index": index})
    return events


def test_a_message_is_put_together_block_by_block() -> None:
    events = blocks_stream()
    usage = {"input_tokens": None, "output_tokens": 4}
    events.append({"type": "message_delta", "delta": {"stop_reason": "x"}, "usage": usage})
    seen = view("messages", events_in(stream_of(events)))
    assert not seen.complete
    assert seen.document == {
        "id": "m",
        "usage": {"input_tokens": 3, "output_tokens": 4},
        "content": [
            {"type": "thinking", "thinking": "Hm", "signature": "s"},
            {"type": "text", "text": "Hi", "citations": [CITATION]},
            {"type": "tool_use", "id": "t", "name": "get", "input": {"a": 1}},
            {"type": "tool_use", "id": "u", "name": "get", "input": {}},
        ],
        "stop_reason": "x",
    }
    assert view("messages", events_in(stream_of([*events, {"type": "message_stop"}]))).complete


@pytest.mark.parametrize(
    ("protocol", "events", "failure"),
    [
        ("chat", [CALLS[0], {"error": {"message": "bad"}}], {"message": "bad"}),
        ("messages", [{"type": "error", "error": {"message": "bad"}}], {"message": "bad"}),
        ("responses", [{"type": "error", "message": "bad"}], {"type": "error", "message": "bad"}),
        (
            "responses",
            [{"type": "response.failed", "response": {"error": {"code": "x"}}}],
            {"code": "x"},
        ),
    ],
)
def test_an_error_is_what_the_sdk_raises(
    protocol: Any, events: list[dict[str, Any]], failure: Any
) -> None:
    assert view(protocol, events_in(stream_of(events))).failure == failure


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_stream_without_its_end_is_not_complete(protocol: Any) -> None:
    cut = STREAMS[protocol].split(b"\n\n")[:-2]
    seen = view(protocol, events_in(b"\n\n".join(cut)))
    assert (seen.complete, seen.failure) == (False, None)
    assert seen.document is not None


@pytest.mark.parametrize(
    ("protocol", "document"),
    [
        ("chat", {"choices": [3]}),
        ("chat", {"choices": 3}),
        ("chat", {"choices": [{"delta": 3}]}),
        ("messages", {"type": "message_start"}),
        ("messages", {"type": "message_start", "message": 3}),
        ("chat", [1]),
        ("messages", None),
    ],
)
def test_what_no_sdk_can_read_is_an_error(protocol: Any, document: Any) -> None:
    seen = view(protocol, [Event(json.dumps(document).encode())])
    assert str(seen.failure).startswith("no SDK can read this event: ")
    assert not seen.complete


def test_a_call_that_is_cut_short_keeps_its_text() -> None:
    events = [
        {"type": "message_start", "message": {"id": "m"}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "tool_use"}},
        {
            "type": "content_block_delta",
            "index": 0,
            "delta": {"type": "input_json_delta", "partial_json": '{"a'},
        },
        {"type": "content_block_stop", "index": 0},
    ]
    seen = view("messages", events_in(stream_of(events)))
    assert seen.document is not None
    assert seen.document["content"] == [{"type": "tool_use", "input": '{"a'}]
