"""Failures on request, and how the bytes of an answer go out."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import httpx2
import openai as sdk
import pytest
from anthropic import APIStatusError, AsyncAnthropic
from openai import AsyncOpenAI
from starlette.testclient import TestClient
from starlette.types import Message, Scope

from tests.proxy.demo.wire import HEADERS, PATHS, body, events, post, valid_events
from toolwire.proxy.demo import create_demo

CLIENT = TestClient(create_demo(delay=0), headers=HEADERS)


def test_crlf() -> None:
    request = {**body("chat", stream=True), "model": "demo+crlf"}
    raw = CLIENT.post(PATHS["chat"], json=request).text
    assert raw.count("\r\n") == raw.count("\n") > 0
    assert events(raw.replace("\r\n", "\n"))[-1] == "[DONE]"


@pytest.mark.parametrize("protocol", PATHS)
async def test_a_cut_answer_never_ends(url: str, protocol: str) -> None:
    for stream in (False, True):
        request = {**body(protocol, stream=stream), "model": "demo+cut"}
        with pytest.raises(httpx2.RemoteProtocolError):
            await post(url, protocol, request)


@pytest.mark.parametrize("protocol", PATHS)
def test_an_error_in_the_middle(protocol: str) -> None:
    request = {**body(protocol, stream=True), "model": "demo+error-mid-stream"}
    found = valid_events(protocol, "\n\n".join(sse_without_errors(protocol, request)) + "\n\n")
    assert found
    last = events(CLIENT.post(PATHS[protocol], json=request).text)[-1]
    if protocol == "chat":
        assert last["error"]["type"] == "server_error"
    elif protocol == "messages":
        assert (last["type"], last["error"]["type"]) == ("error", "overloaded_error")
    else:
        assert (last["type"], last["response"]["status"]) == ("response.failed", "failed")
        assert last["response"]["error"]["code"] == "server_error"


def sse_without_errors(protocol: str, request: dict[str, Any]) -> list[str]:
    """The events of a stream but the error of chat and messages, which the types do not know."""
    blocks = CLIENT.post(PATHS[protocol], json=request).text.split("\n\n")[:-1]
    assert "[DONE]" not in blocks[-1] and "message_stop" not in blocks[-1]
    return blocks if protocol == "responses" else blocks[:-1]


async def test_the_clients_see_the_error_in_the_middle(
    openai: AsyncOpenAI, anthropic: AsyncAnthropic
) -> None:
    said: Any = [{"role": "user", "content": "hi"}]
    model = "demo+error-mid-stream"
    with pytest.raises(sdk.APIError, match="in the middle of the stream"):
        async for _ in await openai.chat.completions.create(
            model=model, messages=said, stream=True
        ):
            pass
    with pytest.raises(APIStatusError, match="overloaded_error"):
        async with anthropic.messages.stream(model=model, max_tokens=9, messages=said) as stream:
            await stream.get_final_message()
    stream_of_events = await openai.responses.create(model=model, input="hi", stream=True)
    assert [event.type async for event in stream_of_events][-1] == "response.failed"


@pytest.mark.parametrize("protocol", PATHS)
def test_an_error_under_status_200(protocol: str) -> None:
    for stream in (False, True):
        request = {**body(protocol, stream=stream), "model": "demo+error-200"}
        answer = CLIENT.post(PATHS[protocol], json=request)
        assert answer.status_code == 200
        assert answer.json()["error"]["message"] == "Provider returned error"


@pytest.mark.parametrize(
    ("quirk", "protocol", "status"),
    [
        ("rate-limit", "chat", 429),
        ("rate-limit", "messages", 429),
        ("overloaded", "chat", 503),
        ("overloaded", "messages", 529),
        ("overloaded", "responses", 503),
        ("server-error", "responses", 500),
        ("html-error", "chat", 502),
    ],
)
def test_failures_have_their_status(quirk: str, protocol: str, status: int) -> None:
    answer = CLIENT.post(PATHS[protocol], json={**body(protocol), "model": f"demo+{quirk}"})
    assert answer.status_code == status
    assert (answer.headers.get("retry-after") == "1") is (quirk == "rate-limit")
    assert answer.headers["content-type"].startswith("text/html") is (quirk == "html-error")


async def written(quirk: str, request: dict[str, Any], delay: float = 0) -> list[bytes]:
    """The body of each message that the application sends; with a delay, the client leaves."""
    sent: list[bytes] = []
    leaves = asyncio.Event()
    if delay:
        leaves.set()
    received: list[Message] = [
        {"type": "http.request", "body": json.dumps(request).encode(), "more_body": False},
        {"type": "http.disconnect"},
    ]

    async def receive() -> Message:
        if len(received) == 1:
            await leaves.wait()
        return received.pop(0)

    async def send(message: Message) -> None:
        if message["type"] == "http.response.body":
            sent.append(message["body"])
            if not message["more_body"]:
                leaves.set()

    scope: Scope = {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "http_version": "1.1",
        "method": "POST",
        "path": PATHS["chat"],
        "raw_path": PATHS["chat"].encode(),
        "query_string": b"",
        "headers": [(b"x-demo-quirk", quirk.encode())],
    }
    await create_demo(delay=delay)(scope, receive, send)
    return sent


async def test_a_client_that_leaves_ends_a_slow_answer() -> None:
    async with asyncio.timeout(60):  # far less than the answer would take
        assert await written("slow", body("chat", stream=True), delay=3600) == []


async def test_one_byte_writes() -> None:
    request = body("chat", stream=True)
    *crumbs, last = await written("one-byte", request)
    assert {len(crumb) for crumb in crumbs} == {1} and last == b""
    assert b"".join(crumbs) == b"".join(await written("", request))


async def test_writes_that_end_inside_characters() -> None:
    request = body("chat", "Grüße 🌧️", stream=True)
    crumbs = await written("split-utf8", request)
    broken = 0
    for crumb in crumbs:
        try:
            crumb.decode()
        except UnicodeDecodeError:
            broken += 1
    assert broken > 4
    assert b"".join(crumbs) == b"".join(await written("", request))


async def test_one_event_a_write_otherwise() -> None:
    *pieces, last = await written("", body("chat", stream=True))
    assert all(piece.endswith(b"\n\n") and piece.count(b"\n\n") == 1 for piece in pieces)
    assert last == b""


async def test_the_slow_one_says_the_same(url: str) -> None:
    request = body("chat", stream=True)
    headers = {"x-demo-quirk": "slow"}
    slow = await post(url, "chat", request, **headers)
    fast = await post(url, "chat", request)
    assert slow.text == fast.text
