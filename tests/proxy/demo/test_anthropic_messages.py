"""The official Anthropic client in conversation with the demo's Messages."""

from __future__ import annotations

import json
from typing import Any

import anthropic as sdk
import pytest
from anthropic import AsyncAnthropic, beta_async_tool
from pydantic import BaseModel

from tests.proxy.demo.wire import SCHEMA, WEATHER

TOOLS: list[Any] = [WEATHER["messages"], {"name": "get_time", "input_schema": SCHEMA}]
THINKING: Any = {"type": "enabled", "budget_tokens": 1024}


async def ask(client: AsyncAnthropic, said: Any, **more: Any) -> Any:
    messages: Any = [{"role": "user", "content": said}]
    return await client.messages.create(model="demo", max_tokens=2000, messages=messages, **more)


def called(message: Any) -> list[tuple[str, Any]]:
    return [(block.name, block.input) for block in message.content if block.type == "tool_use"]


async def test_a_tool_loop_with_thinking(anthropic: AsyncAnthropic) -> None:
    first = await ask(anthropic, "Weather in Oslo?", tools=TOOLS, thinking=THINKING)
    assert [block.type for block in first.content] == ["thinking", "tool_use"]
    assert called(first) == [("get_weather", {"city": "Oslo"})]
    assert first.stop_reason == "tool_use"
    result: Any = {"type": "tool_result", "tool_use_id": first.content[1].id, "content": "5 °C"}
    second = await anthropic.messages.create(
        model="demo",
        max_tokens=2000,
        tools=TOOLS,
        thinking=THINKING,
        messages=[
            {"role": "user", "content": "Weather in Oslo?"},
            {"role": "assistant", "content": first.content},
            {"role": "user", "content": [result]},
        ],
    )
    assert second.stop_reason == "end_turn"
    assert second.content[1].type == "text"
    assert "get_weather answered: “5 °C”" in second.content[1].text


@pytest.mark.parametrize("change", ["signature", "thinking"])
async def test_thinking_that_was_changed_is_refused(anthropic: AsyncAnthropic, change: str) -> None:
    first = await ask(anthropic, "Weather in Oslo?", tools=TOOLS, thinking=THINKING)
    blocks: list[Any] = [block.model_dump() for block in first.content]
    blocks[0][change] += " " if change == "thinking" else "AAAA"
    history: list[Any] = [
        {"role": "user", "content": "Weather in Oslo?"},
        {"role": "assistant", "content": blocks},
        {
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": blocks[1]["id"], "content": "5 °C"}],
        },
    ]
    with pytest.raises(sdk.BadRequestError, match="Invalid `signature` in `thinking` block"):
        await anthropic.messages.create(
            model="demo", max_tokens=2000, tools=TOOLS, messages=history
        )


async def test_thinking_that_is_not_shown_is_signed_all_the_same(
    anthropic: AsyncAnthropic,
) -> None:
    hidden: Any = {"type": "adaptive", "display": "omitted"}
    first = await ask(anthropic, "hi", thinking=hidden)
    assert first.content[0].type == "thinking"
    assert first.content[0].thinking == ""
    assert first.usage.output_tokens_details.thinking_tokens > 0
    history: list[Any] = [
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": first.content},
        {"role": "user", "content": "and now?"},
    ]
    second = await anthropic.messages.create(model="demo", max_tokens=2000, messages=history)
    assert second.stop_reason == "end_turn"


async def test_the_clients_own_tool_runner_comes_to_an_end(anthropic: AsyncAnthropic) -> None:
    asked: list[str] = []

    @beta_async_tool
    async def get_weather(city: str) -> str:
        """The weather in a city."""
        asked.append(city)
        return f"5 °C in {city}"

    runner = anthropic.beta.messages.tool_runner(
        model="demo",
        max_tokens=2000,
        tools=[get_weather],
        messages=[{"role": "user", "content": "What is the weather in Oslo and Rome?"}],
    )
    final = await runner.until_done()
    assert asked == ["Oslo", "Rome"]
    assert final.content[0].type == "text"
    assert "5 °C in Oslo" in final.content[0].text
    assert "5 °C in Rome" in final.content[0].text


@pytest.mark.parametrize(
    ("text", "choice", "expected"),
    [
        ("Use get_time", {"type": "auto"}, ["get_time"]),
        ("Use get_time and get_weather", {"type": "auto"}, ["get_time", "get_weather"]),
        (
            "Use get_time and get_weather",
            {"type": "auto", "disable_parallel_tool_use": True},
            ["get_time"],
        ),
        ("Weather, time, all", {"type": "any", "disable_parallel_tool_use": True}, ["get_weather"]),
        ("Hello", {"type": "any"}, ["get_weather"]),
        ("Use get_weather", {"type": "tool", "name": "get_time"}, ["get_time"]),
        ("Use get_weather", {"type": "none"}, []),
    ],
)
async def test_which_tools_are_called(
    anthropic: AsyncAnthropic, text: str, choice: Any, expected: list[str]
) -> None:
    message = await ask(anthropic, text, tools=TOOLS, tool_choice=choice)
    assert [name for name, _ in called(message)] == expected


async def test_failed_results_and_images_are_told(anthropic: AsyncAnthropic) -> None:
    png: Any = {"type": "base64", "media_type": "image/png", "data": "AA=="}
    result: Any = {
        "type": "tool_result",
        "tool_use_id": "toolu_1",
        "is_error": True,
        "content": [{"type": "text", "text": "no such city"}, {"type": "image", "source": png}],
    }
    history: list[Any] = [
        {"role": "user", "content": "Weather in Oslo?"},
        {
            "role": "assistant",
            "content": [{"type": "tool_use", "id": "toolu_1", "name": "get_weather", "input": {}}],
        },
        {"role": "user", "content": [result, {"type": "text", "text": "Go on"}]},
    ]
    message = await anthropic.messages.create(
        model="demo", max_tokens=2000, tools=TOOLS, messages=history
    )
    text = message.content[0]
    assert text.type == "text"
    assert "get_weather failed: “no such city”" in text.text
    assert "Images seen: 1." in text.text


class Person(BaseModel):
    name: str
    age: int


async def test_structured_output(anthropic: AsyncAnthropic) -> None:
    message = await anthropic.messages.parse(
        model="demo",
        max_tokens=2000,
        messages=[{"role": "user", "content": "Ann is 42"}],
        output_format=Person,
    )
    assert message.parsed_output is not None
    assert message.parsed_output.age == 42


async def test_the_streaming_client_assembles_the_message(anthropic: AsyncAnthropic) -> None:
    async with anthropic.messages.stream(
        model="demo",
        max_tokens=2000,
        thinking=THINKING,
        tools=TOOLS,
        messages=[{"role": "user", "content": "Weather in Oslo and Rome"}],
    ) as stream:
        message = await stream.get_final_message()
    assert called(message) == [
        ("get_weather", {"city": "Oslo"}),
        ("get_weather", {"city": "Rome"}),
    ]
    assert message.content[0].type == "thinking"
    assert message.content[0].signature


async def test_a_tool_without_arguments(anthropic: AsyncAnthropic) -> None:
    nothing: Any = {"name": "ping", "input_schema": {"type": "object", "properties": {}}}
    async with anthropic.messages.stream(
        model="demo", max_tokens=100, tools=[nothing], messages=[{"role": "user", "content": "go"}]
    ) as stream:
        message = await stream.get_final_message()
    assert called(message) == [("ping", {})]


async def test_a_stop_sequence_is_named(anthropic: AsyncAnthropic) -> None:
    message = await ask(anthropic, "one two three", stop_sequences=["three", "two"])
    assert message.content[0].text == "✓ You said: “one "
    assert (message.stop_reason, message.stop_sequence) == ("stop_sequence", "two")


async def test_no_tokens_at_all_warm_the_cache(anthropic: AsyncAnthropic) -> None:
    message = await anthropic.messages.create(
        model="demo", max_tokens=0, messages=[{"role": "user", "content": "hi"}]
    )
    assert (message.content, message.stop_reason) == ([], "max_tokens")


async def test_cached_tokens_are_not_input_tokens(anthropic: AsyncAnthropic) -> None:
    long: Any = {"type": "text", "text": "word " * 2000}
    marked: Any = {**long, "cache_control": {"type": "ephemeral"}}
    plain = await ask(anthropic, [long])
    cached = await ask(anthropic, [marked])
    assert plain.usage.cache_read_input_tokens == 0
    assert cached.usage.cache_read_input_tokens > 0
    assert cached.usage.input_tokens < plain.usage.input_tokens


@pytest.mark.parametrize(
    ("quirk", "error"),
    [
        ("rate-limit", sdk.RateLimitError),
        ("overloaded", sdk.OverloadedError),
        ("server-error", sdk.InternalServerError),
        ("html-error", sdk.InternalServerError),
    ],
)
async def test_the_clients_own_exceptions(
    anthropic: AsyncAnthropic, quirk: str, error: type[Exception]
) -> None:
    with pytest.raises(error):
        await ask(anthropic, "hi", extra_headers={"x-demo-quirk": quirk})


async def test_a_bad_key_is_refused(url: str) -> None:
    async with AsyncAnthropic(base_url=url, api_key="bad-key", max_retries=0) as client:
        with pytest.raises(sdk.AuthenticationError) as refused:
            await ask(client, "hi")
    body: Any = refused.value.body
    assert json.dumps(body["error"]) == json.dumps(
        {"type": "authentication_error", "message": "invalid x-api-key"}
    )
