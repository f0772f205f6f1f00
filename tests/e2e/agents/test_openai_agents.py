"""Agents of `openai-agents`, which bring their own loop.

https://openai.github.io/openai-agents-python/
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import agents
import pytest
from agents import ModelSettings, RunConfig, Runner, function_tool
from agents.models.openai_chatcompletions import OpenAIChatCompletionsModel
from agents.models.openai_responses import OpenAIResponsesModel
from openai import AsyncOpenAI
from openai.types.shared import Reasoning

from tests.e2e.agents.task import ANN, ANSWER, BOTH, Person, Weather

UNTRACED = RunConfig(tracing_disabled=True)


@pytest.fixture(params=[OpenAIChatCompletionsModel, OpenAIResponsesModel])
def model_of(request: pytest.FixtureRequest, openai: AsyncOpenAI) -> Callable[[str], agents.Model]:
    """Each model class of `openai-agents`."""
    kind: Any = request.param
    return lambda upstream: kind(model=f"{upstream}/demo", openai_client=openai)


@pytest.mark.parametrize(
    ("settings", "stream"),
    [
        (ModelSettings(), False),
        (ModelSettings(), True),
        (ModelSettings(tool_choice="required", parallel_tool_calls=True), True),
        (ModelSettings(reasoning=Reasoning(effort="low", summary="auto")), True),
    ],
    ids=["whole", "streamed", "forced", "thinking"],
)
async def test_they_come_to_an_end(
    model_of: Callable[[str], agents.Model],
    upstream: str,
    settings: ModelSettings,
    stream: bool,
) -> None:
    weather = Weather()
    agent = agents.Agent(
        name="forecaster",
        instructions="Be brief.",
        model=model_of(upstream),
        model_settings=settings,
        tools=[function_tool(weather.get_weather)],
    )
    if stream:
        streamed = Runner.run_streamed(agent, BOTH, run_config=UNTRACED)
        kinds = [event.type async for event in streamed.stream_events()]
        assert "raw_response_event" in kinds and "run_item_stream_event" in kinds
        final = streamed.final_output
    else:
        final = (await Runner.run(agent, BOTH, run_config=UNTRACED)).final_output
    assert weather.asked == ["Oslo", "Rome"]
    assert final == ANSWER


async def test_they_make_one_call_at_a_time(
    model_of: Callable[[str], agents.Model], upstream: str
) -> None:
    weather = Weather()
    agent = agents.Agent(
        name="forecaster",
        model=model_of(upstream),
        model_settings=ModelSettings(parallel_tool_calls=False),
        tools=[function_tool(weather.get_weather)],
    )
    await Runner.run(agent, BOTH, run_config=UNTRACED)
    assert weather.asked == ["Oslo"]


async def test_they_give_a_structured_answer(
    model_of: Callable[[str], agents.Model], upstream: str
) -> None:
    agent = agents.Agent(name="clerk", model=model_of(upstream), output_type=Person)
    streamed = Runner.run_streamed(agent, "Ann is 42", run_config=UNTRACED)
    assert [event async for event in streamed.stream_events()]
    assert streamed.final_output == ANN


async def test_they_hand_over(model_of: Callable[[str], agents.Model], upstream: str) -> None:
    """A handoff is a call too; the other agent goes on with the whole history."""
    weather = Weather()
    forecaster = agents.Agent(
        name="forecaster",
        model=model_of(upstream),
        tools=[function_tool(weather.get_weather)],
        model_settings=ModelSettings(tool_choice="get_weather"),
    )
    desk = agents.Agent(name="desk", model=model_of(upstream), handoffs=[forecaster])
    result = await Runner.run(desk, "What is the weather in Oslo?", run_config=UNTRACED)
    assert weather.asked == ["Oslo"]
    assert result.last_agent.name == "forecaster"
    assert "get_weather answered: “5 °C in Oslo”" in result.final_output
