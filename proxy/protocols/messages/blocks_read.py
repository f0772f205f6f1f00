"""Content blocks of a client's request, read into neutral parts.

https://docs.anthropic.com/en/api/messages#body-messages
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from toolwire.proxy.protocols import json
from toolwire.proxy.protocols.fields import (
    invalid,
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


def read_content(content: Any, at: str, role: Role | None = None) -> list[Part]:
    """The parts of a ``content`` (or ``system``): a string, or an array of blocks.

    ``role`` is whose message it is, None inside of a block.  Raises ``InvalidRequest`` for a call
    that is not the assistant's and a result that is.
    """
    if type(content) is str:
        return [Text(content, at=at)]
    if type(content) is not list:
        raise wrong_type(content, "a string or an array of blocks", at)
    parts: list[Part] = []
    for index, block in enumerate(content):
        path = f"{at}[{index}]"
        if type(block) is not dict:
            raise wrong_type(block, "an object", path)
        kind = required(block, "type", str, path)
        if role is not None and _SPEAKERS.get(kind, role) is not role:
            said = f"is a {kind} block: only a message of the {_SPEAKERS[kind].value} may hold one"
            raise invalid(path, said)
        if (read := _READERS.get(kind)) is not None:
            parts.append(read(block, path))
        else:
            parts += _composed(kind, block, path)
    return parts


_SPEAKERS = {"tool_use": Role.ASSISTANT, "tool_result": Role.USER}


def _composed(kind: str, block: Block, at: str) -> list[Part]:
    """The parts of what other protocols have no one part for."""
    if kind == "search_result":
        return _search_result(block, at)
    if kind == "document" and _type_of(block.get("source")) == "content":
        return _composed_document(block, at)
    if kind == "document":
        return [_document(block, at)]
    # a block type that is not known here belongs to this protocol alone
    return [Opaque("messages", block, at)]


def _search_result(block: Block, at: str) -> list[Part]:
    """What an application found: https://docs.anthropic.com/en/docs/build-with-claude/search-results"""
    heading = f"{required(block, 'title', str, at)}\n{required(block, 'source', str, at)}\n"
    return _headed(block, heading, block.get("content"), f"{at}.content", at)


def _composed_document(block: Block, at: str) -> list[Part]:
    """A document of text and images: the other protocols have these, but not as a document."""
    title = optional(block, "title", str, at) or "Document"
    content = block["source"].get("content")
    return _headed(block, f"{title}\n", content, f"{at}.source.content", at)


def _headed(block: Block, heading: str, content: Any, inner: str, at: str) -> list[Part]:
    cited = block.get("citations")
    citations = Opaque("messages", cited, f"{at}.citations") if cited else None
    first = Text(heading, cache=read_cache(block, at), citations=citations, at=at)
    return [first, *read_content(content, inner)]


def _type_of(value: Any) -> Any:
    return value.get("type") if isinstance(value, dict) else None


def read_cache(fields: Block, at: str) -> Cache | None:
    """The prompt-cache mark of a block or tool."""
    if "cache_control" not in fields:
        return None
    value = optional(fields, "cache_control", dict, at)
    return None if value is None else Cache(value, f"{at}.cache_control")


def _text(block: Block, at: str) -> Part:
    if len(block) == 2 and type(text := block.get("text")) is str:  # nothing beside it
        return Text(text, at=at)
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
    return Image(source, cache=read_cache(block, at), extra=beside(block, _IMAGE_FIELDS), at=at)


def _document(block: Block, at: str) -> Part:
    source = _source(required(block, "source", dict, at), f"{at}.source")
    if source is None:
        return Opaque("messages", block, at)
    return DocumentPart(
        source,
        name=optional(block, "title", str, at),
        cache=read_cache(block, at),
        extra=beside(block, _DOCUMENT_FIELDS),
        at=at,
    )


_IMAGE_FIELDS = frozenset({"type", "source", "cache_control"})
_DOCUMENT_FIELDS = _IMAGE_FIELDS | {"title"}
_CALL_FIELDS = frozenset({"type", "id", "name", "input", "cache_control", "caller"})
"""``caller`` tells by which way the model called; to another model it says nothing."""


def beside(document: dict[str, Any], known: frozenset[str]) -> dict[str, Any] | None:
    """The fields of a block or tool that are none of ``known``; None for none."""
    if known.issuperset(document):
        return None
    return {k: v for k, v in document.items() if k not in known and v is not None} or None


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
    call = Call(
        required(block, "id", str, at),
        required(block, "name", str, at),
        json.encode_text(required(block, "input", dict, at)),
        at=at,
    )
    if len(block) > 4:  # there is more than these three and the type
        call.cache = read_cache(block, at)
        call.extra = beside(block, _CALL_FIELDS)
    return call


def _tool_reference(block: Block, at: str) -> Part:
    """A tool that a search for tools found: https://docs.anthropic.com/en/docs/agents-and-tools/tool-use/tool-search-tool"""
    return Text(f"[Tool: {required(block, 'tool_name', str, at)}]", at=at)


def _tool_result(block: Block, at: str) -> Part:
    call_id = required(block, "tool_use_id", str, at)
    content = block.get("content")
    result = Result(
        call_id, [] if content is None else read_content(content, f"{at}.content"), at=at
    )
    if content is None or len(block) > 3:  # there is more than these two and the type
        result.is_error = optional(block, "is_error", bool, at) or False
        result.cache = read_cache(block, at)
    return result


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
    "tool_use": _tool_use,
    "tool_result": _tool_result,
    "tool_reference": _tool_reference,
    "thinking": _thinking,
    "redacted_thinking": _redacted_thinking,
}
