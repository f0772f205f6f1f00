"""Streams: what each event is, what a layer makes of them, and what a client has at the end."""

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
    ANSWERS,
    PAIRS,
    PROTOCOLS,
    REQUESTS,
    STREAMS,
    explained,
    settings_for,
)
from toolwire.proxy.explain.client_view import view
from toolwire.proxy.explain.labels import label
from toolwire.proxy.explain.recognition import events_in
from toolwire.proxy.explain.steps import Step
from toolwire.proxy.protocols.sse import DONE, Event


def chunk(delta: dict[str, Any], finish: str | None = None, **more: Any) -> dict[str, Any]:
    head = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    return {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}], **more}


def call(index: int, arguments: str, **more: Any) -> dict[str, Any]:
    """A piece of a call; ``id`` and ``name`` begin one."""
    named = {"id": more["id"], "type": "function"} if "id" in more else {}
    function = {"name": more["name"]} if "name" in more else {}
    return {
        "tool_calls": [{"index": index, **named, "function": {**function, "arguments": arguments}}]
    }


CALLS = [
    chunk({"role": "assistant", "content": None}),
    chunk({"reasoning_content": "Hm"}),
    chunk(call(0, "", id="call_a", name="get")),
    chunk(call(1, "", id="call_b", name="put")),
    chunk(call(0, '{"a"')),
    chunk(call(1, "{}")),
    chunk(call(0, ":1}")),
    chunk({}, "tool_calls"),
    {**chunk({}), "choices": [], "usage": {"prompt_tokens": 1, "completion_tokens": 2}},
]


def stream_of(documents: list[dict[str, Any]]) -> bytes:
    return b"".join(b"data: %b\n\n" % json.dumps(document).encode() for document in documents)


# ------------------------------------------------------------------------------------ labels
@pytest.mark.parametrize(
    ("document", "text"),
    [
        (CALLS[0], "chunk, role assistant"),
        (CALLS[1], 'chunk, reasoning_content "Hm"'),
        (CALLS[2], "chunk, tool_calls[0] get call_a"),
        (CALLS[4], 'chunk, tool_calls[0].arguments "{\\"a\\""'),
        (CALLS[7], "chunk, finish_reason tool_calls"),
        (CALLS[8], "chunk, usage"),
        (chunk({"content": "x" * 30}), f'chunk, content "{"x" * 23}…"'),
        (chunk({"content": [{"type": "text"}]}), "chunk, content"),
        (chunk(call(0, {"a": 1})), 'chunk, tool_calls[0].arguments "{\\"a\\":1}"'),  # type: ignore[arg-type]
        ({"error": {"message": "too bad"}}, 'error "too bad"'),
        ({"choices": [3, {"index": 1, "delta": None}]}, "chunk, choice 1"),
        ({"choices": None}, "chunk"),
    ],
)
def test_a_chat_chunk_in_a_few_words(document: dict[str, Any], text: str) -> None:
    assert label("chat", Event(json.dumps(document).encode())).text == text


@pytest.mark.parametrize(
    ("document", "text"),
    [
        ({"type": "message_start", "message": {"id": "x"}}, "message_start"),
        (
            {"type": "content_block_start", "index": 1, "content_block": {"type": "tool_use",
             "id": "t", "name": "get", "input": {}}},
            'content_block_start[1] tool_use "get"',
        ),
        (
            {"type": "content_block_delta", "index": 1, "delta": {"type": "input_json_delta",
             "partial_json": '{"a"'}},
            'content_block_delta[1] input_json_delta "{\\"a\\""',
        ),
        (
            {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {}},
            'message_delta "end_turn"',
        ),
        ({"type": "error", "error": {"type": "api_error", "message": "bad"}},
         'error api_error "bad"'),
        (
            {"type": "response.output_item.added", "output_index": 0,
             "item": {"type": "function_call", "name": "get", "arguments": ""}},
            'response.output_item.added[0] function_call "get"',
        ),
        (
            {"type": "response.output_text.delta", "output_index": 2, "delta": "Hi"},
            'response.output_text.delta[2] "Hi"',
        ),
        ({"type": "response.completed", "response": {"status": "completed"}},
         'response.completed "completed"'),
        ({"type": 3}, "3"),
        ({}, "no type"),
    ],
)  # fmt: skip
def test_an_event_with_a_type_in_a_few_words(document: dict[str, Any], text: str) -> None:
    assert label("messages", Event(json.dumps(document).encode())).text == text


@pytest.mark.parametrize(
    ("event", "text"),
    [
        (Event(None), "comment"),
        (Event(DONE), "[DONE]"),
        (Event(b"[1]"), 'no JSON "[1]"'),
        (Event(b"\xff{"), 'no JSON "\ufffd{"'),
    ],
)
def test_what_is_no_event_of_a_protocol_is_named_too(event: Event, text: str) -> None:
    assert label("chat", event).text == text


# ------------------------------------------------------------------------------------ tables
async def steps_for(client: str, upstream: str, stream: bytes) -> dict[str, Step]:
    request = {**REQUESTS[client], "stream": True}
    told = await explained(request, settings_for(upstream), stream, upstream="upstream")
    assert told.answer is not None
    return {step.layer: step for step in told.answer.steps}


async def test_a_repair_is_shown_with_the_events_before_and_after() -> None:
    empty_name = [CALLS[0], chunk(call(0, "{", id="a", name="get")), chunk(call(0, "}", id="a"))]
    steps = await steps_for("chat", "chat", stream_of([*empty_name, chunk({}, "stop")]))
    table = steps["sse_rechunking"].table
    assert table is not None
    assert (table.taken, table.given, table.last) == (4, 5, 5)
    first, begun, repeated, finish, end = table.rows
    assert (first.same, begun.same) == (True, True)
    assert repeated.taken == ['chunk, tool_calls[0] None a, tool_calls[0].arguments "}"']
    assert repeated.given == ['chunk, tool_calls[0].arguments "}"']
    assert '"id": "a"' in repeated.before[0]
    assert '"id":"a"' not in repeated.after[0]
    assert finish.given == ["chunk, finish_reason tool_calls"]
    assert (end.first, end.taken, end.given) == (table.last, [], ["[DONE]"])
    counted = steps["sse_rechunking"].changes
    assert counted["finish_reason_corrected"] == 1


async def test_events_of_one_kind_are_one_row() -> None:
    pieces = [chunk({"content": f"{n} "}) for n in range(40)]
    steps = await steps_for("messages", "chat", stream_of([CALLS[0], *pieces, chunk({}, "stop")]))
    table = steps["tool_schema_conversion"].table
    assert table is not None
    counts = [(row.count, row.taken) for row in table.rows]
    assert (39, ['chunk, content "1 "']) in counts
    assert sum(row.count for row in table.rows) == 43


@pytest.mark.parametrize(("client", "upstream"), PAIRS)
async def test_each_event_comes_out_for_those_that_went_in(client: str, upstream: str) -> None:
    steps = await steps_for(client, upstream, STREAMS[upstream])
    if client == upstream:
        assert "tool_schema_conversion" not in steps
        return
    table = steps["tool_schema_conversion"].table
    assert table is not None
    first = next(row for row in table.rows if any('"Take ' in text for text in row.taken))
    assert any('"Take ' in text for text in first.given)
    assert not any(row.before or row.after for row in table.rows)
    assert table.given == len(events_in(await _client_bytes(client, upstream)))


async def _client_bytes(client: str, upstream: str) -> bytes:
    request = {**REQUESTS[client], "stream": True}
    told = await explained(request, settings_for(upstream), STREAMS[upstream], upstream="upstream")
    assert told.answer is not None
    return told.answer.body


async def test_a_stream_that_nobody_asked_for_is_put_together() -> None:
    as_bytes = "[upstreams.middlewares.sse_rechunking]\nenabled = false"
    settings = settings_for("chat", more=as_bytes)
    told = await explained(REQUESTS["messages"], settings, STREAMS["chat"], upstream="upstream")
    assert told.answer is not None
    (step,) = [s for s in told.answer.steps if s.layer == "tool_schema_conversion"]
    assert step.told.startswith("puts the stream together")
    assert not told.answer.is_stream
    assert told.answer.seen["content"] == [{"type": "text", "text": "Take an umbrella."}]


async def test_a_whole_answer_to_a_request_for_a_stream_is_spelled_out() -> None:
    request = {**REQUESTS["messages"], "stream": True}
    told = await explained(request, settings_for("chat"), ANSWERS["chat"], upstream="upstream")
    assert told.answer is not None
    (step,) = [s for s in told.answer.steps if s.layer == "tool_schema_conversion"]
    assert step.told.startswith("spells the whole answer out")
    assert told.answer.is_stream
    assert told.answer.seen["content"][0]["text"] == "Take an umbrella."


# --------------------------------------------------------------------------- the client's view
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


def test_a_message_is_put_together_block_by_block() -> None:
    citation = {"type": "char_location"}
    pieces: list[tuple[dict[str, Any], list[dict[str, Any]]]] = [
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
                {"type": "citations_delta", "citation": citation},
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
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": {"id": "m", "usage": {"input_tokens": 3}}}
    ]
    for index, (block, deltas) in enumerate(pieces):
        events.append({"type": "content_block_start", "index": index, "content_block": block})
        events += [
            {"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas
        ]
        events.append({"type": "content_block_stop", "index": index})
    usage = {"input_tokens": None, "output_tokens": 4}
    events.append({"type": "message_delta", "delta": {"stop_reason": "x"}, "usage": usage})
    seen = view("messages", events_in(stream_of(events)))
    assert not seen.complete
    assert seen.document == {
        "id": "m",
        "usage": {"input_tokens": 3, "output_tokens": 4},
        "content": [
            {"type": "thinking", "thinking": "Hm", "signature": "s"},
            {"type": "text", "text": "Hi", "citations": [citation]},
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
