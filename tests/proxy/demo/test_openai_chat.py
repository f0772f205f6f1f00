"""The official OpenAI client in conversation with the demo's Chat Completions."""

from __future__ import annotations

import json
from typing import Any

import openai as sdk
import pytest
from openai import AsyncOpenAI
from pydantic import BaseModel

from tests.proxy.demo.wire import SCHEMA, WEATHER

TIME = {"type": "function", "function": {"name": "get_time", "parameters": SCHEMA}}
TOOLS: list[Any] = [WEATHER["chat"], TIME]


async def ask(client: AsyncOpenAI, text: str, **more: Any) -> Any:
    said: Any = [{"role": "user", "content": text}]
    return await client.chat.completions.create(model="demo", messages=said, **more)


def called(answer: Any) -> list[tuple[str, Any]]:
    calls = answer.choices[0].message.tool_calls or []
    return [(call.function.name, json.loads(call.function.arguments)) for call in calls]


async def test_a_tool_loop(openai: AsyncOpenAI) -> None:
    history: list[Any] = [{"role": "user", "content": "What is the weather in Oslo?"}]
    first = await openai.chat.completions.create(model="demo", messages=history, tools=TOOLS)
    assert called(first) == [("get_weather", {"city": "Oslo"})]
    assert first.choices[0].finish_reason == "tool_calls"
    message = first.choices[0].message
    assert message.tool_calls is not None
    history += [
        message.model_dump(exclude_none=True),
        {"role": "tool", "tool_call_id": message.tool_calls[0].id, "content": "5 °C, rain"},
    ]
    second = await openai.chat.completions.create(model="demo", messages=history, tools=TOOLS)
    assert second.choices[0].finish_reason == "stop"
    assert "get_weather answered: “5 °C, rain”" in (second.choices[0].message.content or "")


async def test_a_user_message_after_the_results_still_gets_their_answer(
    openai: AsyncOpenAI,
) -> None:
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}
    call = {"id": "call_1", "type": "function"}
    history: list[Any] = [
        {"role": "user", "content": "Look at Oslo"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{**call, "function": {"name": "get_weather", "arguments": "{}"}}],
        },
        {"role": "tool", "tool_call_id": "call_1", "content": "see the picture"},
        {"role": "user", "content": [{"type": "text", "text": "Image of call_1:"}, picture]},
    ]
    answer = await openai.chat.completions.create(model="demo", messages=history, tools=TOOLS)
    text = answer.choices[0].message.content or ""
    assert "get_weather answered: “see the picture”" in text
    assert "Images seen: 1." in text


@pytest.mark.parametrize(
    ("text", "more", "expected"),
    [
        ("What is the time?", {}, ["get_time"]),
        ("Use get_time for Oslo", {}, ["get_time"]),
        ("Use get_time and get_weather", {}, ["get_time", "get_weather"]),
        ("Weather and time, both please", {}, ["get_weather", "get_time"]),
        ("Weather in Oslo and Rome", {}, ["get_weather", "get_weather"]),
        ("Weather in Oslo and Rome", {"parallel_tool_calls": False}, ["get_weather"]),
        ("Use get_time and get_weather", {"parallel_tool_calls": False}, ["get_time"]),
        ("Use get_time", {"tool_choice": "none"}, []),
        ("Hello", {"tool_choice": "required"}, ["get_weather"]),
        (
            "Use get_weather",
            {"tool_choice": {"type": "function", "function": {"name": "get_time"}}},
            ["get_time"],
        ),
        (
            "Use get_weather",
            {
                "tool_choice": {
                    "type": "allowed_tools",
                    "allowed_tools": {"mode": "auto", "tools": [TIME]},
                }
            },
            ["get_time"],
        ),
    ],
)
async def test_which_tools_are_called(
    openai: AsyncOpenAI, text: str, more: dict[str, Any], expected: list[str]
) -> None:
    answer = await ask(openai, text, tools=TOOLS, **more)
    assert [name for name, _ in called(answer)] == expected
    ids = [call.id for call in answer.choices[0].message.tool_calls or []]
    assert len(set(ids)) == len(ids)


async def test_a_forced_choice_calls_again_after_results(openai: AsyncOpenAI) -> None:
    first = await ask(openai, "Weather in Oslo?", tools=TOOLS, tool_choice="required")
    message = first.choices[0].message
    history: list[Any] = [
        {"role": "user", "content": "Weather in Oslo?"},
        message.model_dump(exclude_none=True),
        {"role": "tool", "tool_call_id": message.tool_calls[0].id, "content": "5 °C"},
    ]
    second = await openai.chat.completions.create(
        model="demo", messages=history, tools=TOOLS, tool_choice="required"
    )
    assert [name for name, _ in called(second)] == ["get_weather"]
    assert second.choices[0].message.tool_calls is not None
    assert second.choices[0].message.tool_calls[0].id != message.tool_calls[0].id


class Person(BaseModel):
    name: str
    age: int
    friends: list[str]


async def test_structured_output(openai: AsyncOpenAI) -> None:
    parsed = await openai.chat.completions.parse(
        model="demo",
        messages=[{"role": "user", "content": "Ann is 42"}],
        response_format=Person,
    )
    person = parsed.choices[0].message.parsed
    assert person is not None
    assert person.age == 42


async def test_json_without_a_schema(openai: AsyncOpenAI) -> None:
    answer = await ask(openai, "hi in json", response_format={"type": "json_object"})
    assert json.loads(answer.choices[0].message.content) == {"answer": "“hi in json”"}


async def test_the_streaming_client_assembles_parallel_calls(openai: AsyncOpenAI) -> None:
    async with openai.chat.completions.stream(
        model="demo",
        messages=[{"role": "user", "content": "Weather in Oslo and Rome"}],
        tools=TOOLS,
        stream_options={"include_usage": True},
    ) as stream:
        answer = await stream.get_final_completion()
    assert called(answer) == [
        ("get_weather", {"city": "Oslo"}),
        ("get_weather", {"city": "Rome"}),
    ]
    assert answer.usage is not None and answer.usage.total_tokens > 0


@pytest.mark.parametrize(
    ("more", "thinks"),
    [
        ({}, False),
        ({"reasoning_effort": "high"}, True),
        ({"reasoning_effort": "none"}, False),
        ({"extra_body": {"enable_thinking": True}}, True),
        ({"extra_body": {"enable_thinking": False}, "reasoning_effort": "high"}, False),
        ({"extra_body": {"thinking": {"type": "enabled"}}}, True),
        ({"extra_body": {"thinking": {"type": "disabled"}}}, False),
        ({"extra_body": {"reasoning": {"effort": "low"}}}, True),
    ],
)
async def test_when_it_thinks(openai: AsyncOpenAI, more: dict[str, Any], thinks: bool) -> None:
    answer = await ask(openai, "hi", **more)
    assert bool(getattr(answer.choices[0].message, "reasoning_content", None)) is thinks
    assert bool(answer.usage.completion_tokens_details.reasoning_tokens) is thinks


async def test_a_stop_sequence_ends_the_text(openai: AsyncOpenAI) -> None:
    answer = await ask(openai, "one two three", stop=["three", "two"])
    assert answer.choices[0].message.content == "✓ You said: “one "
    assert answer.choices[0].finish_reason == "stop"


async def test_long_prompts_are_partly_cached(openai: AsyncOpenAI) -> None:
    answer = await ask(openai, "word " * 2000)
    cached = answer.usage.prompt_tokens_details.cached_tokens
    assert 0 < cached < answer.usage.prompt_tokens
    assert cached % 128 == 0


@pytest.mark.parametrize(
    ("quirk", "error"),
    [
        ("rate-limit", sdk.RateLimitError),
        ("overloaded", sdk.InternalServerError),
        ("server-error", sdk.InternalServerError),
        ("html-error", sdk.InternalServerError),
    ],
)
async def test_the_clients_own_exceptions(
    openai: AsyncOpenAI, quirk: str, error: type[Exception]
) -> None:
    with pytest.raises(error):
        await openai.chat.completions.create(
            model=f"demo+{quirk}", messages=[{"role": "user", "content": "hi"}]
        )


async def test_a_bad_key_is_refused(url: str) -> None:
    async with AsyncOpenAI(base_url=f"{url}/v1", api_key="bad-key", max_retries=0) as client:
        with pytest.raises(sdk.AuthenticationError) as refused:
            await ask(client, "hi")
    assert refused.value.code == "invalid_api_key"
