"""Upstreams that stream though nobody asked, or do not though somebody did."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.asgi import Upstream, ask
from toolwire.config.model import Upstream as UpstreamSettings
from toolwire.middlewares.sse_rechunking import SSERechunking
from toolwire.middlewares.tool_schema_conversion import ToolSchemaConversion
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
