"""Neutral parts, written as the content blocks of a request.

https://docs.anthropic.com/en/api/messages#body-messages
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Callable
from typing import Any
from urllib.parse import unquote_to_bytes

from msgspec.structs import replace

from toolwire.proxy.protocols import json
from toolwire.proxy.protocols.freeform import wrap_call
from toolwire.proxy.protocols.identifiers import derived_id
from toolwire.proxy.protocols.neutral import (
    Cache,
    Call,
    DocumentPart,
    Image,
    Losses,
    Opaque,
    Part,
    Refusal,
    Result,
    Source,
    Text,
    Thinking,
)

Block = dict[str, Any]


class BlockWriter:
    """Writes the parts of one request.  ``native``: they were read from this very protocol."""

    def __init__(self, losses: Losses, *, native: bool) -> None:
        self._losses = losses
        self._native = native
        self._ids: dict[str, str] = {}
        self._used: set[str] = set()

    def write(self, parts: list[Part]) -> list[Block]:
        """The blocks of ``parts``, in order.

        Text of nothing but white space is refused as a block of its own; it goes in front of the
        text after it.
        """
        blocks: list[Block] = []
        space = ""
        for part in parts:
            if type(part) is Text:
                if not part.text or part.text.isspace():
                    space += part.text
                    continue
                if space:
                    part = replace(part, text=space + part.text)
            space = ""
            if (block := _WRITERS[type(part)](self, part)) is not None:
                blocks.append(block)
        return blocks

    def _text(self, text: Text) -> Block:
        block: Block = {"type": "text", "text": text.text}
        if text.citations is not None:
            if text.citations.protocol == "messages":
                block["citations"] = text.citations.value
            else:
                self._losses.drop(text.citations.at, "annotations mean nothing to Messages")
        return _marked(block, text.cache)

    def _tool_use(self, call: Call) -> Block:
        block: Block = {
            "type": "tool_use",
            "id": self._unique_id(call.id),
            "name": call.name,
            "input": self._input(call),
        }
        for name, value in (call.extra or {}).items():
            if self._native:
                block[name] = value
            else:
                self._losses.drop(f"{call.at}.{name}", "has no equivalent in Messages")
        return _marked(block, call.cache)

    def _unique_id(self, call_id: str) -> str:
        """``tool_use`` ids must be unique in a request; some upstreams number theirs per answer."""
        unique = call_id
        if call_id in self._used:
            unique = derived_id("toolu_", call_id, len(self._used))
        self._used.add(unique)
        self._ids[call_id] = unique
        return unique

    def _input(self, call: Call) -> dict[str, Any]:
        value = call_input((wrap_call(call) if call.custom else call).arguments)
        if value is None:
            self._losses.coerce(call.at, "the arguments are no JSON object: an empty one is sent")
        return value or {}

    def _tool_result(self, result: Result) -> Block:
        block: Block = {
            "type": "tool_result",
            "tool_use_id": self._ids.get(result.call_id, result.call_id),
        }
        if content := self.write(result.parts):
            block["content"] = plain_text(content) or content
        if result.is_error:
            block["is_error"] = True
        return _marked(block, result.cache)

    def _image(self, image: Image) -> Block:
        if image.detail not in (None, "auto"):
            self._losses.drop(f"{image.at}.detail", "Messages has one way to look at images")
        source = self._source(image.source, "image/png", image.at)
        return self._beside({"type": "image", "source": source}, image)

    def _document(self, document: DocumentPart) -> Block:
        source = self._source(document.source, "application/pdf", document.at)
        if source is not None and str(source.get("media_type")).startswith("image/"):
            return _marked({"type": "image", "source": source}, document.cache)
        block = {"type": "document", "source": source}
        if document.name:
            block["title"] = document.name
        return self._beside(block, document)

    def _beside(self, block: Block, part: Image | DocumentPart) -> Block:
        """``block`` and the further fields of ``part``; a line of text where it has no source."""
        if block["source"] is None:
            block = {"type": "text", "text": f"[A file is missing here ({block['type']}).]"}
        elif self._native:
            block |= part.extra or {}
        else:
            for name in part.extra or ():
                self._losses.drop(f"{part.at}.{name}", "has no equivalent in Messages")
        return _marked(block, part.cache)

    def _source(self, source: Source, usual: str, at: str) -> Block | None:
        """None, and reported, for what the upstream cannot get at.  ``usual``: its media type."""
        if source.url is not None and source.url[:5].lower() == "data:":
            source = _unpacked(source.url)
        if source.text is not None:
            return {"type": "text", "media_type": "text/plain", "data": source.text}
        if source.url is not None:
            return {"type": "url", "url": source.url}
        if source.data is not None:
            return _embedded(source.data, source.media_type or usual)
        if source.file_id is not None and self._native:
            return {"type": "file", "file_id": source.file_id}
        self._losses.drop(at, "the file lies with another vendor, by its id alone")
        return None

    def _thinking(self, thinking: Thinking) -> Block | None:
        if thinking.origin == "messages" and thinking.redacted is not None:
            return {"type": "redacted_thinking", "data": thinking.redacted}
        if thinking.origin == "messages" and thinking.signature:
            return {
                "type": "thinking",
                "thinking": thinking.text,
                "signature": thinking.signature,
            }
        if thinking.text or thinking.encrypted:
            self._losses.drop(thinking.at, "reasoning that this vendor did not sign")
        return None

    def _refusal(self, refusal: Refusal) -> Block | None:
        return {"type": "text", "text": refusal.text} if refusal.text.strip() else None

    def _opaque(self, opaque: Opaque) -> Block | None:
        if opaque.protocol != "messages":
            self._losses.drop(opaque.at, "has no equivalent in Messages")
            return None
        block: Block = opaque.value
        return block


_WRITERS: dict[type, Callable[[BlockWriter, Any], Block | None]] = {
    Text: BlockWriter._text,
    Call: BlockWriter._tool_use,
    Result: BlockWriter._tool_result,
    Image: BlockWriter._image,
    DocumentPart: BlockWriter._document,
    Thinking: BlockWriter._thinking,
    Refusal: BlockWriter._refusal,
    Opaque: BlockWriter._opaque,
}


def call_input(arguments: str) -> dict[str, Any] | None:
    """The object that the arguments of a call spell out; None where they are something else."""
    if not arguments or arguments.isspace():
        return {}
    try:
        value = json.decode(arguments)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def plain_text(blocks: list[Block]) -> str | None:
    """The text of a content that is one block of plain text, and so may be a mere string."""
    block = blocks[0]
    if len(blocks) > 1 or len(block) > 2 or block["type"] != "text":
        return None
    text: str = block["text"]
    return text


def _marked(block: Block, cache: Cache | None) -> Block:
    if cache is not None:
        block["cache_control"] = cache.value
    return block


def _unpacked(url: str) -> Source:
    """What a data URL holds: https://www.rfc-editor.org/rfc/rfc2397"""
    head, _, data = url[5:].partition(",")
    media_type = head.partition(";")[0] or None
    if not head.lower().endswith(";base64"):
        data = b64encode(unquote_to_bytes(data)).decode()
    return Source(data=data, media_type=media_type)


def _embedded(data: str, media_type: str) -> Block:
    if media_type.startswith("text/"):
        try:
            text = b64decode(data).decode()
        except ValueError:  # neither base64 nor UTF-8: the upstream shall say so
            pass
        else:
            return {"type": "text", "media_type": "text/plain", "data": text}
    return {"type": "base64", "media_type": media_type, "data": data}
