"""Upstreams that stream though nobody asked, or do not though somebody did."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.asgi import Upstream, ask
from toolwire.config.model import Upstream as UpstreamSettings
from toolwire.middlewares.answer_repair import AnswerRepair
from toolwire.middlewares.key_canonicalization import KeyCanonicalization
from toolwire.middlewares.sse_rechunking import SSERechunking
from toolwire.middlewares.tool_schema_conversion import ToolSchemaConversion
from toolwire.proxy.asgi import Receive, Scope, Send
from toolwire.proxy.errors import BadUpstreamAnswer, UpstreamCut, UpstreamTimeout
from toolwire.proxy.protocols.registry import CODECS
from toolwire.proxy.protocols.sse import Event

CHUNK = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}
STREAM = [
    {**CHUNK, "choices": [{"index": 0, "delta": {"role": "assistant", "content": "hel"}}]},
    {**CHUNK, "choices": [{"index": 0, "delta": {"content": "lo"}}]},
    {**CHUNK, "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]},
]
WRITES = [*(b"data: %b\n\n" % json.dumps(chunk).encode() for chunk in STREAM), b"data: [DONE]\n\n"]
WHOLE = {
    "id": "c",
    "object": "chat.completion",
    "created": 1,
    "model": "m",
    "choices": [
        {
            "index": 0,
            "message": {"role": "assistant", "content": "hello"},
            "finish_reason": "stop",
        }
    ],
}
REQUEST: dict[str, Any] = {
    "model": "m",
    "max_tokens": 9,
    "messages": [{"role": "user", "content": "hi"}],
}


def converted(upstream: Upstream, *, rechunked: bool) -> ToolSchemaConversion:
    settings = UpstreamSettings(name="u", protocol="chat", base_url="http://u")
    inner = SSERechunking(upstream) if rechunked else upstream
    return ToolSchemaConversion(inner, upstream=settings)


@pytest.mark.parametrize("rechunked", [True, False])
async def test_a_stream_that_nobody_asked_for_is_collected(rechunked: bool) -> None:
    upstream = Upstream(WRITES, content_type="text/event-stream")
    reply = await ask(converted(upstream, rechunked=rechunked), "/v1/messages", REQUEST)
    assert reply.headers["content-type"] == "application/json"
    assert reply.json()["content"] == [{"type": "text", "text": "hello"}]
    assert reply.json()["stop_reason"] == "end_turn"


@pytest.mark.parametrize("rechunked", [True, False])
async def test_an_answer_that_should_have_been_a_stream_becomes_one(rechunked: bool) -> None:
    upstream = Upstream(json.dumps(WHOLE).encode())
    app = converted(upstream, rechunked=rechunked)
    reply = await ask(app, "/v1/messages", {**REQUEST, "stream": True})
    assert reply.headers["content-type"].startswith("text/event-stream")
    names = [line[7:] for line in reply.body.decode().splitlines() if line.startswith("event: ")]
    assert names[0] == "message_start"
    assert names[-1] == "message_stop"
    assert b'"text":"hello"' in reply.body


def test_a_byte_that_is_no_text_in_a_field_that_nobody_reads() -> None:
    repair = CODECS["responses"].stream_repair()
    data = b'{"type":"response.created","odd":"\xff","response":{"id":"resp_1","output":[]}}'
    events = repair.feed([Event(data, None)])
    assert json.loads(events[0].data or b"")["odd"] == "\ufffd"


ANSWERS = {
    "/v1/chat/completions": {**WHOLE, "provider": "unknown here"},
    "/v1/messages": {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": [{"type": "text", "text": "hello"}],
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 1, "output_tokens": 1},
        "unknown": 1,
    },
    "/v1/responses": {
        "id": "resp_1",
        "object": "response",
        "created_at": 1,
        "status": "completed",
        "model": "m",
        "output": [
            {
                "id": "msg_1",
                "type": "message",
                "role": "assistant",
                "status": "completed",
                "content": [{"type": "output_text", "text": "hello", "annotations": []}],
            }
        ],
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "unknown": 1,
    },
}
"""A whole answer of each protocol, by the path that it is an answer of."""


def answered(upstream: Upstream, *, rechunked: bool) -> KeyCanonicalization:
    """Client and upstream speak the same; somebody outside has read the request."""
    inner = SSERechunking(upstream) if rechunked else upstream
    return KeyCanonicalization(AnswerRepair(inner))


@pytest.mark.parametrize("rechunked", [True, False])
@pytest.mark.parametrize("path", ANSWERS)
async def test_of_the_same_protocol_both_ways(path: str, rechunked: bool) -> None:
    whole = Upstream(json.dumps(ANSWERS[path]).encode())
    asked = await ask(answered(whole, rechunked=rechunked), path, {**REQUEST, "stream": True})
    assert asked.headers["content-type"].startswith("text/event-stream")
    assert b'"hello"' in asked.body

    stream = Upstream([asked.body[:70], asked.body[70:]], content_type="text/event-stream")
    told = await ask(answered(stream, rechunked=rechunked), path, REQUEST)
    assert told.headers["content-type"] == "application/json"
    expected: dict[str, Any] = ANSWERS[path]
    assert {**told.json(), "choices": 0} == {**expected, "choices": 0}
    if "choices" in expected:
        assert told.json()["choices"][0].items() >= expected["choices"][0].items()


@pytest.mark.parametrize("asked", [True, False])
async def test_what_was_asked_for_passes_byte_for_byte(asked: bool) -> None:
    path = "/v1/chat/completions"
    body = b"".join(WRITES) if asked else json.dumps(WHOLE).encode()
    kind = "text/event-stream" if asked else "application/json"
    upstream = Upstream(body, content_type=kind)
    reply = await ask(answered(upstream, rechunked=True), path, {**REQUEST, "stream": asked})
    assert reply.body == body


async def test_a_stream_passes_where_nobody_has_read_the_request() -> None:
    upstream = Upstream(WRITES, content_type="text/event-stream")
    reply = await ask(AnswerRepair(upstream), "/v1/chat/completions", REQUEST)
    assert reply.body == b"".join(WRITES)


async def test_a_background_response_that_is_not_done_stays_what_it_is() -> None:
    queued = {**ANSWERS["/v1/responses"], "status": "queued", "output": [], "background": True}
    upstream = Upstream(json.dumps(queued).encode())
    request = {**REQUEST, "stream": True, "background": True}
    reply = await ask(answered(upstream, rechunked=True), "/v1/responses", request)
    assert reply.json() == queued


BEGUN: dict[str, list[dict[str, Any]]] = {
    "/v1/chat/completions": STREAM[:2],
    "/v1/messages": [{"type": "message_start", "message": ANSWERS["/v1/messages"]}],
    "/v1/responses": [{"type": "response.created", "response": ANSWERS["/v1/responses"]}],
}
"""How a stream begins."""


def begun(path: str) -> bytes:
    return b"".join(b"data: %b\n\n" % json.dumps(event).encode() for event in BEGUN[path])


@pytest.mark.parametrize("rechunked", [True, False])
@pytest.mark.parametrize("path", BEGUN)
@pytest.mark.parametrize("rest", [b"", b'data: {"type": "cut in the mid'])
async def test_an_unasked_stream_that_breaks_off_is_an_error(
    path: str, rechunked: bool, rest: bytes
) -> None:
    upstream = Upstream([begun(path) + rest], content_type="text/event-stream")
    with pytest.raises(UpstreamCut, match="broke off"):
        await ask(answered(upstream, rechunked=rechunked), path, REQUEST)


@pytest.mark.parametrize("path", BEGUN)
async def test_of_an_unasked_stream_the_error_is_the_one_that_ended_it(path: str) -> None:
    async def silent(scope: Scope, receive: Receive, send: Send) -> None:
        headers = [(b"content-type", b"text/event-stream")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": begun(path), "more_body": True})
        raise UpstreamTimeout("nothing for 9 s")

    inner = KeyCanonicalization(AnswerRepair(SSERechunking(silent)))
    with pytest.raises(UpstreamTimeout, match="9 s"):
        await ask(inner, path, REQUEST)


ERRORS: dict[str, dict[str, Any]] = {
    "/v1/chat/completions": {"error": {"message": "no", "type": "t", "code": "some_code"}},
    "/v1/messages": {
        "type": "error",
        "error": {"type": "api_error", "message": "no", "code": "some_code"},
    },
    "/v1/responses": {"type": "error", "message": "no", "code": "some_code", "param": None},
}


@pytest.mark.parametrize("path", ERRORS)
async def test_an_unasked_stream_that_tells_an_error_is_that_error(path: str) -> None:
    error = b"data: %b\n\n" % json.dumps(ERRORS[path]).encode()
    upstream = Upstream([begun(path), error], content_type="text/event-stream")
    with pytest.raises(BadUpstreamAnswer, match=r"^no$") as raised:
        await ask(answered(upstream, rechunked=True), path, REQUEST)
    assert raised.value.code == "some_code"
