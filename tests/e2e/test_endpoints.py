"""What the SDKs ask for beside answers: models, counts of tokens, embeddings."""

from __future__ import annotations

from typing import Any

import anthropic
import openai
import pytest

from tests.e2e.clients.chat import ChatClient
from tests.e2e.clients.messages import MessagesClient
from tests.e2e.conftest import UPSTREAMS, Client
from tests.e2e.conversation import PNG, WEATHER
from tests.e2e.strict import StrictTransport


@pytest.fixture
def messages(clients: dict[str, Client], heard: StrictTransport) -> MessagesClient:
    client = clients["messages"]
    assert isinstance(client, MessagesClient)
    return client


@pytest.fixture
def chat(clients: dict[str, Client], heard: StrictTransport) -> ChatClient:
    client = clients["chat"]
    assert isinstance(client, ChatClient)
    return client


def test_tokens_are_counted(
    messages: MessagesClient, upstream: str, heard: StrictTransport
) -> None:
    """By the upstream itself where it can; elsewhere they are estimated, and that is said."""
    count = messages.sdk.messages.count_tokens
    model = f"{upstream}/demo"
    few = count(model=model, messages=[{"role": "user", "content": "hi"}])
    tools: Any = [messages.tool(WEATHER)]
    more = count(
        model=model,
        messages=messages.user("hi " * 100, images=1),
        tools=tools,
        system="Be brief.",
        tool_choice={"type": "auto"},
    )
    assert 0 < few.input_tokens < 100 < more.input_tokens
    estimated = ["x-toolwire-estimate" in one.headers for one in heard.heard]
    assert estimated == [upstream != "messages"] * 2
    assert PNG in str(heard.heard[-1].request)


def test_models_as_openai_lists_them(chat: ChatClient) -> None:
    models = list(chat.sdk.models.list())
    ids = [model.id for model in models]
    assert {f"{upstream}/demo" for upstream in UPSTREAMS} <= set(ids)
    assert len(set(ids)) == len(ids)
    assert {model.object for model in models} == {"model"}
    assert chat.sdk.models.retrieve("chat/demo").id == "chat/demo"


def test_models_as_anthropic_lists_them(messages: MessagesClient) -> None:
    models = list(messages.sdk.models.list())
    assert {f"{upstream}/demo" for upstream in UPSTREAMS} <= {model.id for model in models}
    assert {model.type for model in models} == {"model"}
    assert messages.sdk.models.retrieve("messages/demo").id == "messages/demo"


def test_a_model_that_nobody_serves(configured_clients: dict[str, Client]) -> None:
    chat, messages = configured_clients["chat"], configured_clients["messages"]
    with pytest.raises(openai.NotFoundError, match="no-such-model"):
        chat.sdk.models.retrieve("no-such-model")
    with pytest.raises(anthropic.NotFoundError, match="no-such-model"):
        messages.sdk.models.retrieve("no-such-model")


def test_embeddings_pass_through(chat: ChatClient) -> None:
    made = chat.sdk.embeddings.create(model="demo", input=["one", "two", "one"])
    one, two, again = (item.embedding for item in made.data)
    assert one == again != two
