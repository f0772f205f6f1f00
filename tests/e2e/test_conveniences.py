"""What the SDKs build upon their endpoints: parsing, tool runners, raw streams, asyncio."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import anthropic
import openai
import pytest
from pydantic import BaseModel

from tests.e2e.clients.chat import ChatClient
from tests.e2e.clients.messages import MessagesClient
from tests.e2e.clients.responses import ResponsesClient
from tests.e2e.conftest import Client
from tests.e2e.conversation import WEATHER
from tests.e2e.gateway import RunningGateway
from tests.e2e.strict import StrictTransport

BOTH = "What is the weather in Oslo and Rome?"


class Person(BaseModel):
    name: str
    age: int


ANN = Person(name="demo name", age=42)


@pytest.fixture
def chat(clients: dict[str, Client], heard: StrictTransport) -> openai.OpenAI:
    client = clients["chat"]
    assert isinstance(client, ChatClient)
    return client.sdk


@pytest.fixture
def messages(clients: dict[str, Client], heard: StrictTransport) -> anthropic.Anthropic:
    client = clients["messages"]
    assert isinstance(client, MessagesClient)
    return client.sdk


@pytest.fixture
def responses(clients: dict[str, Client], heard: StrictTransport) -> openai.OpenAI:
    client = clients["responses"]
    assert isinstance(client, ResponsesClient)
    return client.sdk


def test_chat_parses(chat: openai.OpenAI, upstream: str) -> None:
    said: Any = [{"role": "user", "content": "Ann is 42"}]
    model = f"{upstream}/demo"
    parsed = chat.chat.completions.parse(model=model, messages=said, response_format=Person)
    assert parsed.choices[0].message.parsed == ANN
    with chat.chat.completions.stream(model=model, messages=said, response_format=Person) as stream:
        assert stream.get_final_completion().choices[0].message.parsed == ANN


def test_chat_parses_the_arguments_of_strict_tools(chat: openai.OpenAI, upstream: str) -> None:
    said: Any = [{"role": "user", "content": "Ann is 42"}]
    tool = openai.pydantic_function_tool(Person)
    with chat.chat.completions.stream(
        model=f"{upstream}/demo", messages=said, tools=[tool]
    ) as stream:
        events = list(stream)
        calls = stream.get_final_completion().choices[0].message.tool_calls
    assert calls is not None
    (call,) = calls
    assert call.function.parsed_arguments == ANN
    done = [e for e in events if e.type == "tool_calls.function.arguments.done"]
    assert [(event.name, event.index) for event in done] == [("Person", 0)]
    deltas = [e for e in events if e.type == "tool_calls.function.arguments.delta"]
    assert len(deltas) > 3
    assert "".join(e.arguments_delta for e in deltas) == done[0].arguments


def test_responses_parse(responses: openai.OpenAI, upstream: str) -> None:
    model = f"{upstream}/demo"
    parsed = responses.responses.parse(model=model, input="Ann is 42", text_format=Person)
    assert parsed.output_parsed == ANN
    with responses.responses.stream(model=model, input="Ann is 42", text_format=Person) as stream:
        assert stream.get_final_response().output_parsed == ANN


def test_messages_parse(messages: anthropic.Anthropic, upstream: str) -> None:
    message = messages.messages.parse(
        model=f"{upstream}/demo",
        max_tokens=900,
        messages=[{"role": "user", "content": "Ann is 42"}],
        output_format=Person,
    )
    assert message.parsed_output == ANN


@pytest.mark.parametrize("stream", [False, True])
def test_the_tool_runner_of_messages(
    messages: anthropic.Anthropic, upstream: str, stream: bool
) -> None:
    asked: list[str] = []

    @anthropic.beta_tool
    def get_weather(city: str) -> str:
        """The weather in a city."""
        asked.append(city)
        return f"5 °C in {city}"

    request: dict[str, Any] = {
        "model": f"{upstream}/demo",
        "max_tokens": 900,
        "tools": [get_weather],
        "messages": [{"role": "user", "content": BOTH}],
    }
    runner: Any = messages.beta.messages.tool_runner(**request, stream=stream)
    final = runner.until_done()
    assert asked == ["Oslo", "Rome"]
    assert final.content[0].text.endswith(
        "get_weather answered: “5 °C in Oslo”\nget_weather answered: “5 °C in Rome”"
    )


def test_chat_streams_calls_as_they_are_made(chat: openai.OpenAI, upstream: str) -> None:
    """By hand, as many programs do it: no usage asked for, pieces joined by their index."""
    tools: Any = [{"type": "function", "function": {"name": "f", "parameters": WEATHER.schema}}]
    stream = chat.chat.completions.create(
        model=f"{upstream}/demo",
        messages=[{"role": "user", "content": BOTH}],
        tools=tools,
        stream=True,
    )
    calls: dict[int, list[str]] = {}
    for chunk in stream:
        assert chunk.usage is None
        for piece in chunk.choices[0].delta.tool_calls or ():
            assert piece.function is not None
            calls.setdefault(piece.index, []).append(piece.function.arguments or "")
    assert [json.loads("".join(pieces)) for pieces in calls.values()] == [
        {"city": "Oslo"},
        {"city": "Rome"},
    ]
    assert min(map(len, calls.values())) > 3


def test_messages_stream_events(messages: anthropic.Anthropic, upstream: str) -> None:
    tools: Any = [{"name": "f", "input_schema": WEATHER.schema}]
    with messages.messages.stream(
        model=f"{upstream}/demo",
        max_tokens=2000,
        tools=tools,
        thinking={"type": "enabled", "budget_tokens": 1024},
        messages=[{"role": "user", "content": BOTH}],
    ) as stream:
        kinds = [event.type for event in stream]
        final = stream.get_final_message()
    assert [block.type for block in final.content] == ["thinking", "tool_use", "tool_use"]
    assert kinds.count("content_block_stop") == 3
    assert kinds.count("input_json") > 6
    assert kinds.count("thinking") > 3
    assert kinds.count("signature") == 1


def test_responses_stream_events(responses: openai.OpenAI, upstream: str) -> None:
    tools: Any = [{"type": "function", "name": "f", "parameters": WEATHER.schema, "strict": False}]
    with responses.responses.stream(
        model=f"{upstream}/demo",
        input=BOTH,
        tools=tools,
        reasoning={"effort": "low", "summary": "auto"},
    ) as stream:
        events = list(stream)
        final = stream.get_final_response()
    kinds = [event.type for event in events]
    assert [item.type for item in final.output] == ["reasoning", "function_call", "function_call"]
    assert kinds.count("response.function_call_arguments.done") == 2
    assert kinds.count("response.function_call_arguments.delta") > 6
    assert kinds.count("response.reasoning_summary_text.delta") > 3


async def test_many_at_once(gateway: RunningGateway, upstream: str) -> None:
    """Streams side by side on asyncio, each with its own answer."""
    model = f"{upstream}/demo"
    async with (
        openai.AsyncOpenAI(base_url=f"{gateway.url}/v1", api_key="any", max_retries=0) as ours,
        anthropic.AsyncAnthropic(base_url=gateway.url, api_key="any", max_retries=0) as theirs,
    ):

        async def chat(text: str) -> str:
            said: Any = [{"role": "user", "content": text}]
            async with ours.chat.completions.stream(model=model, messages=said) as stream:
                final = await stream.get_final_completion()
            return final.choices[0].message.content or ""

        async def messages(text: str) -> str:
            said: Any = [{"role": "user", "content": text}]
            async with theirs.messages.stream(model=model, max_tokens=900, messages=said) as stream:
                return await stream.get_final_text()

        async def responses(text: str) -> str:
            async with ours.responses.stream(model=model, input=text) as stream:
                return (await stream.get_final_response()).output_text

        speakers = [chat, messages, responses]
        texts = [f"number {number}" for number in range(24)]
        answers = await asyncio.gather(*(speakers[at % 3](text) for at, text in enumerate(texts)))
    for text, answer in zip(texts, answers, strict=True):
        assert answer.startswith(f"✓ You said: “{text}”")
