"""The content blocks that a Messages upstream is sent."""

from __future__ import annotations

from typing import Any

import pytest

from tests.proxy.protocols.messages.writing import (
    HELLO,
    MARK,
    asked,
    assistant,
    user,
    user_block,
    written,
)
from toolwire.proxy.protocols.neutral import (
    Cache,
    Call,
    DocumentPart,
    Image,
    Opaque,
    Refusal,
    Result,
    Source,
    Text,
    Thinking,
)


def test_calls_and_results() -> None:
    document, losses = written(
        asked(
            HELLO,
            assistant(Text("Let me see."), Call("1", "f", '{"b":1,"a":[]}'), Call("2", "now")),
            user(
                Result("1", [Text("5 C")], cache=Cache(MARK)),
                Result("2", [Text("a"), Image(Source(url="u"))], is_error=True),
                Text("and?"),
            ),
        )
    )
    assert document["messages"][1:] == [
        {
            "role": "assistant",
            "content": [
                {"type": "text", "text": "Let me see."},
                {"type": "tool_use", "id": "1", "name": "f", "input": {"b": 1, "a": []}},
                {"type": "tool_use", "id": "2", "name": "now", "input": {}},
            ],
        },
        {
            "role": "user",
            "content": [
                {
                    "type": "tool_result",
                    "tool_use_id": "1",
                    "content": "5 C",
                    "cache_control": MARK,
                },
                {
                    "type": "tool_result",
                    "tool_use_id": "2",
                    "content": [
                        {"type": "text", "text": "a"},
                        {"type": "image", "source": {"type": "url", "url": "u"}},
                    ],
                    "is_error": True,
                },
                {"type": "text", "text": "and?"},
            ],
        },
    ]
    assert losses == []


@pytest.mark.parametrize("arguments", ["[1]", "null", '{"cut":', "text", '{"a":NaN}'])
def test_arguments_that_are_no_object_are_an_empty_one(arguments: str) -> None:
    call = Call("1", "f", arguments, at="messages[1].tool_calls[0]")
    document, losses = written(asked(HELLO, assistant(call), user(Result("1", []))))
    assert document["messages"][1]["content"][0]["input"] == {}
    assert document["messages"][2]["content"] == [{"type": "tool_result", "tool_use_id": "1"}]
    assert losses == [("coerced", "messages[1].tool_calls[0]")]


def test_a_free_form_call_is_wrapped() -> None:
    call = Call("1", "shell", "ls", custom=True)
    document, _ = written(asked(HELLO, assistant(call), user(Result("1", [], custom=True))))
    assert document["messages"][1]["content"][0]["input"] == {"input": "ls"}


def test_ids_are_unique_and_results_follow() -> None:
    turns = [HELLO]
    for _ in range(3):
        turns += [assistant(Call("call_0", "f")), user(Result("call_0", []))]
    messages = written(asked(*turns))[0]["messages"]
    ids = [message["content"][0]["id"] for message in messages[1::2]]
    assert ids[0] == "call_0"
    assert len(set(ids)) == 3
    assert [message["content"][0]["tool_use_id"] for message in messages[2::2]] == ids
    assert written(asked(*turns[:5]))[0]["messages"] == messages[:5]


def test_white_space_is_no_block_of_its_own() -> None:
    document, _ = written(
        asked(user(Text(" "), Text("a"), Text("\n"), Text("b"), Text("\t")), assistant(Text(" ")))
    )
    assert document["messages"] == [
        {
            "role": "user",
            "content": [{"type": "text", "text": " a"}, {"type": "text", "text": "\nb"}],
        }
    ]


@pytest.mark.parametrize(
    ("source", "written_as"),
    [
        (
            Source(data="QQ==", media_type="image/webp"),
            {"type": "base64", "media_type": "image/webp", "data": "QQ=="},
        ),
        (Source(data="QQ=="), {"type": "base64", "media_type": "image/png", "data": "QQ=="}),
        (
            Source(url="data:image/gif;base64,QQ=="),
            {"type": "base64", "media_type": "image/gif", "data": "QQ=="},
        ),
        (
            Source(url="DATA:image/svg+xml,%3Csvg/%3E"),
            {"type": "base64", "media_type": "image/svg+xml", "data": "PHN2Zy8+"},
        ),
        (Source(url="https://example.org/a"), {"type": "url", "url": "https://example.org/a"}),
    ],
)
def test_images(source: Source, written_as: dict[str, Any]) -> None:
    block, losses = user_block(Image(source, detail="auto", cache=Cache(MARK)))
    assert block == {"type": "image", "source": written_as, "cache_control": MARK}
    assert losses == []


@pytest.mark.parametrize(
    ("source", "written_as"),
    [
        (
            Source(data="JVBERg==", media_type="application/pdf"),
            {"type": "base64", "media_type": "application/pdf", "data": "JVBERg=="},
        ),
        (
            Source(data="w7g=", media_type="text/csv"),
            {"type": "text", "media_type": "text/plain", "data": "ø"},
        ),
        (Source(text="ø"), {"type": "text", "media_type": "text/plain", "data": "ø"}),
        (Source(url="https://example.org/a"), {"type": "url", "url": "https://example.org/a"}),
    ],
)
def test_documents(source: Source, written_as: dict[str, Any]) -> None:
    block, losses = user_block(DocumentPart(source, name="a.pdf"))
    assert block == {"type": "document", "source": written_as, "title": "a.pdf"}
    assert losses == []


def test_a_picture_that_came_as_a_document_is_an_image() -> None:
    block, _ = user_block(DocumentPart(Source(url="data:image/png;base64,QQ=="), name="a.png"))
    assert block["type"] == "image"


@pytest.mark.parametrize("kind", [Image, DocumentPart])
def test_a_file_of_another_vendor_is_missed(kind: type[Image] | type[DocumentPart]) -> None:
    part = kind(Source(file_id="file-1"), at="messages[0].content[1]")
    block, losses = user_block(part)
    assert block["type"] == "text" and "missing" in block["text"]
    assert losses == [("dropped", "messages[0].content[1]")]
    block, losses = user_block(part, protocol="messages")
    assert block["source"] == {"type": "file", "file_id": "file-1"}
    assert losses == []


def test_what_images_cannot_carry_is_reported() -> None:
    image = Image(Source(url="u"), detail="low", extra={"x": 1}, at="c")
    assert user_block(image)[1] == [("dropped", "c.detail"), ("dropped", "c.x")]


@pytest.mark.parametrize(
    ("thinking", "block", "reported"),
    [
        (
            Thinking("a", signature="s", origin="messages", at="t"),
            {"type": "thinking", "thinking": "a", "signature": "s"},
            False,
        ),
        (
            Thinking(redacted="r", origin="messages", at="t"),
            {"type": "redacted_thinking", "data": "r"},
            False,
        ),
        (Thinking("a", at="t"), None, True),
        (Thinking("a", signature="s", origin="responses", at="t"), None, True),
        (Thinking(encrypted="e", origin="responses", at="t"), None, True),
        (Thinking(), None, False),
    ],
)
def test_thinking_goes_back_signed_or_not_at_all(
    thinking: Thinking, block: dict[str, Any] | None, reported: bool
) -> None:
    document, losses = written(asked(HELLO, assistant(thinking, Text("b")), HELLO))
    text = {"type": "text", "text": "b"}
    assert document["messages"][1]["content"] == ([block, text] if block else "b")
    assert losses == ([("dropped", "t")] if reported else [])


def test_parts_of_its_own_pass_and_foreign_ones_are_reported() -> None:
    own = {"type": "search_result", "source": "s", "title": "t", "content": []}
    assert user_block(Opaque("messages", own))[0] == own
    document, losses = written(
        asked(user(Text("a"), Opaque("chat", {}, at="messages[0].content[1]")))
    )
    assert document["messages"][0]["content"] == "a"
    assert losses == [("dropped", "messages[0].content[1]")]


@pytest.mark.parametrize(("protocol", "kept"), [("messages", True), ("responses", False)])
def test_citations_are_kept_by_their_own_protocol(protocol: Any, kept: bool) -> None:
    cited = Opaque(protocol, [{"cited_text": "x"}], at="c")
    block, losses = user_block(Text("a", citations=cited))
    assert block.get("citations") == ([{"cited_text": "x"}] if kept else None)
    assert losses == ([] if kept else [("dropped", "c")])


@pytest.mark.parametrize(("protocol", "kept"), [("messages", True), ("chat", False)])
def test_fields_of_calls_are_kept_by_their_own_protocol(protocol: Any, kept: bool) -> None:
    call = Call("1", "f", extra={"toolset_name": "t"}, at="c")
    turns = [HELLO, assistant(call), user(Result("1", []))]
    document, losses = written(asked(*turns, protocol=protocol))
    assert ("toolset_name" in document["messages"][1]["content"][0]) is kept
    assert losses == ([] if kept else [("dropped", "c.toolset_name")])


def test_a_refusal_of_the_history_is_text() -> None:
    document, _ = written(asked(HELLO, assistant(Refusal("No.")), HELLO))
    assert document["messages"][1] == {"role": "assistant", "content": "No."}
