"""Where a Messages client is told that it asked wrongly."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolwire.config.profile import Profile
from toolwire.proxy.errors import InvalidRequest
from toolwire.proxy.protocols import json
from toolwire.proxy.protocols.layout import arrange
from toolwire.proxy.protocols.messages import CODEC
from toolwire.proxy.protocols.neutral import (
    Losses,
    Request,
)


def read(**fields: Any) -> Request:
    return CODEC.read_request({"model": "m", "max_tokens": 9, "messages": [], **fields})


@pytest.mark.parametrize("kind", ["create", "continue"])
def test_a_thread_is_refused_in_the_words_that_clients_know(kind: str) -> None:
    """https://docs.anthropic.com/en/api/errors: they go on with the full conversation."""
    with pytest.raises(InvalidRequest, match="without it") as refused:
        read(thread={"type": kind, "previous_message_id": "msg_1"})
    assert (refused.value.param, refused.value.code) == ("thread", "thread_unsupported_request")


@pytest.mark.parametrize(
    ("fields", "path", "fault"),
    [
        ({"model": 3}, "model", "must be a string, not an integer"),
        ({"max_tokens": "9"}, "max_tokens", "must be an integer, not a string"),
        ({"max_tokens": True}, "max_tokens", "must be an integer, not a boolean"),
        ({"temperature": "0"}, "temperature", "must be a number, not a string"),
        ({"top_p": True}, "top_p", "must be a number, not a boolean"),
        ({"stream": 1}, "stream", "must be a boolean, not an integer"),
        ({"stop_sequences": "END"}, "stop_sequences", "must be an array, not a string"),
        ({"stop_sequences": ["a", 1]}, "stop_sequences[1]", "must be a string, not an integer"),
        ({"system": {"a": 1}}, "system", "must be a string or an array of blocks, not an object"),
        ({"metadata": {"user_id": 7}}, "metadata.user_id", "must be a string, not an integer"),
        ({"messages": {}}, "messages", "must be an array, not an object"),
        ({"messages": ["hi"]}, "messages[0]", "must be an object, not a string"),
        ({"messages": [{"content": "x"}]}, "messages[0].role", "is missing; it must be a string"),
        (
            {"messages": [{"role": "tool", "content": "x"}]},
            "messages[0].role",
            "must be one of user, assistant, system, not 'tool'",
        ),
        (
            {"messages": [{"role": "user"}]},
            "messages[0].content",
            "must be a string or an array of blocks, not null",
        ),
        (
            {"messages": [{"role": "user", "content": [{"text": "x"}]}]},
            "messages[0].content[0].type",
            "is missing; it must be a string",
        ),
        (
            {
                "messages": [
                    {"role": "assistant", "content": [{"type": "tool_use", "id": 1, "name": "f"}]}
                ]
            },
            "messages[0].content[0].id",
            "must be a string, not an integer",
        ),
        (
            {
                "messages": [
                    {
                        "role": "user",
                        "content": [{"type": "tool_use", "id": "c", "name": "f", "input": {}}],
                    }
                ]
            },
            "messages[0].content[0]",
            "is a tool_use block: only a message of the assistant may hold one",
        ),
        (
            {
                "messages": [
                    {"role": "assistant", "content": [{"type": "tool_result", "tool_use_id": "c"}]}
                ]
            },
            "messages[0].content[0]",
            "is a tool_result block: only a message of the user may hold one",
        ),
        ({"tools": [1]}, "tools[0]", "must be an object, not an integer"),
        ({"tools": [{}]}, "tools[0].name", "is missing; it must be a string"),
        (
            {"tools": [{"name": "f", "input_schema": "s"}]},
            "tools[0].input_schema",
            "must be an object, not a string",
        ),
        ({"tool_choice": "auto"}, "tool_choice", "must be an object, not a string"),
        (
            {"tool_choice": {"type": "required"}},
            "tool_choice.type",
            "must be one of auto, any, tool, none, not 'required'",
        ),
        ({"tool_choice": {"type": "tool"}}, "tool_choice.name", "is missing; it must be a string"),
        (
            {"thinking": {"type": "enabled"}},
            "thinking.budget_tokens",
            "is missing; it must be an integer",
        ),
        (
            {"output_config": {"format": {"type": "text"}}},
            "output_config.format.type",
            "must be json_schema, not 'text'",
        ),
    ],
)
def test_the_client_is_told_the_place(fields: dict[str, Any], path: str, fault: str) -> None:
    with pytest.raises(InvalidRequest) as caught:
        read(**fields)
    assert caught.value.message == f"{path} {fault}"
    assert caught.value.param == path


@pytest.mark.parametrize("name", ["model", "messages"])
def test_what_is_missing_is_named(name: str) -> None:
    document = {"model": "m", "messages": []}
    del document[name]
    with pytest.raises(InvalidRequest, match=f"^{name} is missing; it must be "):
        CODEC.read_request(document)


NAMES = st.sampled_from(
    ["type", "text", "source", "input", "content", "role", "id", "name", "data", "cache_control"]
)
WORDS = st.sampled_from(
    [
        "text",
        "image",
        "document",
        "tool_use",
        "tool_result",
        "thinking",
        "user",
        "assistant",
        "tool",
    ]
)
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.decimals(allow_nan=False, allow_infinity=False)
    | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=5),
    max_leaves=12,
)
TOP = st.dictionaries(
    st.sampled_from(
        [
            "model",
            "messages",
            "system",
            "tools",
            "tool_choice",
            "thinking",
            "output_config",
            "output_format",
            "metadata",
            "max_tokens",
            "temperature",
            "stop_sequences",
            "stream",
        ]
    ),
    JSON,
)
MESSAGES = st.lists(
    st.fixed_dictionaries({"role": WORDS, "content": st.lists(JSON, max_size=3)}), max_size=3
)


@given(TOP, st.none() | MESSAGES)
def test_any_json_is_read_or_refused(document: dict[str, Any], messages: Any) -> None:
    if messages is not None:
        document = {**document, "model": "m", "messages": messages}
    try:
        request = CODEC.read_request(document)
    except InvalidRequest as refusal:
        assert refusal.param
        assert refusal.message.startswith(f"{refusal.param} ")
    else:
        assert request.model == document["model"]
        assert len(request.turns) >= len(document["messages"])
        request.turns = arrange(request.turns, losses := Losses())
        written = CODEC.write_request(request, Profile(), losses)
        assert json.decode(json.encode(written))["messages"][0]["role"] == "user"
