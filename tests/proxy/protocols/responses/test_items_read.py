from __future__ import annotations

from typing import Any

import pytest

from tests.proxy.protocols.responses.reading import read, read_item
from toolwire.proxy.protocols.neutral import (
    Cache,
    Call,
    DocumentPart,
    Image,
    Opaque,
    Refusal,
    Result,
    Role,
    Source,
    Text,
    Thinking,
    Turn,
)


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
