"""Agents of `pydantic-ai`, which bring their own loop. https://ai.pydantic.dev/"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pydantic_ai
import pytest
from anthropic import AsyncAnthropic
from openai import AsyncOpenAI
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.providers.openai import OpenAIProvider

from tests.e2e.agents.task import ANN, ANSWER, BOTH, Person, Weather


@pytest.fixture(params=["chat", "responses", "messages"])
def model_of(
    request: pytest.FixtureRequest, openai: AsyncOpenAI, anthropic: AsyncAnthropic
) -> Callable[[str], Any]:
    """The models of `pydantic-ai` that speak the three protocols."""

    def make(upstream: str) -> Any:
        name = f"{upstream}/demo"
        match request.param:
            case "chat":
                return OpenAIChatModel(name, provider=OpenAIProvider(openai_client=openai))
            case "responses":
                return OpenAIResponsesModel(name, provider=OpenAIProvider(openai_client=openai))
        able: Any = {"supports_json_schema_output": True}  # it knows Claude's names alone
        return AnthropicModel(
            name, provider=AnthropicProvider(anthropic_client=anthropic), profile=able
        )

    return make


async def test_it_comes_to_an_end(
    model_of: Callable[[str], Any], upstream: str, stream: bool
) -> None:
    weather = Weather()
    agent = pydantic_ai.Agent(
        model_of(upstream), instructions="Be brief.", tools=[weather.get_weather]
    )
    if stream:
        async with agent.run_stream(BOTH) as streamed:
            pieces = [piece async for piece in streamed.stream_text(delta=True, debounce_by=None)]
        assert len(pieces) > 5
        final = "".join(pieces)
    else:
        final = (await agent.run(BOTH)).output
    assert sorted(weather.asked) == ["Oslo", "Rome"]
    assert final == ANSWER


async def test_thinking_and_a_second_question(
    model_of: Callable[[str], Any], upstream: str
) -> None:
    weather = Weather()
    agent: Any = pydantic_ai.Agent(model_of(upstream), tools=[weather.get_weather])
    settings: Any = {
        "max_tokens": 4000,
        "openai_reasoning_effort": "low",
        "openai_reasoning_summary": "auto",
        "anthropic_thinking": {"type": "enabled", "budget_tokens": 1024},
    }
    first = await agent.run("What is the weather in Oslo?", model_settings=settings)
    assert "5 °C in Oslo" in first.output
    parts = [part for message in first.all_messages() for part in message.parts]
    assert "thinking" in {part.part_kind for part in parts}
    second = await agent.run(
        "And in Rome?", message_history=first.all_messages(), model_settings=settings
    )
    assert weather.asked == ["Oslo", "Rome"]
    assert second.output.endswith("get_weather answered: “5 °C in Rome”")


@pytest.mark.parametrize("how", [pydantic_ai.ToolOutput, pydantic_ai.NativeOutput])
async def test_it_gives_a_structured_answer(
    model_of: Callable[[str], Any], upstream: str, how: Any
) -> None:
    agent: Any = pydantic_ai.Agent(model_of(upstream), output_type=how(Person))
    result = await agent.run("Ann is 42")
    assert result.output == ANN
