"""The official OpenAI client in conversation with the demo's Responses."""

from __future__ import annotations

import json
from typing import Any

import openai as sdk
import pytest
from openai import AsyncOpenAI
from pydantic import BaseModel

from tests.proxy.demo.wire import CUSTOM, SCHEMA, WEATHER

TIME = {"type": "function", "name": "get_time", "parameters": SCHEMA}
TOOLS: list[Any] = [WEATHER["responses"], TIME]


async def ask(client: AsyncOpenAI, said: Any, **more: Any) -> Any:
    return await client.responses.create(model="demo", input=said, **more)


def called(response: Any) -> list[tuple[str, Any]]:
    calls = [item for item in response.output if item.type == "function_call"]
    return [(call.name, json.loads(call.arguments)) for call in calls]


def output_of(call: Any, text: str) -> dict[str, Any]:
    return {"type": "function_call_output", "call_id": call.call_id, "output": text}


async def test_a_tool_loop_with_the_whole_history(openai: AsyncOpenAI) -> None:
    sealed: Any = {
        "tools": TOOLS,
        "store": False,
        "reasoning": {"effort": "low"},
        "include": ["reasoning.encrypted_content"],
    }
    history: list[Any] = [{"role": "user", "content": "Weather in Oslo and Rome?"}]
    first = await ask(openai, history, **sealed)
    assert [item.type for item in first.output] == ["reasoning", *["function_call"] * 2]
    assert called(first) == [("get_weather", {"city": "Oslo"}), ("get_weather", {"city": "Rome"})]
    reasoning, oslo, rome = first.output
    # Each output stands after its call, as a gateway may lay it out.
    history += [reasoning, oslo, output_of(oslo, "5 °C"), rome, output_of(rome, "20 °C")]
    second = await ask(openai, history, **sealed)
    assert "get_weather answered: “5 °C”" in second.output_text
    assert "get_weather answered: “20 °C”" in second.output_text


async def test_a_tool_loop_by_reference(openai: AsyncOpenAI) -> None:
    first = await ask(openai, "Weather in Oslo?", tools=TOOLS, reasoning={"effort": "low"})
    call = first.output[-1]
    assert first.output[0].encrypted_content is None
    second = await ask(
        openai, [output_of(call, "5 °C")], tools=TOOLS, previous_response_id=first.id
    )
    assert second.previous_response_id == first.id
    assert "get_weather answered: “5 °C”" in second.output_text
    third = await ask(openai, "And now?", previous_response_id=second.id)
    assert "You said: “And now?”" in third.output_text
    assert third.usage.input_tokens > second.usage.input_tokens > first.usage.input_tokens


async def test_stored_responses_can_be_fetched_and_deleted(openai: AsyncOpenAI) -> None:
    made = await ask(openai, "to be deleted", tools=[])
    assert await openai.responses.retrieve(made.id) == made
    await openai.responses.delete(made.id)
    with pytest.raises(sdk.NotFoundError, match="not found"):
        await openai.responses.retrieve(made.id)
    with pytest.raises(sdk.NotFoundError, match="not found"):
        await openai.responses.delete(made.id)


async def test_what_is_not_to_be_stored_is_not(openai: AsyncOpenAI) -> None:
    made = await ask(openai, "not to be stored", store=False)
    with pytest.raises(sdk.BadRequestError) as refused:
        await ask(openai, "hi", previous_response_id=made.id)
    assert refused.value.code == "previous_response_not_found"


async def test_foreign_reasoning_is_refused(openai: AsyncOpenAI) -> None:
    item: Any = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAAAA=="}
    said: Any = {"role": "assistant", "content": "hello"}
    history = [{"role": "user", "content": "hi"}, item, said, {"role": "user", "content": "go"}]
    with pytest.raises(sdk.BadRequestError) as refused:
        await ask(openai, history)
    assert refused.value.code == "invalid_encrypted_content"
    del item["encrypted_content"]
    with pytest.raises(sdk.NotFoundError, match="Items are not persisted"):
        await ask(openai, history)


async def test_unfinished_ciphertext_of_a_stream_is_refused(openai: AsyncOpenAI) -> None:
    stream = await ask(
        openai,
        "hi",
        stream=True,
        store=False,
        reasoning={"effort": "low"},
        include=["reasoning.encrypted_content"],
    )
    items = [e.item async for e in stream if e.type == "response.output_item.added"]
    history = [{"role": "user", "content": "hi"}, items[0], items[1]]
    with pytest.raises(sdk.BadRequestError) as refused:
        await ask(openai, [*history, {"role": "user", "content": "go"}])
    assert refused.value.code == "invalid_encrypted_content"


@pytest.mark.parametrize(
    ("text", "more", "expected"),
    [
        ("Use get_time and get_weather", {}, ["get_time", "get_weather"]),
        ("Use get_time and get_weather", {"parallel_tool_calls": False}, ["get_time"]),
        ("Hello", {"tool_choice": "required"}, ["get_weather"]),
        ("Hello", {"tool_choice": "none"}, []),
        ("Hello", {"tool_choice": {"type": "function", "name": "get_time"}}, ["get_time"]),
        (
            "Use get_weather",
            {
                "tool_choice": {
                    "type": "allowed_tools",
                    "mode": "required",
                    "tools": [{"type": "function", "name": "get_time"}],
                }
            },
            ["get_time"],
        ),
    ],
)
async def test_which_tools_are_called(
    openai: AsyncOpenAI, text: str, more: dict[str, Any], expected: list[str]
) -> None:
    response = await ask(openai, text, tools=TOOLS, **more)
    assert [name for name, _ in called(response)] == expected


async def test_hosted_tools_are_left_to_the_vendor(openai: AsyncOpenAI) -> None:
    response = await ask(openai, "hi", tools=[{"type": "web_search"}], tool_choice="required")
    assert [item.type for item in response.output] == ["message"]


async def test_a_loop_with_a_free_form_tool(openai: AsyncOpenAI) -> None:
    shell: Any = [CUSTOM["responses"]]
    first = await ask(openai, "ls -l", tools=shell)
    call = first.output[0]
    assert (call.type, call.input) == ("custom_tool_call", "ls -l")
    result = {"type": "custom_tool_call_output", "call_id": call.call_id, "output": "total 0"}
    second = await ask(openai, [result], tools=shell, previous_response_id=first.id)
    assert "shell answered: “total 0”" in second.output_text


async def test_the_request_is_echoed(openai: AsyncOpenAI) -> None:
    strict = {
        **TIME,
        "name": "now",
        "parameters": {**SCHEMA, "additionalProperties": False},
    }
    response = await ask(
        openai,
        "hi",
        tools=[TIME, strict],
        instructions="Be brief.",
        metadata={"run": "7"},
        max_output_tokens=500,
        temperature=0.5,
        parallel_tool_calls=False,
        tool_choice="none",
    )
    assert response.instructions == "Be brief."
    assert response.metadata == {"run": "7"}
    assert (response.max_output_tokens, response.temperature) == (500, 0.5)
    assert (response.parallel_tool_calls, response.tool_choice) == (False, "none")
    assert [tool.strict for tool in response.tools] == [False, True]


class Person(BaseModel):
    name: str
    age: int


async def test_structured_output(openai: AsyncOpenAI) -> None:
    parsed = await openai.responses.parse(model="demo", input="Ann is 42", text_format=Person)
    assert parsed.output_parsed is not None
    assert parsed.output_parsed.age == 42


async def test_images_are_seen(openai: AsyncOpenAI) -> None:
    parts = [
        {"type": "input_text", "text": "What is this?"},
        {"type": "input_image", "image_url": "data:image/png;base64,AA==", "detail": "auto"},
    ]
    response = await ask(openai, [{"role": "user", "content": parts}])
    assert "Images seen: 1." in response.output_text


async def test_the_streaming_client_assembles_the_response(openai: AsyncOpenAI) -> None:
    async with openai.responses.stream(
        model="demo", input="Weather in Oslo and Rome", tools=TOOLS
    ) as stream:
        response = await stream.get_final_response()
    assert called(response) == [
        ("get_weather", {"city": "Oslo"}),
        ("get_weather", {"city": "Rome"}),
    ]


async def test_the_limit_makes_it_incomplete(openai: AsyncOpenAI) -> None:
    response = await ask(openai, "word " * 30, max_output_tokens=16)
    assert response.status == "incomplete"
    assert response.incomplete_details.reason == "max_output_tokens"
    assert response.usage.output_tokens == 16
