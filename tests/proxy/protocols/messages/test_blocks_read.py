"""The content blocks of a Messages client, in the neutral form."""

from __future__ import annotations

from typing import Any

import pytest

from toolwire.proxy.protocols import json
from toolwire.proxy.protocols.messages import CODEC
from toolwire.proxy.protocols.neutral import (
    Cache,
    Call,
    DocumentPart,
    Image,
    Opaque,
    Part,
    Request,
    Result,
    Source,
    Text,
    Thinking,
)

MARK = {"type": "ephemeral", "ttl": "1h"}
PICTURE = {"type": "url", "url": "https://x/y.png"}


def read(**fields: Any) -> Request:
    return CODEC.read_request({"model": "m", "max_tokens": 9, "messages": [], **fields})


def block(role: str = "user", **fields: Any) -> Part:
    (turn,) = read(messages=[{"role": role, "content": [fields]}]).turns
    (part,) = turn.parts
    return part


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
            {"type": "document", "source": {"type": "new", "x": 1}},
            Opaque("messages", {"type": "document", "source": {"type": "new", "x": 1}}, at=AT),
        ),
        ({"type": "tool_reference", "tool_name": "f"}, Text("[Tool: f]", at=AT)),
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


def test_blocks_of_text_and_images_are_these() -> None:
    inner = [{"type": "text", "text": "words"}, {"type": "image", "source": PICTURE}]
    found = {
        "type": "search_result",
        "title": "T",
        "source": "https://x",
        "content": inner[:1],
        "citations": {"enabled": True},
    }
    composed = {"type": "document", "source": {"type": "content", "content": inner}}
    (turn,) = read(messages=[{"role": "user", "content": [found, composed]}]).turns
    heading, words, title, again, image = turn.parts
    asked = Opaque("messages", {"enabled": True}, f"{AT}.citations")
    assert heading == Text("T\nhttps://x\n", citations=asked, at=AT)
    assert words == Text("words", at=f"{AT}.content[0]")
    assert isinstance(title, Text) and title.text == "Document\n"
    assert isinstance(again, Text) and again.text == "words"
    assert isinstance(image, Image) and image.source == Source(url="https://x/y.png")


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
