"""What a Messages client asks, in the neutral form; and where it is told that it asked wrongly."""

from __future__ import annotations

from decimal import Decimal
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
    Cache,
    Call,
    Choice,
    DocumentPart,
    FunctionTool,
    HostedTool,
    Image,
    Losses,
    Opaque,
    Part,
    Request,
    Result,
    Role,
    Source,
    Structured,
    Text,
    Thinking,
    ThinkingRequest,
    Turn,
)

MARK = {"type": "ephemeral", "ttl": "1h"}


def read(**fields: Any) -> Request:
    return CODEC.read_request({"model": "m", "max_tokens": 9, "messages": [], **fields})


def block(role: str = "user", **fields: Any) -> Part:
    (turn,) = read(messages=[{"role": role, "content": [fields]}]).turns
    (part,) = turn.parts
    return part


def test_a_request() -> None:
    request = read(
        system="Be brief.",
        messages=[
            {"role": "user", "content": "Oslo?"},
            {"role": "assistant", "content": [{"type": "text", "text": "Yes."}]},
            {"role": "system", "content": "Now in Norwegian."},
        ],
        stop_sequences=["END"],
        temperature=Decimal("0.50"),
        top_p=1,
        stream=True,
        metadata={"user_id": "u", "team": "t"},
        top_k=40,
        anthropic_version="vertex-2023-10-16",
        container=None,
    )
    assert request == Request(
        model="m",
        protocol="messages",
        max_tokens=9,
        turns=[
            Turn(Role.SYSTEM, [Text("Be brief.", at="system")], at="system"),
            Turn(Role.USER, [Text("Oslo?", at="messages[0].content")], at="messages[0]"),
            Turn(Role.ASSISTANT, [Text("Yes.", at="messages[1].content[0]")], at="messages[1]"),
            Turn(
                Role.SYSTEM, [Text("Now in Norwegian.", at="messages[2].content")], at="messages[2]"
            ),
        ],
        stop=["END"],
        temperature=Decimal("0.50"),
        top_p=1,
        stream=True,
        user="u",
        extra={"top_k": 40, "metadata.team": "t"},
    )


def test_system_blocks_with_their_marks() -> None:
    (turn,) = read(system=[{"type": "text", "text": "a", "cache_control": MARK}]).turns
    assert turn.parts == [Text("a", cache=Cache(MARK, "system[0].cache_control"), at="system[0]")]


AT = "messages[0].content[0]"


@pytest.mark.parametrize(
    ("fields", "part"),
    [
        (
            {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "x"}},
            Image(Source(data="x", media_type="image/png"), at=AT),
        ),
        (
            {"type": "image", "source": {"type": "url", "url": "https://example.org/a"}},
            Image(Source(url="https://example.org/a"), at=AT),
        ),
        (
            {"type": "image", "source": {"type": "file", "file_id": "f"}, "transformations": {}},
            Image(Source(file_id="f"), extra={"transformations": {}}, at=AT),
        ),
        (
            {
                "type": "document",
                "title": "t",
                "citations": {"enabled": True},
                "source": {"type": "text", "media_type": "text/plain", "data": "words"},
            },
            DocumentPart(
                Source(text="words", media_type="text/plain"),
                name="t",
                extra={"citations": {"enabled": True}},
                at=AT,
            ),
        ),
        (
            {"type": "document", "source": {"type": "content", "content": "words"}},
            Opaque(
                "messages",
                {"type": "document", "source": {"type": "content", "content": "words"}},
                at=AT,
            ),
        ),
        ({"type": "new", "x": 1}, Opaque("messages", {"type": "new", "x": 1}, at=AT)),
        ({"type": "tool_result", "tool_use_id": "c"}, Result("c", [], at=AT)),
        (
            {"type": "tool_result", "tool_use_id": "c", "content": "no", "is_error": True},
            Result("c", [Text("no", at=f"{AT}.content")], is_error=True, at=AT),
        ),
        (
            {
                "type": "tool_result",
                "tool_use_id": "c",
                "content": [{"type": "image", "source": {"type": "url", "url": "u"}}],
                "cache_control": MARK,
            },
            Result(
                "c",
                [Image(Source(url="u"), at=f"{AT}.content[0]")],
                cache=Cache(MARK, f"{AT}.cache_control"),
                at=AT,
            ),
        ),
    ],
)
def test_user_blocks(fields: dict[str, Any], part: Part) -> None:
    assert block(**fields) == part


@pytest.mark.parametrize(
    ("fields", "part"),
    [
        (
            {"type": "tool_use", "id": "c", "name": "f", "input": {"b": 1, "a": "ø"}},
            Call("c", "f", '{"b":1,"a":"ø"}', at=AT),
        ),
        (
            {"type": "thinking", "thinking": "", "signature": "c2ln"},
            Thinking("", signature="c2ln", origin="messages", at=AT),
        ),
        ({"type": "thinking", "thinking": "hm", "signature": ""}, Thinking("hm", at=AT)),
        (
            {"type": "redacted_thinking", "data": "x"},
            Thinking(redacted="x", origin="messages", at=AT),
        ),
        (
            {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}},
            Opaque(
                "messages",
                {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}},
                at=AT,
            ),
        ),
    ],
)
def test_assistant_blocks(fields: dict[str, Any], part: Part) -> None:
    assert block("assistant", **fields) == part


def test_numbers_inside_arguments_survive() -> None:
    document = json.decode(b'{"f":1.0,"i":1234567890123456789012,"e":1e400}')
    part = block("assistant", type="tool_use", id="c", name="f", input=document)
    assert isinstance(part, Call)
    assert part.arguments == '{"f":1.0,"i":1234567890123456789012,"e":1E+400}'


def test_tools() -> None:
    hosted = {"type": "web_search_20250305", "name": "web_search", "max_uses": 3}
    request = read(
        tools=[
            hosted,
            {
                "name": "f",
                "type": "custom",
                "description": "d",
                "input_schema": {"type": "object"},
                "strict": False,
                "cache_control": MARK,
                "defer_loading": True,
            },
            {"name": "g"},
        ]
    )
    assert request.tools == [
        HostedTool("messages", hosted, "tools[0]"),
        FunctionTool(
            "f",
            "d",
            {"type": "object"},
            strict=False,
            cache=Cache(MARK, "tools[1].cache_control"),
            extra={"defer_loading": True},
            at="tools[1]",
        ),
        FunctionTool("g", at="tools[2]"),
    ]


@pytest.mark.parametrize(
    ("fields", "choice", "parallel"),
    [
        ({"type": "auto"}, Choice("auto"), None),
        ({"type": "any", "disable_parallel_tool_use": True}, Choice("required"), False),
        ({"type": "none", "disable_parallel_tool_use": False}, Choice("none"), None),
        ({"type": "tool", "name": "f"}, Choice("tool", name="f"), None),
    ],
)
def test_choice(fields: dict[str, Any], choice: Choice, parallel: bool | None) -> None:
    request = read(tool_choice=fields)
    assert (request.choice, request.parallel) == (choice, parallel)


@pytest.mark.parametrize(
    ("fields", "wish"),
    [
        ({}, None),
        ({"thinking": {"type": "disabled"}}, ThinkingRequest(enabled=False, at="thinking")),
        (
            {"thinking": {"type": "enabled", "budget_tokens": 2000}},
            ThinkingRequest(enabled=True, budget=2000, summary="auto", at="thinking"),
        ),
        (
            {
                "thinking": {"type": "adaptive", "display": "omitted"},
                "output_config": {"effort": "low"},
            },
            ThinkingRequest(enabled=True, adaptive=True, effort="low", at="thinking"),
        ),
        (
            {"output_config": {"effort": "max"}},
            ThinkingRequest(effort="max", at="output_config.effort"),
        ),
    ],
)
def test_thinking(fields: dict[str, Any], wish: ThinkingRequest | None) -> None:
    assert read(**fields).thinking == wish


def test_structured_output() -> None:
    wish = {"type": "json_schema", "schema": {"type": "object"}}
    known = Structured({"type": "object"}, at="output_config.format")
    request = read(output_config={"format": wish, "task_budget": {"total": 1}})
    assert request.structured == known
    assert request.extra == {"output_config.task_budget": {"total": 1}}
    known.at = "output_format"
    assert read(output_format=wish).structured == known


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
            "a tool_use block may only stand in an assistant message",
        ),
        (
            {
                "messages": [
                    {"role": "assistant", "content": [{"type": "tool_result", "tool_use_id": "c"}]}
                ]
            },
            "messages[0].content[0]",
            "a tool_result block may only stand in a user message",
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
    assert caught.value.message == f"{path}: {fault}"
    assert caught.value.param == path


@pytest.mark.parametrize("name", ["model", "messages"])
def test_what_is_missing_is_named(name: str) -> None:
    document = {"model": "m", "messages": []}
    del document[name]
    with pytest.raises(InvalidRequest, match=f"^{name}: is missing; it must be "):
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
    st.none() | st.booleans() | st.integers() | st.decimals(allow_nan=False) | WORDS,
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
        assert refusal.message.startswith(f"{refusal.param}: ")
    else:
        assert request.model == document["model"]
        assert len(request.turns) >= len(document["messages"])
        request.turns = arrange(request.turns, losses := Losses())
        written = CODEC.write_request(request, Profile(), losses)
        assert json.decode(json.encode(written))["messages"][0]["role"] == "user"
