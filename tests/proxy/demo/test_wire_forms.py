"""Answers and streams against the SDKs' types, and against each other."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.proxy.demo.wire import (
    CUSTOM,
    PATHS,
    THINK,
    WEATHER,
    body,
    post,
    valid_answer,
    valid_events,
)

SITUATIONS: dict[str, dict[str, Any]] = {
    "text": {},
    "one call": {"tools": True},
    "two calls": {"tools": True, "text": "What is the weather in Paris and Oslo?"},
    "thinking": {"think": True},
    "thinking and a call": {"think": True, "tools": True},
    "cut text": {"limit": 16, "text": "a " * 40},
    "text cut after thinking": {"limit": 16, "think": True},
}


def request_for(protocol: str, situation: dict[str, Any]) -> dict[str, Any]:
    more: dict[str, Any] = {}
    if situation.get("tools"):
        more["tools"] = [WEATHER[protocol]]
    if situation.get("think"):
        more |= THINK[protocol]
    if limit := situation.get("limit"):
        name = {"chat": "max_completion_tokens", "responses": "max_output_tokens"}
        more[name.get(protocol, "max_tokens")] = limit
        more.pop("thinking", None)  # a budget has to be below the limit
        if protocol == "messages" and situation.get("think"):
            more["thinking"] = {"type": "adaptive"}
    return body(protocol, situation.get("text", "What is the weather in Oslo?"), **more)


@pytest.mark.parametrize("situation", SITUATIONS)
@pytest.mark.parametrize("protocol", PATHS)
async def test_a_stream_spells_out_the_answer(url: str, protocol: str, situation: str) -> None:
    request = request_for(protocol, SITUATIONS[situation])
    plain = await post(url, protocol, request)
    assert plain.status_code == 200, plain.text
    answer = valid_answer(protocol, plain.json())
    options = {"stream_options": {"include_usage": True}} if protocol == "chat" else {}
    streamed = await post(url, protocol, {**request, "stream": True, **options})
    assert streamed.headers["content-type"].startswith("text/event-stream")
    found = valid_events(protocol, streamed.text)
    ASSEMBLERS[protocol](answer, found)


def chat_says_the_same(answer: dict[str, Any], found: list[Any]) -> None:
    *chunks, usage, done = found
    assert done == "[DONE]"
    assert usage["choices"] == []
    assert usage["usage"] == answer["usage"]
    assert all(chunk["usage"] is None for chunk in chunks)
    message: dict[str, Any] = {}
    calls: dict[int, dict[str, Any]] = {}
    for chunk in chunks:
        (choice,) = chunk["choices"]
        delta = choice["delta"]
        assert ("role" in delta) == (chunk is chunks[0])
        for field in ("content", "reasoning_content"):
            if delta.get(field):
                message[field] = message.get(field, "") + delta[field]
        for piece in delta.get("tool_calls", ()):
            if piece["index"] not in calls:
                assert piece["id"] and piece["function"]["name"]
                calls[piece["index"]] = {"id": piece["id"], **piece["function"]}
            else:
                assert "id" not in piece and "name" not in piece["function"]
                calls[piece["index"]]["arguments"] += piece["function"]["arguments"]
    reasons = [chunk["choices"][0]["finish_reason"] for chunk in chunks]
    (choice,) = answer["choices"]
    assert reasons == [None] * (len(chunks) - 1) + [choice["finish_reason"]]
    whole = choice["message"]
    assert message.get("content") == (whole["content"] or None)
    assert message.get("reasoning_content") == whole.get("reasoning_content")
    assert list(calls.values()) == [
        {"id": call["id"], **call["function"]} for call in whole.get("tool_calls", ())
    ]


def messages_say_the_same(answer: dict[str, Any], found: list[Any]) -> None:
    names = [event["type"] for event in found]
    assert names[0] == "message_start" and names[-2:] == ["message_delta", "message_stop"]
    assert found[0]["message"]["id"] == answer["id"]
    assert found[-2]["delta"]["stop_reason"] == answer["stop_reason"]
    usage = found[-2]["usage"]
    assert usage == {key: answer["usage"][key] for key in usage}
    blocks: list[dict[str, Any]] = []
    open_at: int | None = None
    for event in found[1:-2]:
        match event["type"]:
            case "content_block_start":
                assert open_at is None and event["index"] == len(blocks)
                open_at = event["index"]
                blocks.append({**event["content_block"], "json": ""})
            case "content_block_delta":
                assert event["index"] == open_at
                for key, value in event["delta"].items():
                    name = "json" if key == "partial_json" else key
                    blocks[-1][name] = value if name == "type" else blocks[-1][name] + value
            case "content_block_stop":
                assert event["index"] == open_at
                open_at = None
    assert open_at is None
    for block, whole in zip(blocks, answer["content"], strict=True):
        match whole["type"]:
            case "text":
                assert block["text"] == whole["text"]
            case "thinking":
                assert (block["thinking"], block["signature"]) == (
                    whole["thinking"],
                    whole["signature"],
                )
            case "tool_use":
                assert (block["id"], block["name"]) == (whole["id"], whole["name"])
                assert json.loads(block["json"] or "{}") == whole["input"]


def responses_say_the_same(answer: dict[str, Any], found: list[Any]) -> None:
    assert [event["sequence_number"] for event in found] == list(range(len(found)))
    assert [e["type"] for e in found[:2]] == ["response.created", "response.in_progress"]
    assert found[-1] == {
        "type": f"response.{answer['status']}",
        "sequence_number": len(found) - 1,
        "response": answer,
    }
    done = [e["item"] for e in found if e["type"] == "response.output_item.done"]
    assert done == answer["output"]
    for index, item in enumerate(answer["output"]):
        steps = [e for e in found if e.get("output_index") == index]
        assert steps[0]["type"] == "response.output_item.added"
        assert steps[-1]["type"] == "response.output_item.done"
        assert {e["item_id"] for e in steps[1:-1]} == {item["id"]}
        spelled = "".join(e["delta"] for e in steps if "delta" in e)
        whole = whole_text(item)
        assert spelled == whole


def whole_text(item: dict[str, Any]) -> str:
    parts = item.get("summary") or item.get("content")
    text = parts[0]["text"] if parts else item.get("arguments", item.get("input"))
    assert isinstance(text, str)
    return text


ASSEMBLERS = {
    "chat": chat_says_the_same,
    "messages": messages_say_the_same,
    "responses": responses_say_the_same,
}


async def test_free_form_calls_of_responses(url: str) -> None:
    request = body("responses", "run ls", tools=[CUSTOM["responses"]])
    plain = await post(url, "responses", request)
    answer = valid_answer("responses", plain.json())
    (call,) = answer["output"]
    assert (call["type"], call["name"], call["input"]) == ("custom_tool_call", "shell", "run ls")
    streamed = await post(url, "responses", {**request, "stream": True})
    responses_say_the_same(answer, valid_events("responses", streamed.text))


async def test_free_form_calls_of_chat(url: str) -> None:
    request = body("chat", "run ls", tools=[CUSTOM["chat"]])
    answer = valid_answer("chat", (await post(url, "chat", request)).json())
    (call,) = answer["choices"][0]["message"]["tool_calls"]
    assert (call["type"], call["custom"]) == ("custom", {"name": "shell", "input": "run ls"})
    # The SDK's type of a chunk knows function calls only, so that this stream is read as it is.
    streamed = await post(url, "chat", {**request, "stream": True})
    deltas = [
        json.loads(line.removeprefix("data: "))["choices"][0]["delta"]
        for line in streamed.text.split("\n\n")
        if line.startswith("data: {")
    ]
    pieces = [piece for delta in deltas for piece in delta.get("tool_calls", ())]
    assert pieces[0] == {
        "index": 0,
        "id": call["id"],
        "type": "custom",
        "custom": {"name": "shell", "input": ""},
    }
    assert "".join(piece["custom"]["input"] for piece in pieces) == "run ls"


@pytest.mark.parametrize("protocol", PATHS)
async def test_a_call_cut_by_the_limit_stays_cut(url: str, protocol: str) -> None:
    schema = {"type": "object", "properties": {"q": {"const": "word " * 40}}, "required": ["q"]}
    tool = {
        "chat": {"type": "function", "function": {"name": "search", "parameters": schema}},
        "messages": {"name": "search", "input_schema": schema},
        "responses": {"type": "function", "name": "search", "parameters": schema},
    }[protocol]
    limit = {"chat": "max_tokens", "messages": "max_tokens", "responses": "max_output_tokens"}
    request = body(protocol, tools=[tool], **{limit[protocol]: 20})
    answer = valid_answer(protocol, (await post(url, protocol, request)).json())
    raw = (await post(url, protocol, {**request, "stream": True})).text
    found = valid_events(protocol, raw)
    if protocol == "chat":
        (choice,) = answer["choices"]
        assert choice["finish_reason"] == "length"
        assert choice["message"]["tool_calls"][0]["function"]["arguments"].startswith('{"q":"word')
    elif protocol == "messages":
        assert answer["stop_reason"] == "max_tokens"
        assert answer["content"][0]["input"] == {}
        pieces = [e["delta"]["partial_json"] for e in found if e["type"] == "content_block_delta"]
        assert "".join(pieces).startswith('{"q":"word')
    else:
        assert answer["status"] == "incomplete"
        assert answer["incomplete_details"] == {"reason": "max_output_tokens"}
        assert answer["output"][0]["status"] == "incomplete"
