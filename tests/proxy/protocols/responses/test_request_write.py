from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from toolwire.config.profile import Profile
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
    Losses,
    Opaque,
    Protocol,
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
from toolwire.proxy.protocols.responses import CODEC

OBJECT = {"type": "object", "properties": {}}


def write(
    turns: list[Turn] | None = None,
    *,
    client: Protocol = "chat",
    profile: dict[str, Any] | None = None,
    **fields: Any,
) -> tuple[dict[str, Any], list[tuple[str, str]]]:
    """The document, and each loss as its path and kind."""
    request = Request("m", turns or [], client, **fields)
    losses = Losses()
    document = CODEC.write_request(request, Profile(**(profile or {})), losses)
    return document, [(loss.path, loss.kind) for loss in losses.entries]


def items(*turns: Turn, **fields: Any) -> Any:
    document, losses = write(list(turns), **fields)
    assert losses == []
    return document["input"]


class TestItems:
    def test_leading_system_text_is_the_instructions(self) -> None:
        document, _ = write(
            [
                Turn(Role.SYSTEM, [Text("Be brief."), Text("Be kind.")]),
                Turn(Role.DEVELOPER, [Text("Use metric units.")]),
                Turn(Role.USER, [Text("Oslo?")]),
                Turn(Role.SYSTEM, [Text("Now be long.")]),
            ]
        )

        assert document["instructions"] == "Be brief.\n\nBe kind.\n\nUse metric units."
        assert document["input"] == [
            {
                "type": "message",
                "role": "user",
                "content": [{"type": "input_text", "text": "Oslo?"}],
            },
            {
                "type": "message",
                "role": "system",
                "content": [{"type": "input_text", "text": "Now be long."}],
            },
        ]

    def test_a_round_of_tools(self) -> None:
        written = items(
            Turn(
                Role.ASSISTANT,
                [
                    Text("Checking."),
                    Call("c1", "get_weather", '{"city":"Oslo"}'),
                    Call("c2", "now"),
                ],
            ),
            Turn(
                Role.USER,
                [Result("c1", [Text("5 C")]), Result("c2", []), Text("and Bergen?")],
            ),
        )

        assert written == [
            {"type": "message", "role": "assistant", "content": "Checking."},
            {
                "type": "function_call",
                "call_id": "c1",
                "name": "get_weather",
                "arguments": '{"city":"Oslo"}',
            },
            {"type": "function_call", "call_id": "c2", "name": "now", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "c1", "output": "5 C"},
            {"type": "function_call_output", "call_id": "c2", "output": ""},
            {
                "type": "message",
                "role": "user",
                "content": [{"type": "input_text", "text": "and Bergen?"}],
            },
        ]

    def test_free_form_calls(self) -> None:
        written = items(
            Turn(Role.ASSISTANT, [Call("c", "patch", "*** Begin", custom=True)]),
            Turn(Role.USER, [Result("c", [Text("ok")], custom=True)]),
        )

        assert written == [
            {"type": "custom_tool_call", "call_id": "c", "name": "patch", "input": "*** Begin"},
            {"type": "custom_tool_call_output", "call_id": "c", "output": "ok"},
        ]

    def test_what_the_assistant_said_in_parts(self) -> None:
        (message,) = items(Turn(Role.ASSISTANT, [Text("a"), Text("b"), Refusal("no")]))

        assert message["content"] == [
            {"type": "output_text", "text": "a", "annotations": []},
            {"type": "output_text", "text": "b", "annotations": []},
            {"type": "refusal", "refusal": "no"},
        ]

    @pytest.mark.parametrize(
        ("parts", "output"),
        [
            ([Text("no such file")], "Error: no such file"),
            ([Text("Error: gone")], "Error: gone"),
            ([], "Error"),
            (
                [Image(Source(url="https://x.example/a.png"))],
                [
                    {"type": "input_text", "text": "Error"},
                    {
                        "type": "input_image",
                        "image_url": "https://x.example/a.png",
                        "detail": "auto",
                    },
                ],
            ),
        ],
    )
    def test_a_failed_tool_says_so_in_its_text(self, parts: list[Any], output: Any) -> None:
        (written,) = items(Turn(Role.USER, [Result("c", parts, is_error=True)]))

        assert written["output"] == output

    def test_images_in_results(self) -> None:
        image = Image(Source(data="iVBO", media_type="image/jpeg"), detail="high")

        (written,) = items(Turn(Role.USER, [Result("c", [Text("captured"), image])]))

        assert written["output"] == [
            {"type": "input_text", "text": "captured"},
            {
                "type": "input_image",
                "image_url": "data:image/jpeg;base64,iVBO",
                "detail": "high",
            },
        ]

    @pytest.mark.parametrize(
        ("document", "part"),
        [
            (
                DocumentPart(Source(data="JVBE", media_type="application/pdf"), name="a.pdf"),
                {"filename": "a.pdf", "file_data": "data:application/pdf;base64,JVBE"},
            ),
            (
                DocumentPart(Source(data="JVBE", media_type="application/pdf"), name="Report"),
                {"filename": "Report.pdf", "file_data": "data:application/pdf;base64,JVBE"},
            ),
            (
                DocumentPart(Source(text="facts")),
                {"filename": "document.txt", "file_data": "data:text/plain;base64,ZmFjdHM="},
            ),
            (
                DocumentPart(Source(url="https://x.example/a.pdf")),
                {"file_url": "https://x.example/a.pdf"},
            ),
            (DocumentPart(Source(file_id="file-1")), {"file_id": "file-1"}),
        ],
    )
    def test_documents(self, document: DocumentPart, part: dict[str, str]) -> None:
        (message,) = items(Turn(Role.USER, [document]))

        assert message["content"] == [{"type": "input_file", **part}]

    def test_files_of_another_vendor(self) -> None:
        image = Image(Source(file_id="file_1"), at="messages[0].content[0]")

        document, losses = write([Turn(Role.USER, [image])], client="messages")

        assert document["input"] == []
        assert losses == [("messages[0].content[0]", "dropped")]

    def test_what_cannot_be_carried_is_reported_by_its_path(self) -> None:
        mark = Cache({"type": "ephemeral"}, at="messages[0].content[0].cache_control")
        opaque = Opaque("messages", {"type": "search_result"}, at="messages[0].content[1]")
        picture = Image(Source(url="u"), extra={"context": "x"}, at="messages[0].content[2]")

        document, losses = write(
            [
                Turn(Role.USER, [Text("x", cache=mark), opaque, picture]),
                Turn(Role.ASSISTANT, [Text("y")], name="Bot", at="messages[1]"),
            ],
            client="messages",
        )

        assert [len(item["content"]) for item in document["input"]] == [2, 1]
        assert losses == [
            ("messages[0].content[0].cache_control", "dropped"),
            ("messages[0].content[1]", "dropped"),
            ("messages[0].content[2].context", "dropped"),
            ("messages[1].name", "dropped"),
        ]

    def test_system_turns_with_more_than_text_stay_items(self) -> None:
        picture = Image(Source(url="https://x.example/a.png"))

        document, _ = write([Turn(Role.DEVELOPER, [Text("Look."), picture])])

        assert "instructions" not in document
        assert document["input"][0]["role"] == "developer"
        assert len(document["input"][0]["content"]) == 2

    def test_pictures_of_the_assistant(self) -> None:
        picture = Image(Source(url="https://x.example/a.png"), at="messages[1].content[1]")

        document, losses = write([Turn(Role.ASSISTANT, [Text("so"), picture])])

        assert document["input"] == [{"type": "message", "role": "assistant", "content": "so"}]
        assert losses == [("messages[1].content[1]", "dropped")]

    def test_ciphertext_of_responses_goes_back_and_is_asked_for(self) -> None:
        thinking = Thinking("Sum.", encrypted="gAAA", origin="responses", id="rs_1", summary=True)

        document, losses = write([Turn(Role.ASSISTANT, [thinking, Call("c", "f")])])

        assert document["input"][0] == {
            "type": "reasoning",
            "summary": [{"type": "summary_text", "text": "Sum."}],
            "encrypted_content": "gAAA",
            "id": "rs_1",
        }
        assert document["include"] == ["reasoning.encrypted_content"]
        assert losses == []

    @pytest.mark.parametrize(
        "thinking",
        [
            Thinking("hm", signature="sig", origin="messages", at="messages[1].content[0]"),
            Thinking("hm", origin="chat", at="messages[1].content[0]"),
        ],
    )
    def test_thinking_of_another_vendor_stays_out(self, thinking: Thinking) -> None:
        document, losses = write([Turn(Role.ASSISTANT, [thinking, Text("x")])])

        assert document["input"] == [{"type": "message", "role": "assistant", "content": "x"}]
        assert losses == [("messages[1].content[0]", "dropped")]

    def test_opaque_items_and_parts_of_this_protocol_stay(self) -> None:
        item = {"type": "web_search_call", "id": "ws_1"}
        part = {"type": "input_audio", "input_audio": {}}

        written = items(
            Turn(Role.ASSISTANT, [Opaque("responses", item)]),
            Turn(Role.USER, [Opaque("responses", part)]),
            client="responses",
        )

        assert written == [item, {"type": "message", "role": "user", "content": [part]}]


class TestTools:
    def test_strict_stays_off_unless_it_was_asked_for(self) -> None:
        document, _ = write(tools=[FunctionTool("a", "d", OBJECT), FunctionTool("b", strict=True)])

        assert document["tools"] == [
            {
                "type": "function",
                "name": "a",
                "description": "d",
                "parameters": OBJECT,
                "strict": False,
            },
            {"type": "function", "name": "b", "parameters": OBJECT, "strict": True},
        ]

    def test_an_upstream_that_does_not_know_strict(self) -> None:
        document, losses = write(
            tools=[FunctionTool("a"), FunctionTool("b", strict=True, at="tools[1]")],
            profile={"strict": False},
        )

        assert ["strict" in tool for tool in document["tools"]] == [False, False]
        assert losses == [("tools[1].strict", "dropped")]

    @pytest.mark.parametrize(
        ("schema", "sent"),
        [
            (None, OBJECT),
            ({"type": "object"}, OBJECT),
            ({"properties": {"a": {}}}, {"type": "object", "properties": {"a": {}}}),
            ({"type": "array"}, {"type": "array"}),
        ],
    )
    def test_schemas(self, schema: dict[str, Any] | None, sent: dict[str, Any]) -> None:
        document, _ = write(tools=[FunctionTool("a", schema=schema)])

        assert document["tools"][0]["parameters"] == sent

    def test_free_form_and_hosted_tools(self) -> None:
        document, losses = write(
            tools=[
                CustomTool("patch", "d", {"type": "text"}),
                HostedTool("responses", {"type": "web_search"}),
                HostedTool("messages", {"type": "bash_20250124"}, at="tools[2]"),
            ]
        )

        assert document["tools"] == [
            {"type": "custom", "name": "patch", "description": "d", "format": {"type": "text"}},
            {"type": "web_search"},
        ]
        assert losses == [("tools[2]", "dropped")]

    def test_fields_of_tools_that_only_another_protocol_has(self) -> None:
        mark = Cache({"type": "ephemeral"}, at="tools[0].cache_control")
        tool = FunctionTool(
            "a", cache=mark, extra={"input_examples": [{}], "eager": False}, at="tools[0]"
        )

        _, losses = write(tools=[tool], client="messages")

        assert losses == [
            ("tools[0].cache_control", "dropped"),
            ("tools[0].input_examples", "dropped"),
        ]

    @pytest.mark.parametrize(
        ("choice", "written"),
        [
            (Choice("auto"), "auto"),
            (Choice("none"), "none"),
            (Choice("required"), "required"),
            (Choice("tool", "a"), {"type": "function", "name": "a"}),
            (Choice("tool", "patch"), {"type": "custom", "name": "patch"}),
            (
                Choice("required", allowed=["a", "patch"]),
                {
                    "type": "allowed_tools",
                    "mode": "required",
                    "tools": [
                        {"type": "function", "name": "a"},
                        {"type": "custom", "name": "patch"},
                    ],
                },
            ),
        ],
    )
    def test_choice(self, choice: Choice, written: Any) -> None:
        document, _ = write(tools=[FunctionTool("a"), CustomTool("patch")], choice=choice)

        assert document["tool_choice"] == written

    def test_without_tools_neither_choice_nor_switch(self) -> None:
        document, _ = write(choice=Choice("required"), parallel=False)

        assert document.keys() == {"model", "input", "store"}

    @pytest.mark.parametrize(
        ("client", "path"),
        [
            ("chat", "parallel_tool_calls"),
            ("messages", "tool_choice.disable_parallel_tool_use"),
        ],
    )
    def test_one_call_at_a_time(self, client: Protocol, path: str) -> None:
        tools = [FunctionTool("a")]

        known, _ = write(tools=tools, parallel=False, client=client)
        unknown, losses = write(
            tools=tools, parallel=False, client=client, profile={"parallel_tool_calls": False}
        )

        assert known["parallel_tool_calls"] is False
        assert "parallel_tool_calls" not in unknown
        assert losses == [(path, "dropped")]


class TestFields:
    def test_limits(self) -> None:
        document, losses = write(
            max_tokens=64, temperature=Decimal("0.70"), top_p=1, stop=["END"], stream=True
        )

        assert document == {
            "model": "m",
            "input": [],
            "max_output_tokens": 64,
            "temperature": Decimal("0.70"),
            "top_p": 1,
            "store": False,
            "stream": True,
        }
        assert losses == [("stop", "dropped")]

    def test_a_temperature_beyond_the_range_is_lowered(self) -> None:
        document, losses = write(temperature=Decimal("2.5"))

        assert document["temperature"] == 2
        assert losses == [("temperature", "coerced")]

    def test_structured_output(self) -> None:
        schema = {"type": "object"}

        document, _ = write(structured=Structured(schema, name="city", strict=True))
        nameless, _ = write(structured=Structured(schema))
        anything, _ = write(structured=Structured())

        form = {"type": "json_schema", "name": "city", "schema": schema, "strict": True}
        assert document["text"] == {"format": form}
        assert nameless["text"]["format"] == {
            "type": "json_schema",
            "name": "output",
            "schema": schema,
        }
        assert anything["text"] == {"format": {"type": "json_object"}}

    @pytest.mark.parametrize(
        ("known", "form", "kind"),
        [
            ("json_object", {"format": {"type": "json_object"}}, "coerced"),
            ("none", None, "dropped"),
        ],
    )
    def test_weaker_structured_output(self, known: str, form: Any, kind: str) -> None:
        wish = Structured({"type": "object"}, at="response_format")

        document, losses = write(structured=wish, profile={"structured_output": known})

        assert document.get("text") == form
        assert losses == [("response_format", kind)]

    @pytest.mark.parametrize(
        ("wish", "reasoning", "losses"),
        [
            (ThinkingRequest(effort="high", enabled=True), {"effort": "high"}, []),
            (ThinkingRequest(enabled=False), {"effort": "none"}, []),
            (ThinkingRequest(enabled=True, summary="auto"), {"summary": "auto"}, []),
            (ThinkingRequest(adaptive=True), None, []),
            (
                ThinkingRequest(enabled=True, budget=5000, summary="auto", at="thinking"),
                {"effort": "medium", "summary": "auto"},
                [("thinking", "coerced")],
            ),
        ],
    )
    def test_thinking(
        self, wish: ThinkingRequest, reasoning: Any, losses: list[tuple[str, str]]
    ) -> None:
        document, reported = write(thinking=wish)

        assert document.get("reasoning") == reasoning
        assert reported == losses
        wants_it = wish.enabled is not False
        assert ("include" in document) is wants_it

    def test_an_effort_that_the_upstream_does_not_know(self) -> None:
        wish = ThinkingRequest(effort="xhigh", at="reasoning_effort")

        document, losses = write(thinking=wish, profile={"efforts": ("low", "high")})
        nothing, dropped = write(thinking=wish, profile={"efforts": ()})

        assert document["reasoning"] == {"effort": "high"}
        assert losses == [("reasoning_effort", "coerced")]
        assert "reasoning" not in nothing
        assert dropped == [("reasoning_effort", "dropped")]

    def test_a_model_that_cannot_stop_thinking_thinks_little(self) -> None:
        wish = ThinkingRequest(enabled=False, at="thinking")

        document, losses = write(thinking=wish, profile={"thinking_optional": False})

        assert document["reasoning"] == {"effort": "minimal"}
        assert losses == [("thinking", "coerced")]

    def test_nothing_is_stored_for_clients_that_keep_their_history(self) -> None:
        assert write(store=True)[0]["store"] is False
        assert "store" not in write(client="responses")[0]
        assert write(client="responses", store=True)[0]["store"] is True

    def test_a_long_user_is_told_by_a_digest(self) -> None:
        short, none = write(user="u-1")
        first, losses = write(user="u" * 65, client="messages")
        second, _ = write(user="u" * 65, client="messages")
        other, _ = write(user="v" * 65, client="messages")

        assert (short["user"], none) == ("u-1", [])
        assert first["user"] == second["user"] != other["user"]
        assert len(first["user"]) <= 64
        assert losses == [("metadata.user_id", "coerced")]

    def test_fields_that_chat_has_too(self) -> None:
        extra = {
            "metadata": {"a": "b"},
            "prompt_cache_key": "k",
            "service_tier": "flex",
            "verbosity": "low",
        }

        document, losses = write(extra=extra)

        assert {name: document[name] for name in extra if name in document} == {
            "metadata": {"a": "b"},
            "prompt_cache_key": "k",
            "service_tier": "flex",
        }
        assert document["text"] == {"verbosity": "low"}
        assert losses == []

    def test_fields_that_only_another_protocol_has(self) -> None:
        extra = {"seed": 1, "logit_bias": {}, "top_k": None, "frequency_penalty": 0, "n": 1}

        document, losses = write(extra={**extra, "presence_penalty": Decimal("0.5")})

        assert document.keys() == {"model", "input", "store"}
        assert losses == [("seed", "dropped"), ("presence_penalty", "dropped")]

    def test_the_same_name_can_mean_another_thing(self) -> None:
        document, losses = write(
            extra={"service_tier": "standard_only", "metadata": {"x": 1}}, client="messages"
        )

        assert document.keys() == {"model", "input", "store"}
        assert losses == [("service_tier", "dropped"), ("metadata", "dropped")]

    def test_several_answers_are_refused(self) -> None:
        with pytest.raises(InvalidRequest) as caught:
            write(extra={"n": 2})

        assert caught.value.param == "n"


def test_a_responses_request_survives_the_neutral_form() -> None:
    document = {
        "model": "m",
        "instructions": "Be brief.",
        "input": [
            {
                "type": "message",
                "role": "user",
                "content": [{"type": "input_text", "text": "Oslo?"}],
            },
            {
                "type": "function_call",
                "call_id": "c",
                "name": "get_weather",
                "arguments": '{"n":12345678901234567890}',
            },
            {"type": "function_call_output", "call_id": "c", "output": "5 C"},
        ],
        "tools": [
            {
                "type": "function",
                "name": "get_weather",
                "parameters": OBJECT,
                "strict": True,
                "defer_loading": True,
            }
        ],
        "tool_choice": "required",
        "parallel_tool_calls": False,
        "max_output_tokens": 99,
        "temperature": Decimal("0.5"),
        "text": {"format": {"type": "json_object"}, "verbosity": "low"},
        "reasoning": {"effort": "low", "summary": "auto"},
        "include": ["reasoning.encrypted_content", "web_search_call.results"],
        "previous_response_id": "resp_0",
        "truncation": "auto",
        "store": True,
        "stream": True,
    }
    losses = Losses()

    written = CODEC.write_request(CODEC.read_request(document), Profile(), losses)

    assert written == document
    assert losses.entries == []
