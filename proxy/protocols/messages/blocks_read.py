"""Content blocks of a client's request, read into neutral parts.

https://docs.anthropic.com/en/api/messages#body-messages
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from toolwire.proxy.protocols import json
from toolwire.proxy.protocols.fields import (
    invalid,
    of_type,
    optional,
    required,
    wrong_type,
)
from toolwire.proxy.protocols.neutral import (
    Cache,
    Call,
    DocumentPart,
    Image,
    Opaque,
    Part,
    Result,
    Role,
    Source,
    Text,
    Thinking,
)

Block = dict[str, Any]


def read_content(content: Any, at: str) -> list[Part]:
    """The parts of a ``content`` (or ``system``): a string, or an array of blocks."""
    if isinstance(content, str):
        return [Text(content, at=at)]
    if not isinstance(content, list):
        raise wrong_type(content, "a string or an array of blocks", at)
    return [_read_block(block, f"{at}[{index}]") for index, block in enumerate(content)]


def check_speakers(parts: list[Part], role: Role) -> None:
    """Raises ``InvalidRequest`` for a call that is not the assistant's and a result that is."""
    for part in parts:
        if isinstance(part, Call) and role is not Role.ASSISTANT:
            raise invalid(part.at, "is a tool_use block: it may only stand in an assistant message")
        if isinstance(part, Result) and role is not Role.USER:
            raise invalid(part.at, "is a tool_result block: it may only stand in a user message")


def _read_block(block: Any, at: str) -> Part:
    block = of_type(block, dict, at)
    read = _READERS.get(required(block, "type", str, at))
    # a block type that is not known here belongs to this protocol alone
    return read(block, at) if read is not None else Opaque("messages", block, at)


def read_cache(fields: Block, at: str) -> Cache | None:
    """The prompt-cache mark of a block or tool."""
    value = optional(fields, "cache_control", dict, at)
    return None if value is None else Cache(value, f"{at}.cache_control")


def _text(block: Block, at: str) -> Part:
    citations = optional(block, "citations", list, at)
    return Text(
        required(block, "text", str, at),
        cache=read_cache(block, at),
        citations=Opaque("messages", citations, f"{at}.citations") if citations else None,
        at=at,
    )


def _image(block: Block, at: str) -> Part:
    source = _source(required(block, "source", dict, at), f"{at}.source")
    if source is None:
        return Opaque("messages", block, at)
    return Image(source, cache=read_cache(block, at), extra=_beside(block, "source"), at=at)


def _document(block: Block, at: str) -> Part:
    source = _source(required(block, "source", dict, at), f"{at}.source")
    if source is None:
        return Opaque("messages", block, at)
    return DocumentPart(
        source,
        name=optional(block, "title", str, at),
        cache=read_cache(block, at),
        extra=_beside(block, "source", "title"),
        at=at,
    )


def _beside(block: Block, *known: str) -> dict[str, Any] | None:
    """The fields that a part has no place for."""
    known = (*known, "type", "cache_control")
    return {k: v for k, v in block.items() if k not in known and v is not None} or None


def _source(source: Block, at: str) -> Source | None:
    """None for a kind of source that only this protocol knows."""
    match required(source, "type", str, at):
        case "base64":
            data = required(source, "data", str, at)
            return Source(data=data, media_type=optional(source, "media_type", str, at))
        case "text":
            data = required(source, "data", str, at)
            return Source(text=data, media_type=optional(source, "media_type", str, at))
        case "url":
            return Source(url=required(source, "url", str, at))
        case "file":
            return Source(file_id=required(source, "file_id", str, at))
    return None


def _tool_use(block: Block, at: str) -> Part:
    return Call(
        required(block, "id", str, at),
        required(block, "name", str, at),
        json.encode_text(required(block, "input", dict, at)),
        cache=read_cache(block, at),
        # "caller" tells by which way the model called; to another model it says nothing
        extra=_beside(block, "id", "name", "input", "caller"),
        at=at,
    )


def _tool_result(block: Block, at: str) -> Part:
    content = block.get("content")
    return Result(
        required(block, "tool_use_id", str, at),
        [] if content is None else read_content(content, f"{at}.content"),
        is_error=optional(block, "is_error", bool, at) or False,
        cache=read_cache(block, at),
        at=at,
    )


def _thinking(block: Block, at: str) -> Part:
    # clients get an empty signature for thinking that nobody signed
    signature = optional(block, "signature", str, at) or None
    return Thinking(
        required(block, "thinking", str, at),
        signature=signature,
        origin="messages" if signature else None,
        at=at,
    )


def _redacted_thinking(block: Block, at: str) -> Part:
    return Thinking(redacted=required(block, "data", str, at), origin="messages", at=at)


_READERS: dict[str, Callable[[Block, str], Part]] = {
    "text": _text,
    "image": _image,
    "document": _document,
    "tool_use": _tool_use,
    "tool_result": _tool_result,
    "thinking": _thinking,
    "redacted_thinking": _redacted_thinking,
}
