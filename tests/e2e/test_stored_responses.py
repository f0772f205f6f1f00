"""`previous_response_id` and stored responses, whichever protocol the upstream speaks."""

from __future__ import annotations

import json
from typing import Any

import openai
import pytest

from tests.e2e.clients.responses import ResponsesClient
from tests.e2e.conftest import Client
from tests.e2e.conversation import SHELL, WEATHER
from tests.e2e.strict import StrictTransport

TOOLS = [WEATHER]
THINK: dict[str, Any] = {"reasoning": {"effort": "low", "summary": "auto"}}


@pytest.fixture
def client(clients: dict[str, Client], heard: StrictTransport) -> ResponsesClient:
    client = clients["responses"]
    assert isinstance(client, ResponsesClient)
    return client


def ask(client: ResponsesClient, upstream: str, said: Any, stream: bool, **more: Any) -> Any:
    request = {"model": f"{upstream}/demo", "input": said, **more}
    if not stream:
        return client.sdk.responses.create(**request)
    with client.sdk.responses.stream(**request) as events:
        return events.get_final_response()


def output(call: Any, text: str) -> dict[str, Any]:
    return {"type": f"{call.type}_output", "call_id": call.call_id, "output": text}


@pytest.mark.parametrize("more", [{}, THINK], ids=["plain", "thinking"])
def test_a_tool_loop(
    client: ResponsesClient, upstream: str, stream: bool, more: dict[str, Any]
) -> None:
    tools = [client.tool(tool) for tool in TOOLS]
    said = "What is the weather in Oslo and Rome?"
    first = ask(client, upstream, said, stream, tools=tools, **more)
    oslo, rome = [item for item in first.output if item.type == "function_call"]
    results = [output(oslo, "5 °C"), output(rome, "20 °C")]
    second = ask(
        client, upstream, results, stream, tools=tools, previous_response_id=first.id, **more
    )
    assert second.previous_response_id == first.id
    assert second.output_text == (
        "✓ The tools were run.\nget_weather answered: “5 °C”\nget_weather answered: “20 °C”"
    )
    third = ask(client, upstream, "And now?", stream, previous_response_id=second.id, **more)
    assert "You said: “And now?”" in third.output_text
    assert third.usage.input_tokens > first.usage.input_tokens


def test_a_free_form_loop(client: ResponsesClient, upstream: str, stream: bool) -> None:
    shell = [client.tool(SHELL)]
    first = ask(client, upstream, "ls -l", stream, tools=shell)
    (call,) = first.output
    second = ask(
        client,
        upstream,
        [output(call, "total 0")],
        stream,
        tools=shell,
        previous_response_id=first.id,
    )
    assert second.output_text == "✓ The tools were run.\nshell answered: “total 0”"


def test_it_can_be_fetched_and_deleted(
    client: ResponsesClient, upstream: str, stream: bool
) -> None:
    made = ask(client, upstream, "to be deleted", stream, metadata={"run": "7"})
    responses = client.sdk.responses
    found = responses.retrieve(made.id)
    assert (found.id, found.output_text) == (made.id, made.output_text)
    assert found.metadata == {"run": "7"}
    responses.delete(made.id)
    with pytest.raises(openai.NotFoundError):
        responses.retrieve(made.id)
    with pytest.raises((openai.NotFoundError, openai.BadRequestError)) as refused:
        ask(client, upstream, "go on", stream, previous_response_id=made.id)
    assert made.id in str(refused.value)


def test_what_is_not_to_be_stored_is_not(
    client: ResponsesClient, upstream: str, stream: bool
) -> None:
    made = ask(client, upstream, "forget me", stream, store=False)
    with pytest.raises(openai.NotFoundError):
        client.sdk.responses.retrieve(made.id)
    with pytest.raises(openai.BadRequestError) as refused:
        ask(client, upstream, "go on", stream, previous_response_id=made.id)
    assert refused.value.code == "previous_response_not_found"


def test_input_items_are_listed(clients: dict[str, Client], heard: StrictTransport) -> None:
    client = clients["responses"]
    assert isinstance(client, ResponsesClient)
    made = ask(client, "messages", "one", False)
    items = list(client.sdk.responses.input_items.list(made.id))
    assert [item.type for item in items] == ["message"]
    assert "one" in json.dumps(items[0].to_dict())


@pytest.mark.parametrize(
    ("first", "then"), [("chat", "messages"), ("messages", "chat"), ("chat", "responses")]
)
def test_another_upstream_goes_on(
    client: ResponsesClient, stream: bool, first: str, then: str
) -> None:
    tools = [client.tool(WEATHER)]
    begun = ask(client, first, "Weather in Oslo?", stream, tools=tools, **THINK)
    call = begun.output[-1]
    last = ask(
        client,
        then,
        [output(call, "5 °C")],
        stream,
        tools=tools,
        previous_response_id=begun.id,
        **THINK,
    )
    assert last.output_text == "✓ The tools were run.\nget_weather answered: “5 °C”"
