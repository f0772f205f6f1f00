from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from toolwire.proxy.errors import InvalidRequest
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
    Result,
    Role,
    Source,
    Structured,
    Text,
    Thinking,
    ThinkingRequest,
    Turn,
)
from toolwire.proxy.protocols.responses import CODEC


def read(**fields: Any) -> Any:
    return CODEC.read_request({"model": "m", "input": "hi", **fields})


def read_item(item: dict[str, Any], **fields: Any) -> Turn:
    (turn,) = read(input=[item], **fields).turns
    return turn


class TestInput:
    def test_a_string_is_a_user_turn_after_the_instructions(self) -> None:
        assert read(instructions="Be brief.").turns == [
            Turn(Role.SYSTEM, [Text("Be brief.", at="instructions")], at="instructions"),
            Turn(Role.USER, [Text("hi", at="input")], at="input"),
        ]

    @pytest.mark.parametrize("role", ["user", "assistant", "system", "developer"])
    def test_an_item_without_type_is_a_message(self, role: str) -> None:
        turn = read_item({"role": role, "content": "Oslo?"})

        assert turn == Turn(Role(role), [Text("Oslo?", at="input[0].content")], at="input[0]")

    def test_parts_of_a_message(self) -> None:
        turn = read_item(
            {
                "type": "message",
                "role": "user",
                "content": [
                    {"type": "input_text", "text": "look"},
                    {
                        "type": "input_image",
                        "image_url": "https://x.example/a.png",
                        "detail": "low",
                    },
                    {"type": "input_image", "image_url": "data:image/png;base64,iVBO"},
                    {"type": "input_image", "file_id": "file-1"},
                    {"type": "input_audio", "input_audio": {"data": "", "format": "mp3"}},
                ],
            }
        )

        at = "input[0].content"
        assert turn.parts == [
            Text("look", at=f"{at}[0]"),
            Image(Source(url="https://x.example/a.png"), detail="low", at=f"{at}[1]"),
            Image(Source(data="iVBO", media_type="image/png"), at=f"{at}[2]"),
            Image(Source(file_id="file-1"), at=f"{at}[3]"),
            Opaque(
                "responses",
                {"type": "input_audio", "input_audio": {"data": "", "format": "mp3"}},
                at=f"{at}[4]",
            ),
        ]

    @pytest.mark.parametrize(
        ("fields", "source"),
        [
            (
                {"file_data": "data:application/pdf;base64,JVBE"},
                Source(data="JVBE", media_type="application/pdf"),
            ),
            ({"file_data": "JVBE"}, Source(data="JVBE", media_type="application/pdf")),
            ({"file_url": "https://x.example/a.pdf"}, Source(url="https://x.example/a.pdf")),
            ({"file_id": "file-1"}, Source(file_id="file-1")),
        ],
    )
    def test_files(self, fields: dict[str, str], source: Source) -> None:
        part = {"type": "input_file", "filename": "a.pdf", **fields}

        turn = read_item({"role": "user", "content": [part]})

        assert turn.parts == [DocumentPart(source, name="a.pdf", at="input[0].content[0]")]

    def test_what_the_assistant_said(self) -> None:
        turn = read_item(
            {
                "type": "message",
                "id": "msg_1",
                "role": "assistant",
                "content": [
                    {"type": "output_text", "text": "5 degrees", "annotations": []},
                    {"type": "refusal", "refusal": "no"},
                ],
            }
        )

        assert turn.role is Role.ASSISTANT
        assert turn.parts == [
            Text("5 degrees", at="input[0].content[0]"),
            Refusal("no", at="input[0].content[1]"),
        ]

    def test_a_cache_breakpoint_is_a_cache_mark(self) -> None:
        part = {"type": "input_text", "text": "x", "prompt_cache_breakpoint": {"mode": "explicit"}}

        (text,) = read_item({"role": "user", "content": [part]}).parts

        where = "input[0].content[0].prompt_cache_breakpoint"
        assert text.cache == Cache({"type": "ephemeral"}, at=where)

    def test_a_call_is_known_by_its_call_id(self) -> None:
        turn = read_item(
            {
                "type": "function_call",
                "id": "fc_1",
                "call_id": "call_9",
                "name": "get_weather",
                "arguments": '{"city":"Oslo"}',
            }
        )

        call = Call("call_9", "get_weather", '{"city":"Oslo"}', at="input[0]")
        assert turn == Turn(Role.ASSISTANT, [call], at="input[0]")

    def test_a_free_form_call_and_its_output(self) -> None:
        called = read_item(
            {"type": "custom_tool_call", "call_id": "c", "name": "patch", "input": "*** Begin"}
        )
        answered = read_item({"type": "custom_tool_call_output", "call_id": "c", "output": "ok"})

        assert called.parts == [Call("c", "patch", "*** Begin", custom=True, at="input[0]")]
        assert answered.parts == [
            Result("c", [Text("ok", at="input[0].output")], custom=True, at="input[0]")
        ]

    def test_an_output_of_parts(self) -> None:
        turn = read_item(
            {
                "type": "function_call_output",
                "call_id": "c",
                "output": [
                    {"type": "input_text", "text": "captured"},
                    {"type": "input_image", "image_url": "data:image/png;base64,iVBO"},
                ],
            }
        )

        (result,) = turn.parts
        assert turn.role is Role.USER
        assert result.parts == [
            Text("captured", at="input[0].output[0]"),
            Image(Source(data="iVBO", media_type="image/png"), at="input[0].output[1]"),
        ]

    @pytest.mark.parametrize(
        "item",
        [
            {"type": "item_reference", "id": "msg_1"},
            {"id": "msg_1"},
            {"type": "web_search_call", "id": "ws_1", "status": "completed"},
            {"type": "compaction", "encrypted_content": "gAAA"},
        ],
    )
    def test_other_items_stay_opaque(self, item: dict[str, Any]) -> None:
        assert read_item(item) == Turn(
            Role.ASSISTANT, [Opaque("responses", item, at="input[0]")], at="input[0]"
        )

    def test_the_output_of_another_tool_is_the_users(self) -> None:
        item = {"type": "local_shell_call_output", "id": "x", "output": "{}"}

        assert read_item(item).role is Role.USER


class TestReasoning:
    def test_a_summary(self) -> None:
        turn = read_item(
            {
                "type": "reasoning",
                "id": "rs_1",
                "summary": [
                    {"type": "summary_text", "text": "One."},
                    {"type": "summary_text", "text": "Two."},
                ],
            }
        )

        assert turn.parts == [Thinking("One.\n\nTwo.", id="rs_1", summary=True, at="input[0]")]

    def test_reasoning_itself_rather_than_its_summary(self) -> None:
        turn = read_item(
            {
                "type": "reasoning",
                "id": "rs_1",
                "summary": [{"type": "summary_text", "text": "short"}],
                "content": [{"type": "reasoning_text", "text": "long"}],
            }
        )

        assert turn.parts == [Thinking("long", id="rs_1", at="input[0]")]

    def test_a_vendors_own_ciphertext(self) -> None:
        item = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAA"}

        assert read_item(item).parts == [
            Thinking(encrypted="gAAA", origin="responses", id="rs_1", at="input[0]")
        ]

    def test_nothing_in_it(self) -> None:
        assert read_item({"type": "reasoning", "id": "rs_1", "summary": []}).parts == []


class TestTools:
    def test_functions(self) -> None:
        schema = {"type": "object", "properties": {}}
        tool = {"type": "function", "name": "f", "description": "d", "parameters": schema}

        request = read(tools=[{**tool, "strict": True}, {**tool, "defer_loading": True}])

        assert request.tools == [
            FunctionTool("f", "d", schema, strict=True, at="tools[0]"),
            FunctionTool("f", "d", schema, extra={"defer_loading": True}, at="tools[1]"),
        ]

    def test_free_form_and_hosted(self) -> None:
        hosted = {"type": "web_search", "search_context_size": "low"}

        request = read(tools=[{"type": "custom", "name": "p", "format": {"type": "text"}}, hosted])

        assert request.tools == [
            CustomTool("p", format={"type": "text"}, at="tools[0]"),
            HostedTool("responses", hosted, at="tools[1]"),
        ]

    def test_tools_of_a_namespace_get_flat_names(self) -> None:
        group = {
            "type": "namespace",
            "name": "mcp__files",
            "description": "Files",
            "tools": [{"type": "function", "name": "read"}, {"type": "custom", "name": "patch"}],
        }
        call = {"type": "function_call", "call_id": "c", "name": "read", "arguments": "{}"}

        request = read(tools=[group], input=[{**call, "namespace": "mcp__files"}])

        assert request.tools == [
            FunctionTool("mcp__files__read", at="tools[0].tools[0]"),
            CustomTool("mcp__files__patch", at="tools[0].tools[1]"),
        ]
        assert request.turns[0].parts[0].name == "mcp__files__read"

    def test_a_call_in_an_unknown_namespace_keeps_its_name(self) -> None:
        call = {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"}

        assert read_item({**call, "namespace": "f"}).parts[0].name == "f"

    @pytest.mark.parametrize(
        ("value", "choice"),
        [
            ("auto", Choice("auto")),
            ("none", Choice("none")),
            ("required", Choice("required")),
            ({"type": "function", "name": "f"}, Choice("tool", "f")),
            ({"type": "custom", "name": "p"}, Choice("tool", "p", custom=True)),
            (
                {
                    "type": "allowed_tools",
                    "mode": "required",
                    "tools": [{"type": "function", "name": "f"}, {"type": "image_generation"}],
                },
                Choice("required", allowed=["f"]),
            ),
        ],
    )
    def test_choice(self, value: Any, choice: Choice) -> None:
        assert read(tool_choice=value).choice == choice

    def test_a_choice_of_a_hosted_tool_is_kept_for_the_report(self) -> None:
        request = read(tool_choice={"type": "file_search"})

        assert request.choice is None
        assert request.extra == {"tool_choice": {"type": "file_search"}}


class TestFields:
    def test_limits_as_they_were_written(self) -> None:
        request = read(
            max_output_tokens=99,
            temperature=Decimal("0.70"),
            top_p=1,
            parallel_tool_calls=False,
            stream=True,
            user="u",
            store=False,
            previous_response_id="resp_1",
        )

        assert request.max_tokens == 99
        assert str(request.temperature) == "0.70"
        assert request.top_p == 1
        assert request.parallel is False
        assert request.stream is True
        assert (request.user, request.store) == ("u", False)
        assert request.previous_response_id == "resp_1"

    def test_structured_output(self) -> None:
        schema = {"type": "object"}
        form = {"type": "json_schema", "name": "city", "strict": True, "schema": schema}

        assert read(text={"format": form}).structured == Structured(
            schema, name="city", strict=True, at="text.format"
        )
        assert read(text={"format": {"type": "json_object"}}).structured == Structured(
            at="text.format"
        )
        assert read(text={"format": {"type": "text"}}).structured is None

    def test_reasoning(self) -> None:
        asked = read(
            reasoning={"effort": "high", "summary": "auto"}, include=["reasoning.encrypted_content"]
        )

        assert asked.thinking == ThinkingRequest(
            enabled=True, effort="high", summary="auto", include_encrypted=True, at="reasoning"
        )
        assert read(reasoning={"effort": "none"}).thinking.enabled is False
        assert read(reasoning={"summary": "auto"}).thinking.enabled is None
        assert read().thinking is None

    def test_the_rest_goes_by_its_own_name(self) -> None:
        request = read(
            metadata={"a": "b"},
            truncation="auto",
            text={"verbosity": "low"},
            reasoning={"effort": "low", "mode": "pro"},
            include=["web_search_call.results"],
            brand_new=1,
        )

        assert request.extra == {
            "metadata": {"a": "b"},
            "truncation": "auto",
            "verbosity": "low",
            "reasoning.mode": "pro",
            "include": ["web_search_call.results"],
            "brand_new": 1,
        }

    def test_defaults_are_no_wish(self) -> None:
        assert read(background=False, truncation="disabled", service_tier="auto").extra == {}

    def test_the_document_is_kept_for_the_echo(self) -> None:
        document = {"model": "m", "input": "hi"}

        assert CODEC.read_request(document).document is document


WRONG: list[tuple[dict[str, Any], str, str]] = [
    ({"model": 1}, "model", "must be a string, not an integer"),
    ({"model": None}, "model", "must be a string, not null"),
    ({"input": 5}, "input", "must be a string or an array of items, not an integer"),
    ({"input": ["x"]}, "input[0]", "must be an object, not a string"),
    ({"input": [{}]}, "input[0].type", "is missing"),
    ({"input": [{"type": 5}]}, "input[0].type", "must be a string, not an integer"),
    ({"input": [{"role": "tool", "content": "x"}]}, "input[0].role", "must be one of"),
    ({"input": [{"role": "user"}]}, "input[0].content", "is missing"),
    (
        {"input": [{"role": "user", "content": [{"type": "input_text", "text": None}]}]},
        "input[0].content[0].text",
        "must be a string, not null",
    ),
    (
        {"input": [{"role": "user", "content": [{"type": "input_image"}]}]},
        "input[0].content[0]",
        "must have an image_url or a file_id",
    ),
    (
        {"input": [{"type": "function_call", "call_id": 7, "name": "f", "arguments": ""}]},
        "input[0].call_id",
        "must be a string, not an integer",
    ),
    (
        {"input": [{"type": "function_call", "call_id": "c", "name": "f", "arguments": {}}]},
        "input[0].arguments",
        "must be a string, not an object",
    ),
    (
        {"input": [{"type": "function_call_output", "call_id": "c", "output": 1}]},
        "input[0].output",
        "must be a string or an array of parts",
    ),
    (
        {"input": [{"type": "reasoning", "summary": [{"text": 1}]}]},
        "input[0].summary[0].text",
        "must be a string",
    ),
    ({"tools": {}}, "tools", "must be an array, not an object"),
    ({"tools": [{"type": "function"}]}, "tools[0].name", "is missing"),
    (
        {"tools": [{"type": "function", "name": "f", "parameters": []}]},
        "tools[0].parameters",
        "must be an object, not an array",
    ),
    (
        {"tools": [{"type": "namespace", "name": "n", "tools": [{"type": "function"}]}]},
        "tools[0].tools[0].name",
        "is missing",
    ),
    ({"tool_choice": "always"}, "tool_choice", "must be one of auto, none, required"),
    ({"tool_choice": 1}, "tool_choice", "must be a string or an object"),
    ({"tool_choice": {"type": "function"}}, "tool_choice.name", "is missing"),
    ({"max_output_tokens": "9"}, "max_output_tokens", "must be an integer, not a string"),
    ({"max_output_tokens": True}, "max_output_tokens", "must be an integer, not a boolean"),
    ({"temperature": "1"}, "temperature", "must be a number, not a string"),
    ({"stream": "yes"}, "stream", "must be a boolean, not a string"),
    ({"reasoning": {"effort": 3}}, "reasoning.effort", "must be a string, not an integer"),
    ({"text": {"format": {"type": "json_schema"}}}, "text.format.schema", "is missing"),
    ({"include": "all"}, "include", "must be an array of strings"),
    ({"instructions": ["x"]}, "instructions", "must be a string, not an array"),
]


@pytest.mark.parametrize(("fields", "path", "message"), WRONG, ids=lambda value: str(value)[:40])
def test_a_wrong_type_is_told_with_its_path(
    fields: dict[str, Any], path: str, message: str
) -> None:
    with pytest.raises(InvalidRequest) as caught:
        read(**fields)

    assert caught.value.param == path
    assert caught.value.message.startswith(path)
    assert message in caught.value.message


def test_without_input_there_must_be_something_instead() -> None:
    with pytest.raises(InvalidRequest, match="input is missing"):
        CODEC.read_request({"model": "m"})

    assert CODEC.read_request({"model": "m", "previous_response_id": "resp_1"}).turns == []
