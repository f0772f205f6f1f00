from __future__ import annotations

from typing import Any

import pytest

from tests.proxy.protocols.responses.writing import items, write
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

        assert document["input"] == [{"type": "message", "role": "user", "content": ""}]
        assert losses == [("messages[0].content[0]", "dropped")]

    def test_instructions_alone_are_no_input(self) -> None:
        document, _ = write([Turn(Role.SYSTEM, [Text("Be brief.")])], client="chat")

        assert document["instructions"] == "Be brief."
        assert document["input"] == [{"type": "message", "role": "user", "content": ""}]

    def test_citations_of_another_vendor_are_reported(self) -> None:
        cited = Text("a", citations=Opaque("messages", [{}], "c.citations"))

        _, losses = write([Turn(Role.ASSISTANT, [cited])], client="messages")

        assert losses == [("c.citations", "dropped")]

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
