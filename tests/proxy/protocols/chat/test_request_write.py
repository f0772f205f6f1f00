"""Requests, written for chat upstreams; what they cannot carry is reported."""

from __future__ import annotations

from decimal import Decimal
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.proxy.protocols.chat.test_request_read import JSON
from toolwire.config.profile import Profile
from toolwire.proxy.errors import InvalidRequest
from toolwire.proxy.protocols import json
from toolwire.proxy.protocols.chat import CODEC
from toolwire.proxy.protocols.layout import arrange
from toolwire.proxy.protocols.neutral import (
    Cache,
    Call,
    Choice,
    CustomTool,
    DocumentPart,
    FunctionTool,
    HostedTool,
    Image,
    Losses,
    Opaque,
    Part,
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

GENERIC = Profile()
PNG = Image(Source(data="iVBO", media_type="image/png"), at="i")
MARK = {"type": "ephemeral"}
TOOL = FunctionTool("f", "d", {"type": "object", "properties": {}}, at="tools[0]")


def write(
    *turns: Turn,
    quirks: Profile = GENERIC,
    protocol: Literal["messages", "responses"] = "messages",
    **fields: Any,
) -> tuple[dict[str, Any], list[tuple[str, str]]]:
    """The document, and (path, kind) of each loss."""
    losses = Losses()
    document = CODEC.write_request(Request("m", list(turns), protocol, **fields), quirks, losses)
    return document, [(loss.path, loss.kind) for loss in losses.entries]


def messages(*turns: Turn, quirks: Profile = GENERIC) -> list[dict[str, Any]]:
    document, losses = write(*turns, quirks=quirks)
    assert losses == []
    return list(document["messages"])


def user(*parts: Part) -> Turn:
    return Turn(Role.USER, list(parts))


def assistant(*parts: Part) -> Turn:
    return Turn(Role.ASSISTANT, list(parts))


# --------------------------------------------------------------------------------- messages
def test_a_conversation_with_results_and_what_the_user_added() -> None:
    assert messages(
        Turn(Role.SYSTEM, [Text("a"), Text("b")]),
        user(Text("Oslo?")),
        assistant(Text("Let me"), Text(" see."), Call("c1", "f", '{"a":1}'), Call("c2", "g")),
        user(Result("c1", [Text("5"), Text("C")]), Result("c2", []), Text("And?"), PNG),
    ) == [
        {"role": "system", "content": "a\n\nb"},
        {"role": "user", "content": "Oslo?"},
        {
            "role": "assistant",
            "content": "Let me see.",
            "tool_calls": [
                {"id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"a":1}'}},
                {"id": "c2", "type": "function", "function": {"name": "g", "arguments": "{}"}},
            ],
        },
        {"role": "tool", "tool_call_id": "c1", "content": "5\nC"},
        {"role": "tool", "tool_call_id": "c2", "content": ""},
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "And?"},
                {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBO"}},
            ],
        },
    ]


def test_an_assistant_turn_without_text() -> None:
    (called,) = messages(assistant(Call("c", "f")), assistant())
    assert called["content"] is None


def test_an_assistant_turn_of_which_nothing_means_anything_here_is_left_out() -> None:
    hosted = assistant(Opaque("responses", {"type": "mcp_list_tools"}, "input[1]"))
    document, losses = write(user(Text("q")), hosted, user(Text("w")))
    assert [message["role"] for message in document["messages"]] == ["user", "user"]
    assert losses == [("input[1]", "dropped")]


def test_a_conversation_in_which_nothing_is_said() -> None:
    assert messages() == [{"role": "user", "content": ""}]


@pytest.mark.parametrize("known", [True, False])
def test_the_developer_role_where_it_is_known(known: bool) -> None:
    turn = Turn(Role.DEVELOPER, [Text("a")])
    (message,) = messages(turn, quirks=Profile(developer_role=known))
    assert message["role"] == ("developer" if known else "system")


def test_a_failed_result_is_marked() -> None:
    (_, first, second) = messages(
        assistant(Call("a", "f"), Call("b", "f")),
        user(Result("a", [Text("exit 3")], is_error=True), Result("b", [], is_error=True)),
    )
    assert first["content"] == "Error: exit 3"
    assert second["content"] == "Error"


def test_images_of_a_result_follow_in_a_user_message_that_names_the_call() -> None:
    _, tool, more = messages(
        assistant(Call("c1", "screenshot")),
        user(Result("c1", [Text("captured"), PNG]), Text("What is it?")),
    )
    assert tool == {"role": "tool", "tool_call_id": "c1", "content": "captured"}
    assert more["content"] == [
        {"type": "text", "text": "Result of the call c1 (screenshot):"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBO"}},
        {"type": "text", "text": "What is it?"},
    ]


def test_a_result_of_an_image_alone_says_where_it_is() -> None:
    tool, more = messages(user(Result("c1", [PNG])))
    assert tool["content"] == "[The result is in the next user message.]"
    assert more["content"][0]["text"] == "Result of the call c1:"


def test_images_stay_in_the_result_where_the_upstream_takes_them() -> None:
    (tool,) = messages(
        user(Result("c1", [Text("x"), PNG])), quirks=Profile(tool_result_images=True)
    )
    assert [part["type"] for part in tool["content"]] == ["text", "image_url"]


def test_documents() -> None:
    document, losses = write(
        user(
            DocumentPart(Source(data="JVBE"), name="a.pdf"),
            DocumentPart(Source(file_id="file-1")),
            DocumentPart(Source(text="plain"), name="a.txt"),
            DocumentPart(Source(url="https://x/a.pdf"), at="messages[0].content[3]"),
        ),
        protocol="responses",
    )
    data = "data:application/pdf;base64,JVBE"
    assert document["messages"][0]["content"] == [
        {"type": "file", "file": {"filename": "a.pdf", "file_data": data}},
        {"type": "file", "file": {"file_id": "file-1"}},
        {"type": "text", "text": "a.txt\n\nplain"},
        {"type": "text", "text": "[Document: https://x/a.pdf]"},
    ]
    assert losses == [("messages[0].content[3]", "coerced")]


def test_the_id_of_a_file_means_nothing_to_another_vendor() -> None:
    document, losses = write(user(DocumentPart(Source(file_id="file_1"), at="d"), Text("q")))
    assert document["messages"] == [{"role": "user", "content": "q"}]
    assert losses == [("d", "dropped")]


def test_citations_of_the_history_are_reported() -> None:
    cited = Text("a", citations=Opaque("messages", [{"cited_text": "x"}], "c.citations"))
    document, losses = write(assistant(cited))
    assert document["messages"] == [{"role": "assistant", "content": "a"}]
    assert losses == [("c.citations", "dropped")]


def test_thinking_of_the_history_is_reasoning_in_the_upstreams_words() -> None:
    turn = assistant(Thinking("hm", signature="sig", origin="messages"), Text("a"))
    assert messages(turn)[0]["reasoning_content"] == "hm"
    assert messages(turn, quirks=Profile(reasoning_field="reasoning"))[0]["reasoning"] == "hm"


def test_what_has_no_place_in_a_message_is_reported() -> None:
    document, losses = write(
        assistant(
            Thinking(redacted="x", origin="messages", at="a"),
            Opaque("messages", {"type": "server_tool_use"}, "b"),
            Refusal("No."),
            Call(
                "c",
                "f",
                cache=Cache(MARK, "d.cache_control"),
                extra={"caller": 1},
                at="d",
            ),
        ),
        user(
            Image(Source(file_id="file_1"), at="e", extra={"x": 1}),
            Text("hi", cache=Cache(MARK, "f.cache_control")),
            Result(
                "c",
                [Opaque("messages", {"type": "tool_reference"}, "g")],
                cache=Cache(MARK, "h.cache_control"),
            ),
        ),
    )
    assert document["messages"][0]["content"] == "No."
    assert [message["role"] for message in document["messages"]] == ["assistant", "tool", "user"]
    assert sorted(losses) == [
        (path, "dropped")
        for path in (
            "a",
            "b",
            "d.cache_control",
            "d.caller",
            "e",
            "e.x",
            "f.cache_control",
            "g",
            "h.cache_control",
        )
    ]


def test_cache_marks_stay_where_the_upstream_takes_them() -> None:
    tool = FunctionTool("f", cache=Cache(MARK, "t"))
    document, losses = write(
        Turn(Role.SYSTEM, [Text("a", cache=Cache(MARK, "x"))]),
        user(Result("c", [Text("r")], cache=Cache(MARK, "y"))),
        tools=[tool],
        quirks=Profile(cache_control=True),
    )
    system, result = document["messages"]
    assert system["content"] == [{"type": "text", "text": "a", "cache_control": MARK}]
    assert result["content"] == [{"type": "text", "text": "r", "cache_control": MARK}]
    assert document["tools"][0]["cache_control"] == MARK
    assert losses == []


# ------------------------------------------------------------------------------------ tools
def test_tools_choice_and_the_switch_for_one_at_a_time() -> None:
    document, losses = write(
        tools=[
            TOOL,
            CustomTool("p", format={"type": "grammar", "syntax": "lark", "definition": "x"}),
        ],
        choice=Choice("tool", "f"),
        parallel=False,
        quirks=Profile(custom_tools=True),
    )
    grammar = {"syntax": "lark", "definition": "x"}
    assert document["tools"] == [
        {
            "type": "function",
            "function": {
                "name": "f",
                "description": "d",
                "parameters": {"type": "object", "properties": {}},
            },
        },
        {
            "type": "custom",
            "custom": {"name": "p", "format": {"type": "grammar", "grammar": grammar}},
        },
    ]
    assert document["tool_choice"] == {"type": "function", "function": {"name": "f"}}
    assert document["parallel_tool_calls"] is False
    assert losses == []


@pytest.mark.parametrize(
    ("schema", "written"),
    [
        (None, {"type": "object", "properties": {}}),
        ({"type": "object"}, {"type": "object", "properties": {}}),
        ({"properties": {"a": {}}}, {"type": "object", "properties": {"a": {}}}),
        ({"type": "object", "properties": {"a": {}}, "x": 1}, None),
    ],
)
def test_schemas(schema: dict[str, Any] | None, written: dict[str, Any] | None) -> None:
    document, _ = write(tools=[FunctionTool("f", schema=schema)])
    assert document["tools"][0]["function"]["parameters"] == (written or schema)


def test_without_tools_there_is_no_choice_and_no_switch() -> None:
    hosted = HostedTool("messages", {"type": "web_search_20250305", "name": "web_search"})
    document, losses = write(tools=[hosted], choice=Choice("required"), parallel=False)
    assert document.keys() == {"model", "messages"}
    assert losses == [("tools[0]", "dropped"), ("tool_choice", "dropped")]
    document, losses = write(choice=Choice("auto"))
    assert document.keys() == {"model", "messages"}
    assert losses == []


def test_a_choice_of_a_tool_that_could_not_go_up() -> None:
    hosted = HostedTool("messages", {"name": "web_search"})
    document, losses = write(tools=[TOOL, hosted], choice=Choice("tool", "web_search"))
    assert "tool_choice" not in document
    assert losses == [("tools[1]", "dropped"), ("tool_choice", "dropped")]


def test_allowed_tools_are_the_subset_and_the_mode() -> None:
    tools = [FunctionTool("f"), FunctionTool("g")]
    document, losses = write(tools=tools, choice=Choice("required", allowed=["g"]))
    assert [tool["function"]["name"] for tool in document["tools"]] == ["g"]
    assert document["tool_choice"] == "required"
    assert losses == []
    document, losses = write(tools=tools, choice=Choice("auto", allowed=["h"]))
    assert len(document["tools"]) == 2
    assert losses == [("tool_choice", "coerced")]


@pytest.mark.parametrize(
    ("strict", "known", "written", "reported"),
    [
        (True, True, True, False),
        (False, True, False, False),
        (None, True, ..., False),
        (True, False, ..., True),
        (False, False, ..., False),
    ],
)
def test_strict(strict: bool | None, known: bool, written: Any, reported: bool) -> None:
    tool = FunctionTool("f", strict=strict, at="tools[0]")
    document, losses = write(tools=[tool], quirks=Profile(strict=known))
    assert document["tools"][0]["function"].get("strict", ...) == written
    assert losses == ([("tools[0].strict", "dropped")] if reported else [])


def test_fields_of_tools_that_chat_does_not_know_are_reported() -> None:
    _, losses = write(tools=[FunctionTool("f", extra={"input_examples": [1]}, at="tools[0]")])
    assert losses == [("tools[0].input_examples", "dropped")]


@pytest.mark.parametrize(
    ("protocol", "path"),
    [
        ("messages", "tool_choice.disable_parallel_tool_use"),
        ("responses", "parallel_tool_calls"),
    ],
)
def test_an_upstream_without_the_switch_for_one_at_a_time(
    protocol: Literal["messages", "responses"], path: str
) -> None:
    quirks = Profile(parallel_tool_calls=False)
    document, losses = write(tools=[TOOL], parallel=False, quirks=quirks, protocol=protocol)
    assert "parallel_tool_calls" not in document
    assert losses == [(path, "dropped")]


def test_the_switch_never_stands_beside_none() -> None:
    document, _ = write(tools=[TOOL], choice=Choice("none"), parallel=False)
    assert document["tool_choice"] == "none"
    assert "parallel_tool_calls" not in document


# ----------------------------------------------------------------------- limits and sampling
def test_limits_in_the_upstreams_words() -> None:
    document, losses = write(
        user(Text("q")),
        max_tokens=77,
        temperature=Decimal("1.50"),
        top_p=Decimal("0.9"),
        stop=["a", "b", "c"],
        user="u",
        stream=True,
        quirks=Profile(max_tokens_field="max_completion_tokens", temperature_max=1.0, stop_max=2),
    )
    assert document == {
        "model": "m",
        "messages": [{"role": "user", "content": "q"}],
        "max_completion_tokens": 77,
        "temperature": 1,
        "top_p": Decimal("0.9"),
        "stop": ["a", "b"],
        "user": "u",
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    assert losses == [("temperature", "coerced"), ("stop_sequences[2]", "dropped")]


def test_usage_is_not_asked_of_an_upstream_that_does_not_know_how() -> None:
    document, _ = write(stream=True, quirks=Profile(stream_usage=False))
    assert "stream_options" not in document


def test_temperature_passes_as_it_was_written() -> None:
    document, losses = write(temperature=Decimal("0.30"))
    assert json.encode(document["temperature"]) == b"0.30"
    assert losses == []


@pytest.mark.parametrize(
    ("known", "written", "kind"),
    [
        ("json_schema", "json_schema", None),
        ("json_object", "json_object", "coerced"),
        ("none", None, "dropped"),
    ],
)
def test_structured_output(known: Any, written: str | None, kind: str | None) -> None:
    wish = Structured({"type": "object"}, strict=True, at="output_config.format")
    document, losses = write(structured=wish, quirks=Profile(structured_output=known))
    found = document.get("response_format")
    assert (found and found["type"]) == written
    if written == "json_schema":
        assert found["json_schema"] == {
            "name": "output",
            "schema": {"type": "object"},
            "strict": True,
        }
    assert losses == ([("output_config.format", kind)] if kind else [])


def test_any_json_object() -> None:
    document, _ = write(structured=Structured())
    assert document["response_format"] == {"type": "json_object"}


def test_other_fields_keep_their_name_and_meaning_or_are_reported() -> None:
    extra = {"prompt_cache_key": "k", "top_k": 5, "metadata": {"a": "b"}, "service_tier": "flex"}
    document, losses = write(extra=dict(extra), protocol="responses")
    assert document["prompt_cache_key"] == "k"
    assert document["service_tier"] == "flex"
    assert losses == [("top_k", "dropped"), ("metadata", "dropped")]
    _, losses = write(extra={"service_tier": "standard_only"}, protocol="messages")
    assert losses == [("service_tier", "dropped")]


def test_fields_of_chat_itself_pass() -> None:
    """Where both sides speak it: what the reader kept goes back where it was."""
    call = {
        "id": "c",
        "type": "function",
        "function": {"name": "f", "arguments": "{}"},
        "extra_content": {"google": 1},
    }
    audio = {"type": "input_audio", "input_audio": {"data": "UklG", "format": "wav"}}
    document = {
        "model": "m",
        "messages": [
            {"role": "user", "content": [audio]},
            {"role": "assistant", "audio": {"id": "a"}, "content": None, "tool_calls": [call]},
        ],
        "tools": [{"type": "openrouter:web_search"}],
        "logit_bias": {"5": 1},
        "brand_new": True,
    }
    losses = Losses()
    assert CODEC.write_request(CODEC.read_request(document), GENERIC, losses) == document
    assert losses.entries == []


def test_a_schema_that_says_strict_to_an_upstream_that_does_not_know_it() -> None:
    wish = Structured({}, "n", "d", strict=True, at="response_format")
    document, losses = write(structured=wish, quirks=Profile(strict=False))
    assert document["response_format"]["json_schema"] == {
        "name": "n",
        "schema": {},
        "description": "d",
    }
    assert losses == [("response_format.strict", "dropped")]


# --------------------------------------------------------------------------------- thinking
LOW_AND_HIGH = ("low", "high")


@pytest.mark.parametrize(
    ("wish", "quirks", "written", "kinds"),
    [
        (ThinkingRequest(True, "high"), {}, {"reasoning_effort": "high"}, []),
        (ThinkingRequest(False), {}, {"reasoning_effort": "none"}, []),
        (ThinkingRequest(True, budget=4096), {}, {"reasoning_effort": "medium"}, []),
        (ThinkingRequest(True, budget=10**6), {}, {"reasoning_effort": "max"}, []),
        (ThinkingRequest(True, adaptive=True), {}, {}, []),
        (
            ThinkingRequest(True, "xhigh"),
            {"efforts": LOW_AND_HIGH},
            {"reasoning_effort": "high"},
            ["coerced"],
        ),
        (ThinkingRequest(False), {"efforts": LOW_AND_HIGH}, {}, ["dropped"]),
        (ThinkingRequest(True, "high"), {"thinking_switch": "none"}, {}, ["dropped"]),
        (ThinkingRequest(False), {"thinking_switch": "none"}, {}, []),
        (
            ThinkingRequest(True, budget=9000),
            {"thinking_switch": "enable_thinking"},
            {"enable_thinking": True, "thinking_budget": 9000},
            [],
        ),
        (
            ThinkingRequest(True, "low"),
            {"thinking_switch": "enable_thinking"},
            {"enable_thinking": True, "thinking_budget": 2048},
            [],
        ),
        (
            ThinkingRequest(False, budget=9000),
            {"thinking_switch": "enable_thinking"},
            {"enable_thinking": False},
            [],
        ),
        (
            ThinkingRequest(True, "high"),
            {"thinking_switch": "thinking_type"},
            {"thinking": {"type": "enabled"}, "reasoning_effort": "high"},
            [],
        ),
        (
            ThinkingRequest(True, "high"),
            {"thinking_switch": "thinking_type", "efforts": ()},
            {"thinking": {"type": "enabled"}},
            [],
        ),
        (
            ThinkingRequest(False),
            {"thinking_switch": "thinking_type"},
            {"thinking": {"type": "disabled"}},
            [],
        ),
        (
            ThinkingRequest(True),
            {"thinking_switch": "chat_template_kwargs", "thinking_key": "thinking"},
            {"chat_template_kwargs": {"thinking": True}},
            [],
        ),
        (
            ThinkingRequest(None, "medium"),
            {"thinking_switch": "reasoning"},
            {"reasoning": {"effort": "medium"}},
            [],
        ),
        (
            ThinkingRequest(True, budget=500),
            {"thinking_switch": "reasoning"},
            {"reasoning": {"max_tokens": 500}},
            [],
        ),
        (
            ThinkingRequest(False),
            {"thinking_switch": "reasoning"},
            {"reasoning": {"enabled": False}},
            [],
        ),
    ],
)
def test_the_switch_for_thinking(
    wish: ThinkingRequest, quirks: dict[str, Any], written: dict[str, Any], kinds: list[str]
) -> None:
    wish.at = "thinking"
    document, losses = write(thinking=wish, quirks=Profile(**quirks))
    assert {k: v for k, v in document.items() if k not in ("model", "messages")} == written
    assert losses == [("thinking", kind) for kind in kinds]


@pytest.mark.parametrize("choice", [Choice("required"), Choice("tool", "f")])
def test_an_effort_gives_way_to_a_forced_choice_that_thinking_would_refuse(choice: Choice) -> None:
    quirks = Profile(thinking_switch="enable_thinking", forced_choice_refused_while_thinking=True)
    fields: dict[str, Any] = {"choice": choice, "tools": [TOOL], "quirks": quirks}
    effort = ThinkingRequest(True, "high", at="reasoning")
    document, losses = write(thinking=effort, **fields)
    assert "enable_thinking" not in document and losses == [("reasoning", "dropped")]
    # who asked for thinking itself gets the upstream's refusal, as from a native upstream
    document, losses = write(thinking=ThinkingRequest(True, at="thinking"), **fields)
    assert document["enable_thinking"] is True and losses == []
    document, _ = write(thinking=effort, **fields | {"choice": Choice("auto")})
    assert document["enable_thinking"] is True
    document, _ = write(thinking=effort, **fields | {"tools": []})
    assert document["enable_thinking"] is True


# ------------------------------------------------------------------------------- properties
@given(st.lists(JSON, max_size=3), st.lists(JSON, max_size=2))
def test_whatever_can_be_read_can_be_written(messages: list[Any], tools: list[Any]) -> None:
    try:
        request = CODEC.read_request({"model": "m", "messages": messages, "tools": tools})
    except InvalidRequest:
        return
    losses = Losses()
    request.turns = arrange(request.turns, losses)
    for quirks in (GENERIC, Profile(cache_control=True, tool_result_images=True)):
        document = CODEC.write_request(request, quirks, losses)
        CODEC.read_request(json.decode(json.encode(document)))
