"""What the demo does wrong on request."""

from __future__ import annotations

import json
from typing import Any

import httpx2
import openai as sdk
import pytest
from anthropic import APIStatusError, AsyncAnthropic
from openai import AsyncOpenAI
from starlette.testclient import TestClient
from starlette.types import Message, Scope

from tests.proxy.demo.wire import HEADERS, PATHS, SCHEMA, WEATHER, body, events, post, valid_events
from toolwire.proxy.demo import QUIRKS, create_demo

TOOLS: list[Any] = [WEATHER["chat"]]
TWO = "What is the weather in Oslo and Rome?"
CLIENT = TestClient(create_demo(delay=0), headers=HEADERS)


def chat(quirks: str, text: str = TWO, **more: Any) -> httpx2.Response:
    request = body("chat", text, **{"tools": TOOLS, **more})
    return CLIENT.post(PATHS["chat"], json={**request, "model": f"demo+{quirks}"})


def deltas(answer: httpx2.Response) -> list[dict[str, Any]]:
    chunks = [event for event in events(answer.text) if event != "[DONE]"]
    return [choice["delta"] for chunk in chunks for choice in chunk["choices"]]


def calls(answer: httpx2.Response) -> list[dict[str, Any]]:
    found = answer.json()["choices"][0]["message"]["tool_calls"]
    assert isinstance(found, list)
    return found


def test_each_has_a_name_and_a_line_about_it() -> None:
    for name, quirk in QUIRKS.items():
        assert quirk.name == name
        assert quirk.doc and "\n" not in quirk.doc


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("name", QUIRKS)
def test_each_is_played_in_its_protocols_and_refused_in_others(name: str, stream: bool) -> None:
    for protocol in PATHS:
        quirk = QUIRKS[name]
        request = body(protocol, TWO, tools=[WEATHER[protocol]], stream=stream)
        request = {**request, "model": f"demo+{name}"}
        if protocol not in {known.value for known in quirk.protocols}:
            answer = CLIENT.post(PATHS[protocol], json=request)
            assert answer.status_code == 400
            assert f"The quirk '{name}' is one of chat" in answer.text
            continue
        answer = CLIENT.post(PATHS[protocol], json=request)
        failing = quirk.before is not None
        assert (answer.status_code == 200) is (not failing or name == "error-200"), answer.text


def test_unknown_names_are_refused_with_those_that_are_known() -> None:
    answer = chat("slwo")
    assert answer.status_code == 400
    message = answer.json()["error"]["message"]
    assert "No such quirk: 'slwo'" in message and "slow" in message
    header = CLIENT.post(PATHS["chat"], json=body("chat"), headers={"x-demo-quirk": "fast"})
    assert "No such quirk: 'fast'" in header.json()["error"]["message"]


def test_any_model_may_ask_for_quirks_and_keep_its_own_plus() -> None:
    asked = {**body("chat"), "model": "command-r+08+rate-limit"}
    assert CLIENT.post(PATHS["chat"], json=asked).status_code == 429
    plain = {**body("chat"), "model": "command-r+08"}
    assert CLIENT.post(PATHS["chat"], json=plain).status_code == 200


def test_the_header_asks_for_several() -> None:
    answer = CLIENT.post(
        PATHS["chat"],
        json=body("chat", TWO, tools=TOOLS),
        headers={"x-demo-quirk": "empty-ids, stop-beside-calls"},
    )
    assert [call["id"] for call in calls(answer)] == ["", ""]
    assert answer.json()["choices"][0]["finish_reason"] == "stop"


@pytest.mark.parametrize(
    "choice",
    ["required", {"type": "function", "function": {"name": "get_weather"}}],
)
def test_bailian_refuses_a_forced_choice_while_it_thinks(choice: Any) -> None:
    answer = chat("bailian-400", tool_choice=choice)
    assert answer.status_code == 400
    error = answer.json()["error"]
    assert "does not support being set to required or object in thinking mode" in error["message"]
    assert error["code"] == "invalid_parameter_error"
    assert chat("bailian-400", tool_choice=choice, thinking_budget=9).status_code == 400
    assert calls(chat("bailian-400", tool_choice=choice, enable_thinking=False))


def test_bailian_thinks_by_default() -> None:
    thinking = chat("bailian-400").json()["choices"][0]["message"]
    assert thinking["reasoning_content"]
    switched_off = chat("bailian-400", enable_thinking=False).json()["choices"][0]["message"]
    assert "reasoning_content" not in switched_off


@pytest.mark.parametrize(
    ("carried", "more", "status"),
    [
        ({}, {}, 400),
        ({"reasoning_content": None}, {}, 400),
        ({"reasoning_content": ""}, {}, 200),
        ({"reasoning_content": "hm"}, {}, 200),
        ({}, {"thinking": {"type": "disabled"}}, 200),
    ],
)
def test_deepseek_wants_its_reasoning_back(
    carried: dict[str, Any], more: dict[str, Any], status: int
) -> None:
    call = {"id": "c", "type": "function", "function": {"name": "get_weather", "arguments": "{}"}}
    history = [
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": "", "tool_calls": [call], **carried},
        {"role": "tool", "tool_call_id": "c", "content": "5 °C"},
    ]
    answer = chat("deepseek-400", messages=history, **more)
    assert answer.status_code == status
    if status == 400:
        assert answer.json()["error"]["message"] == (
            "The `reasoning_content` in the thinking mode must be passed back to the API."
        )


def test_deepseek_answers_a_first_turn() -> None:
    assert chat("deepseek-400").json()["choices"][0]["message"]["reasoning_content"]


def test_empty_ids_in_a_stream() -> None:
    found = [
        piece for d in deltas(chat("empty-ids", stream=True)) for piece in d.get("tool_calls", ())
    ]
    assert [piece["id"] for piece in found if "id" in piece] == ["", ""]


def test_missing_index() -> None:
    found = [p for d in deltas(chat("missing-index", stream=True)) for p in d.get("tool_calls", ())]
    assert found and all("index" not in piece for piece in found)


def test_stop_beside_calls_in_messages() -> None:
    request = {
        **body("messages", TWO, tools=[WEATHER["messages"]]),
        "model": "demo+stop-beside-calls",
    }
    answer = CLIENT.post(PATHS["messages"], json=request).json()
    assert answer["stop_reason"] == "end_turn"
    assert answer["content"][0]["type"] == "tool_use"


def test_stop_beside_calls_in_a_stream() -> None:
    raw = chat("stop-beside-calls", stream=True).text
    reasons = [c["choices"][0]["finish_reason"] for c in events(raw)[:-1]]
    assert [reason for reason in reasons if reason] == ["stop"]


def test_arguments_as_an_object() -> None:
    found = [call["function"]["arguments"] for call in calls(chat("arguments-object"))]
    assert found == [{"city": "Oslo"}, {"city": "Rome"}]
    streamed = chat("arguments-object", stream=True)
    pieces = [p["function"] for d in deltas(streamed) for p in d.get("tool_calls", ())]
    assert [p["arguments"] for p in pieces] == ["", {"city": "Oslo"}, "", {"city": "Rome"}]


def test_interleaved_calls_still_come_together() -> None:
    pieces = [p for d in deltas(chat("interleaved", stream=True)) for p in d.get("tool_calls", ())]
    indices = [piece["index"] for piece in pieces]
    assert indices[:4] == [0, 1, 0, 1]
    texts = ["".join(p["function"]["arguments"] for p in pieces if p["index"] == i) for i in (0, 1)]
    assert [json.loads(text) for text in texts] == [{"city": "Oslo"}, {"city": "Rome"}]


def test_interleaved_calls_of_different_length() -> None:
    plain = deltas(chat("no-done", "Weather in Oslo and Saint Petersburg", stream=True))
    mixed = deltas(chat("no-done+interleaved", "Weather in Oslo and Saint Petersburg", stream=True))
    assert plain != mixed

    def written(delta: dict[str, Any]) -> str:
        # The ids are made from the request, and the model's name is part of it.
        return json.dumps([{**p, "id": None} for p in delta.get("tool_calls", ())])

    assert sorted(map(written, plain)) == sorted(map(written, mixed))


def test_missing_index_of_interleaved_calls() -> None:
    pieces = [
        piece
        for delta in deltas(chat("missing-index+interleaved", stream=True))
        for piece in delta.get("tool_calls", ())
    ]
    assert [("id" in piece, "index" in piece) for piece in pieces[:3]] == [
        (True, False),
        (True, False),
        (False, False),
    ]


def test_think_tags() -> None:
    message = chat("think-tags", "hi", tools=None, reasoning_effort="low").json()["choices"][0][
        "message"
    ]
    assert "reasoning_content" not in message
    assert message["content"].startswith("<think>\nNothing to look up")
    assert "</think>\n\n✓ You said: “hi”" in message["content"]
    streamed = deltas(chat("think-tags", "hi", tools=None, reasoning_effort="low", stream=True))
    assert "".join(d.get("content") or "" for d in streamed) == message["content"]


def test_role_in_every_chunk() -> None:
    assert all(d["role"] == "assistant" for d in deltas(chat("role-every-chunk", stream=True)))


def test_usage_in_every_chunk_grows_to_the_whole() -> None:
    *chunks, _ = events(chat("usage-every-chunk", stream=True).text)
    spoken = [chunk["usage"]["completion_tokens"] for chunk in chunks]
    assert spoken == sorted(spoken) and spoken[0] < spoken[-1]
    whole = chat("usage-every-chunk").json()["usage"]
    assert chunks[-1]["usage"] == whole


def test_no_done() -> None:
    assert "[DONE]" in chat("slow", stream=True).text
    found = events(chat("no-done", stream=True).text)
    assert found[-1]["choices"][0]["finish_reason"] == "tool_calls"


def test_crlf() -> None:
    raw = chat("crlf", stream=True).text
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


async def written(quirk: str, request: dict[str, Any]) -> list[bytes]:
    """The body of each message that the application sends."""
    sent: list[bytes] = []
    received = [{"type": "http.request", "body": json.dumps(request).encode(), "more_body": False}]

    async def receive() -> Message:
        return received.pop(0)

    async def send(message: Message) -> None:
        if message["type"] == "http.response.body":
            sent.append(message["body"])

    scope: Scope = {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.4"},
        "http_version": "1.1",
        "method": "POST",
        "path": PATHS["chat"],
        "raw_path": PATHS["chat"].encode(),
        "query_string": b"",
        "headers": [(b"x-demo-quirk", quirk.encode())],
    }
    await create_demo(delay=0)(scope, receive, send)
    return sent


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


def test_a_schema_for_arguments_as_an_object_survives_the_limit() -> None:
    schema = {**SCHEMA, "properties": {"city": {"const": "word " * 40}}}
    tool = {"type": "function", "function": {"name": "get_weather", "parameters": schema}}
    answer = chat("arguments-object", "hi", tools=[tool], max_tokens=9)
    assert calls(answer)[0]["function"]["arguments"].startswith('{"city":"word')
