"""Free-form tools, whose input is text: native where the upstream has them, wrapped elsewhere."""

from __future__ import annotations

from typing import Any

import pytest

from tests.e2e.clients.chat import ChatClient
from tests.e2e.clients.responses import ResponsesClient
from tests.e2e.conftest import Client, Pair
from tests.e2e.conversation import SHELL, WEATHER, Finish, Result
from tests.e2e.strict import StrictTransport

PATCH: dict[str, Any] = {
    "type": "custom",
    "name": "apply_patch",
    "description": "Changes files.",
    "format": {"type": "grammar", "syntax": "lark", "definition": 'start: "*** Begin Patch"'},
}


@pytest.fixture(params=["chat", "responses"])
def pair(
    request: pytest.FixtureRequest,
    clients: dict[str, Client],
    upstream: str,
    heard: StrictTransport,
) -> Pair:
    """The clients whose protocol has such tools, on each upstream."""
    return Pair(clients[request.param], upstream)


def test_a_loop(pair: Pair) -> None:
    history = pair.client.user("ls -l")
    first = pair.ask(history, tools=(SHELL,))
    assert first.called() == [("shell", "ls -l")]
    assert first.finish is Finish.CALLS
    results = pair.client.results([Result(first.calls[0], "total 0")])
    last = pair.ask([*history, *first.said, *results], tools=(SHELL,))
    assert last.text == "✓ The tools were run.\nshell answered: “total 0”"


def test_beside_a_function(pair: Pair) -> None:
    reply = pair.ask("Use shell and get_weather in Oslo", tools=(WEATHER, SHELL))
    (shell, said), weather = reply.called()
    assert (shell, said) == ("shell", "Use shell and get_weather in Oslo")
    assert weather == ("get_weather", {"city": "Oslo"})


def test_streamed_to_responses(
    clients: dict[str, Client], upstream: str, heard: StrictTransport
) -> None:
    reply = Pair(clients["responses"], upstream).ask("ls -l", stream=True, tools=(SHELL,))
    assert reply.called() == [("shell", "ls -l")]
    assert reply.finish is Finish.CALLS


def test_streamed_to_chat(clients: dict[str, Client], upstream: str) -> None:
    """The SDK's types have no streamed custom calls, so its chunks are put together here."""
    client = clients["chat"]
    assert isinstance(client, ChatClient)
    stream = client.sdk.chat.completions.create(
        model=f"{upstream}/demo",
        messages=[{"role": "user", "content": "ls -l"}],
        tools=[{"type": "custom", "custom": {"name": "shell"}}],
        stream=True,
    )
    pieces: list[Any] = []
    finish = None
    for chunk in stream:
        pieces += chunk.choices[0].delta.tool_calls or []
        finish = chunk.choices[0].finish_reason or finish
    assert [piece.index for piece in pieces] == [0] * len(pieces)
    assert (pieces[0].type, pieces[0].custom["name"]) == ("custom", "shell")
    assert "".join(piece.custom["input"] for piece in pieces) == "ls -l"
    assert finish == "tool_calls"


def test_a_grammar_is_described_where_it_cannot_be_kept(
    clients: dict[str, Client], upstream: str, heard: StrictTransport
) -> None:
    client = clients["responses"]
    assert isinstance(client, ResponsesClient)
    tools: Any = [PATCH]
    response = client.sdk.responses.create(
        model=f"{upstream}/demo",
        input="Begin",
        tools=tools,
        tool_choice={"type": "custom", "name": "apply_patch"},
    )
    (call,) = response.output
    assert call.type == "custom_tool_call"
    assert (call.name, call.input) == ("apply_patch", "Begin")
    assert response.tools[0].model_dump(exclude_none=True) == PATCH
