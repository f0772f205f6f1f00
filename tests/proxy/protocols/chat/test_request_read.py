"""Clients' requests, read; each wrong type is told with its place."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolwire.proxy.errors import InvalidRequest
from toolwire.proxy.protocols.chat import CODEC
from toolwire.proxy.protocols.neutral import (
    Cache,
    Call,
    Choice,
    CustomTool,
    DocumentPart,
    FunctionTool,
    HostedTool,
    Image,
    Opaque,
    Refusal,
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

HELLO = [{"role": "user", "content": "hello"}]


def read(**fields: Any) -> Request:
    return CODEC.read_request({"model": "m", "messages": HELLO, **fields})


def turns(*messages: dict[str, Any]) -> list[Turn]:
    return read(messages=list(messages)).turns


# --------------------------------------------------------------------------------- messages
def test_a_conversation_with_calls() -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"a":1}'}}
    assert turns(
        {"role": "system", "content": "Be brief."},
        {"role": "developer", "content": [{"type": "text", "text": "Metric."}]},
        {"role": "user", "content": "Oslo?", "name": "ann"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "5 C"},
    ) == [
        Turn(Role.SYSTEM, [Text("Be brief.", at="messages[0].content")], at="messages[0]"),
        Turn(Role.DEVELOPER, [Text("Metric.", at="messages[1].content[0]")], at="messages[1]"),
        Turn(Role.USER, [Text("Oslo?", at="messages[2].content")], "ann", "messages[2]"),
        Turn(
            Role.ASSISTANT,
            [Call("c1", "f", '{"a":1}', at="messages[3].tool_calls[0]")],
            at="messages[3]",
        ),
        Turn(
            Role.USER,
            [Result("c1", [Text("5 C", at="messages[4].content")], at="messages[4]")],
            at="messages[4]",
        ),
    ]


def test_images_files_and_unknown_parts() -> None:
    audio = {"type": "input_audio", "input_audio": {"data": "UklG", "format": "wav"}}
    pdf = {"file_data": "data:application/pdf;base64,JVBE", "filename": "a.pdf"}
    (turn,) = turns(
        {
            "role": "user",
            "content": [
                {"type": "image_url", "image_url": {"url": "data:image/PNG;base64,iVBO"}},
                {"type": "image_url", "image_url": {"url": "https://x/i.webp", "detail": "low"}},
                {"type": "image_url", "image_url": "https://x/bare.webp"},
                {"type": "file", "file": pdf},
                {"type": "file", "file": {"file_id": "file-1"}},
                audio,
            ],
        }
    )
    at = "messages[0].content"
    assert turn.parts == [
        Image(Source(data="iVBO", media_type="image/png"), at=f"{at}[0]"),
        Image(Source(url="https://x/i.webp"), detail="low", at=f"{at}[1]"),
        Image(Source(url="https://x/bare.webp"), at=f"{at}[2]"),
        DocumentPart(
            Source(data="JVBE", media_type="application/pdf"), name="a.pdf", at=f"{at}[3]"
        ),
        DocumentPart(Source(file_id="file-1"), at=f"{at}[4]"),
        Opaque("chat", audio, f"{at}[5]"),
    ]


def test_a_data_url_that_is_not_base64_stays_a_url() -> None:
    url = "data:image/svg+xml,%3Csvg%3E"
    (turn,) = turns({"role": "user", "content": [{"type": "image_url", "image_url": {"url": url}}]})
    assert turn.parts == [Image(Source(url=url), at="messages[0].content[0]")]


def test_cache_marks_on_parts_messages_and_tools() -> None:
    mark = {"type": "ephemeral"}
    request = read(
        messages=[
            {"role": "system", "content": [{"type": "text", "text": "a", "cache_control": mark}]},
            {"role": "user", "content": "b", "cache_control": mark},
            {"role": "user", "content": "", "cache_control": mark},
        ],
        tools=[{"type": "function", "function": {"name": "f"}, "cache_control": mark}],
    )
    first, second, third = (turn.parts for turn in request.turns)
    assert isinstance(first[0], Text)
    assert first[0].cache == Cache(mark, "messages[0].content[0].cache_control")
    assert isinstance(second[0], Text)
    assert second[0].cache == Cache(mark, "messages[1].cache_control")
    assert third == [Opaque("chat", {"cache_control": mark}, "messages[2].cache_control")]
    assert isinstance(request.tools[0], FunctionTool)
    assert request.tools[0].cache == Cache(mark, "tools[0].cache_control")
    inside = {"type": "function", "function": {"name": "f", "cache_control": mark}}
    (tool,) = read(tools=[inside]).tools
    assert tool.cache == Cache(mark, "tools[0].function.cache_control")
    assert isinstance(tool, FunctionTool) and tool.extra is None


def test_fields_of_parts_that_have_no_place_are_kept_to_be_reported() -> None:
    breakpoint_ = {"mode": "explicit"}
    (turn,) = turns(
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "a", "prompt_cache_breakpoint": breakpoint_, "x": None},
                {"type": "image_url", "image_url": "https://x/i", "fps": 2},
                "bare",
            ],
        }
    )
    at = "messages[0].content"
    assert turn.parts == [
        Text("a", at=f"{at}[0]"),
        Opaque(
            "chat",
            {"prompt_cache_breakpoint": breakpoint_},
            f"{at}[0].prompt_cache_breakpoint",
        ),
        Image(Source(url="https://x/i"), extra={"fps": 2}, at=f"{at}[1]"),
        Text("bare", at=f"{at}[2]"),
    ]


@pytest.mark.parametrize("thinking", ["hm", [{"type": "text", "text": "h"}, {"text": "m"}]])
def test_thinking_parts_of_the_history(thinking: Any) -> None:
    (turn,) = turns({"role": "assistant", "content": [{"type": "thinking", "thinking": thinking}]})
    assert turn.parts == [Thinking("hm", origin="chat", at="messages[0].content[0]")]


@pytest.mark.parametrize(
    ("value", "choice"),
    [("auto", Choice(at="function_call")), ("none", Choice("none", at="function_call"))],
)
def test_the_deprecated_choice(value: str, choice: Choice) -> None:
    assert read(function_call=value).choice == choice


def test_reasoning_of_the_history() -> None:
    block = {"type": "thinking", "thinking": "hm", "signature": "sig"}
    sealed = {"type": "redacted_thinking", "data": "x"}
    first, second, third = turns(
        {"role": "assistant", "content": "a", "reasoning_content": "hm"},
        {"role": "assistant", "content": "b", "reasoning": "well"},
        {
            "role": "assistant",
            "content": "c",
            "reasoning_content": "hm",
            "reasoning_blocks": [block, sealed, {"type": "thinking", "thinking": "unsigned"}],
            "reasoning_vendor": "anthropic",
        },
    )
    at = "messages[2].reasoning_blocks"
    assert first.parts[0] == Thinking("hm", origin="chat", at="messages[0].reasoning_content")
    assert second.parts[0] == Thinking("well", origin="chat", at="messages[1].reasoning")
    assert third.parts == [
        Thinking("hm", signature="sig", origin="messages", vendor="anthropic", at=at),
        Thinking(redacted="x", origin="messages", vendor="anthropic", at=at),
        Text("c", at="messages[2].content"),
    ]


def test_a_refusal_and_fields_that_only_chat_knows() -> None:
    (turn,) = turns(
        {
            "role": "assistant",
            "content": [{"type": "refusal", "refusal": "No."}],
            "refusal": "Never.",
            "audio": {"id": "audio_1"},
            "annotations": [],
            "function_call": None,
        }
    )
    assert turn.parts == [
        Refusal("No.", at="messages[0].content[0]"),
        Refusal("Never.", at="messages[0].refusal"),
        Opaque("chat", {"audio": {"id": "audio_1"}}, "messages[0].audio"),
    ]


def test_custom_calls_and_their_results() -> None:
    call = {"id": "c1", "type": "custom", "custom": {"name": "patch", "input": "*** Begin"}}
    first, second = turns(
        {"role": "assistant", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "done"},
    )
    assert first.parts == [
        Call("c1", "patch", "*** Begin", custom=True, at="messages[0].tool_calls[0]")
    ]
    assert isinstance(second.parts[0], Result)
    assert second.parts[0].custom


def test_deprecated_functions_are_tools_calls_and_results() -> None:
    request = read(
        functions=[{"name": "f", "description": "d", "parameters": {"type": "object"}}],
        function_call={"name": "f"},
        messages=[
            {"role": "assistant", "function_call": {"name": "f", "arguments": "{}"}},
            {"role": "function", "name": "f", "content": "5"},
        ],
    )
    (call,), (result,) = (turn.parts for turn in request.turns)
    assert isinstance(call, Call)
    assert isinstance(result, Result)
    assert call.id == result.call_id
    assert call.id.startswith("call_")
    assert request.tools == [FunctionTool("f", "d", {"type": "object"}, at="functions[0]")]
    assert request.choice == Choice("tool", "f", at="function_call")


def test_fields_of_a_call_that_another_vendor_needs_back() -> None:
    extra = {"google": {"thought_signature": "sig"}}
    call = {"id": "c", "function": {"name": "f", "arguments": "{}"}, "extra_content": extra}
    (turn,) = turns({"role": "assistant", "tool_calls": [call]})
    assert isinstance(turn.parts[0], Call)
    assert turn.parts[0].extra == {"extra_content": extra}


# ------------------------------------------------------------------------------------ tools
def test_tools() -> None:
    schema = {"type": "object", "properties": {"a": {}}}
    grammar = {"syntax": "lark", "definition": "start: /x/"}
    hosted = {"type": "openrouter:web_search", "parameters": {}}
    assert read(
        tools=[
            {
                "type": "function",
                "function": {
                    "name": "f",
                    "description": "d",
                    "parameters": schema,
                    "strict": False,
                },
                "defer": True,
            },
            {"function": {"name": "g"}},
            {
                "type": "custom",
                "custom": {"name": "h", "format": {"type": "grammar", "grammar": grammar}},
            },
            hosted,
        ]
    ).tools == [
        FunctionTool("f", "d", schema, strict=False, extra={"defer": True}, at="tools[0]"),
        FunctionTool("g", at="tools[1]"),
        CustomTool("h", format={"type": "grammar", **grammar}, at="tools[2]"),
        HostedTool("chat", hosted, "tools[3]"),
    ]


@pytest.mark.parametrize(
    ("value", "choice"),
    [
        ("auto", Choice()),
        ("none", Choice("none")),
        ("required", Choice("required")),
        ("any", Choice("required")),
        ({"type": "function", "function": {"name": "f"}}, Choice("tool", "f")),
        ({"type": "function", "name": "f"}, Choice("tool", "f")),
        ({"type": "custom", "custom": {"name": "f"}}, Choice("tool", "f", custom=True)),
        (
            {
                "type": "allowed_tools",
                "allowed_tools": {
                    "mode": "required",
                    "tools": [{"type": "function", "function": {"name": "f"}}],
                },
            },
            Choice("required", allowed=["f"]),
        ),
    ],
)
def test_choices(value: Any, choice: Choice) -> None:
    assert read(tool_choice=value).choice == choice


# ---------------------------------------------------------------------------- other fields
def test_limits_sampling_and_what_has_no_place_of_its_own() -> None:
    request = read(
        max_completion_tokens=7,
        max_tokens=9,
        temperature=Decimal("0.30"),
        top_p=1,
        stop="END",
        user="u1",
        stream=True,
        stream_options={"include_usage": True},
        parallel_tool_calls=False,
        store=True,
        n=1,
        seed=3,
        logprobs=False,
        metadata={},
        logit_bias=None,
        brand_new={"a": 1},
    )
    assert (request.max_tokens, request.temperature, request.top_p) == (7, Decimal("0.30"), 1)
    assert (request.stop, request.user, request.stream) == (["END"], "u1", True)
    assert (request.include_usage, request.parallel, request.store) == (True, False, True)
    assert request.extra == {"store": True, "seed": 3, "brand_new": {"a": 1}}
    assert request.protocol == "chat"


def test_structured_output() -> None:
    schema = {"type": "object"}
    wish = {"name": "city", "schema": schema, "strict": True, "description": "d"}
    at = "response_format"
    assert read(response_format={"type": "text"}).structured is None
    assert read(response_format={"type": "json_object"}).structured == Structured(at=at)
    assert read(
        response_format={"type": "json_schema", "json_schema": wish}
    ).structured == Structured(schema, "city", "d", strict=True, at=at)


@pytest.mark.parametrize(
    ("fields", "wish"),
    [
        ({}, None),
        ({"reasoning_effort": None}, None),
        (
            {"reasoning_effort": "high"},
            ThinkingRequest(True, "high", at="reasoning_effort"),
        ),
        (
            {"reasoning_effort": "none"},
            ThinkingRequest(False, "none", at="reasoning_effort"),
        ),
        ({"enable_thinking": False}, ThinkingRequest(False, at="enable_thinking")),
        ({"thinking_budget": 512}, ThinkingRequest(True, budget=512, at="thinking_budget")),
        ({"thinking": {"type": "disabled"}}, ThinkingRequest(False, at="thinking")),
        (
            {"thinking": {"type": "enabled", "budget_tokens": 9}},
            ThinkingRequest(True, budget=9, at="thinking"),
        ),
        ({"reasoning": {"max_tokens": 9}}, ThinkingRequest(True, budget=9, at="reasoning")),
        ({"reasoning": {"enabled": False}}, ThinkingRequest(False, at="reasoning")),
    ],
)
def test_thinking(fields: dict[str, Any], wish: ThinkingRequest | None) -> None:
    request = read(**fields)
    assert request.thinking == wish
    assert request.extra == {}


# ------------------------------------------------------------------------------ wrong types
@pytest.mark.parametrize(
    ("fields", "path", "fault"),
    [
        ({"model": 3}, "model", "must be a string, not an integer"),
        ({"messages": None}, "messages", "must be an array, not null"),
        ({"messages": ["x"]}, "messages[0]", "must be an object, not a string"),
        ({"messages": [{}]}, "messages[0].role", "is missing; it must be a string"),
        ({"messages": [{"role": "robot"}]}, "messages[0].role", "must be one of system"),
        (
            {"messages": [{"role": "user", "content": 5}]},
            "messages[0].content",
            "must be a string or an array, not an integer",
        ),
        (
            {"messages": [{"role": "user", "content": [{"type": "text"}]}]},
            "messages[0].content[0].text",
            "is missing; it must be a string",
        ),
        (
            {"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": 1}]}]},
            "messages[0].content[0].image_url",
            "must be an object, not an integer",
        ),
        (
            {"messages": [{"role": "user", "content": [{"type": "file", "file": {}}]}]},
            "messages[0].content[0].file",
            "must have file_data or file_id",
        ),
        (
            {
                "messages": [
                    *HELLO,
                    {"role": "assistant", "tool_calls": [{"id": 5, "function": {}}]},
                ]
            },
            "messages[1].tool_calls[0].id",
            "must be a string, not an integer",
        ),
        (
            {
                "messages": [
                    {
                        "role": "assistant",
                        "tool_calls": [{"id": "a", "function": {"name": "f", "arguments": {}}}],
                    }
                ]
            },
            "messages[0].tool_calls[0].function.arguments",
            "must be a string, not an object",
        ),
        ({"messages": [{"role": "tool"}]}, "messages[0].tool_call_id", "is missing"),
        ({"tools": {}}, "tools", "must be an array, not an object"),
        ({"tools": [{"type": "function"}]}, "tools[0].function", "is missing"),
        ({"tools": [{}]}, "tools[0].type", "is missing"),
        (
            {"tools": [{"type": "function", "function": {"name": "f", "parameters": "x"}}]},
            "tools[0].function.parameters",
            "must be an object, not a string",
        ),
        ({"tool_choice": "f"}, "tool_choice", 'must be "auto"'),
        ({"tool_choice": 1}, "tool_choice", "must be a string or an object, not an integer"),
        ({"tool_choice": {"type": "x"}}, "tool_choice.type", 'must be "function"'),
        ({"function_call": "f"}, "function_call", 'must be "auto", "none" or an object'),
        (
            {"tool_choice": {"type": "allowed_tools", "allowed_tools": {"mode": "x"}}},
            "tool_choice.allowed_tools.mode",
            'must be "auto" or "required"',
        ),
        (
            {"messages": [{"role": "assistant", "tool_calls": [{"type": "x", "id": "a"}]}]},
            "messages[0].tool_calls[0].type",
            'must be "function" or "custom"',
        ),
        ({"stop": 5}, "stop", "must be a string or an array, not an integer"),
        ({"max_tokens": True}, "max_tokens", "must be an integer, not a boolean"),
        ({"max_tokens": Decimal("1.5")}, "max_tokens", "must be an integer, not a number"),
        ({"temperature": "hot"}, "temperature", "must be a number, not a string"),
        ({"stop": ["a", 1]}, "stop[1]", "must be a string, not an integer"),
        ({"response_format": {"type": "xml"}}, "response_format.type", 'must be "text"'),
        ({"stream": "yes"}, "stream", "must be a boolean, not a string"),
        ({"n": 2}, "n", "must be 1"),
        ({"reasoning_effort": 5}, "reasoning_effort", "must be a string, not an integer"),
    ],
)
def test_a_wrong_type_is_told_with_its_place(fields: dict[str, Any], path: str, fault: str) -> None:
    with pytest.raises(InvalidRequest) as raised:
        read(**fields)
    assert raised.value.param == path
    assert raised.value.message.startswith(f"{path} {fault}")


def test_messages_must_be_there() -> None:
    with pytest.raises(InvalidRequest, match="messages is missing"):
        CODEC.read_request({"model": "m"})


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-1, 2)
    | st.decimals(allow_nan=False, allow_infinity=False)
    | st.sampled_from(["", "x", "user", "assistant", "tool", "function", "custom", "text"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                "role content type text image_url url file file_data tool_calls id function custom "
                "name arguments input tool_call_id parameters strict format grammar mode tools "
                "allowed_tools reasoning_blocks reasoning_vendor thinking signature function_call "
                "cache_control json_schema schema effort max_tokens refusal".split()
            ),
            inner,
            max_size=6,
        )
    ),
    max_leaves=25,
)
FIELDS = st.sampled_from(
    "model messages tools functions tool_choice function_call parallel_tool_calls max_tokens stop "
    "temperature response_format user stream stream_options store n reasoning_effort thinking "
    "reasoning enable_thinking thinking_budget seed".split()
)


@given(st.dictionaries(FIELDS, JSON, max_size=5), st.lists(JSON, max_size=3))
def test_no_request_brings_anything_but_an_invalid_request(
    fields: dict[str, Any], messages: list[Any]
) -> None:
    for document in (fields, {"messages": messages, **fields}, {**fields, "messages": messages}):
        try:
            request = CODEC.read_request(document)
        except InvalidRequest as error:
            assert error.param
        else:
            assert isinstance(request, Request)


def test_tools_in_the_forms_of_the_other_protocols() -> None:
    schema = {"type": "object", "properties": {}}
    mark = {"type": "ephemeral"}
    tools = [
        {"name": "a", "input_schema": schema, "cache_control": mark},
        {"type": "custom", "name": "b", "input_schema": schema, "strict": True},
        {"type": "function", "name": "c", "parameters": schema, "defer_loading": True},
        {"type": "custom", "name": "d", "format": {"type": "text"}},
    ]

    assert read(tools=tools).tools == [
        FunctionTool(
            "a", schema=schema, cache=Cache(mark, "tools[0].cache_control"), at="tools[0]"
        ),
        FunctionTool("b", schema=schema, strict=True, at="tools[1]"),
        FunctionTool("c", schema=schema, extra={"defer_loading": True}, at="tools[2]"),
        CustomTool("d", format={"type": "text"}, at="tools[3]"),
    ]
