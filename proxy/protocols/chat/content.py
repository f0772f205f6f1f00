"""Content parts of messages: text, images, files.

https://platform.openai.com/docs/api-reference/chat/create (messages.content)
"""

from __future__ import annotations

import re
from typing import Any

from toolwire.proxy.protocols.chat import fields
from toolwire.proxy.protocols.chat.tools_read import read_cache
from toolwire.proxy.protocols.codec import Quirks
from toolwire.proxy.protocols.neutral import (
    Cache,
    DocumentPart,
    Image,
    Losses,
    Opaque,
    Part,
    Refusal,
    Source,
    Text,
    Thinking,
)

_DATA_URL = re.compile(r"data:([^;,]*)((?:;[^;,]*)*),", re.IGNORECASE)


# -------------------------------------------------------------------------------------- read
def read_content(message: dict[str, Any], at: str) -> list[Part]:
    """The parts of ``content``: a string, an array of parts, or null for none."""
    value = message.get("content")
    at = f"{at}.content"
    if value is None or value == "":
        return []
    if isinstance(value, str):
        return [Text(value, at=at)]
    if not isinstance(value, list):
        fields.wrong(value, "a string or an array", at)
    parts: list[Part] = []
    for place, part in enumerate(value):
        parts.append(_read_part(part, f"{at}[{place}]"))
        if isinstance(parts[-1], Text) and (unknown := _unknown(part)):
            # text has no place for them: so each is reported
            path = parts[-1].at
            parts += [Opaque("chat", {k: v}, f"{path}.{k}") for k, v in unknown.items()]
    return parts


def _unknown(part: Any) -> dict[str, Any]:
    if not isinstance(part, dict):
        return {}
    known = ("type", "cache_control", part["type"])
    return {name: value for name, value in part.items() if name not in known and value}


def _read_part(part: Any, at: str) -> Part:
    if isinstance(part, str):
        return Text(part, at=at)
    if not isinstance(part, dict):
        fields.wrong(part, "an object", at)
    match fields.text(part, "type", at):
        case "text":
            return Text(fields.text(part, "text", at), cache=read_cache(part, at), at=at)
        case "refusal":
            return Refusal(fields.text(part, "refusal", at), at=at)
        case "image_url":
            return _read_image(part, at)
        case "file":
            return _read_file(part, at)
        case "thinking":
            return _read_thinking(part, at)
    return Opaque("chat", part, at)


def _read_image(part: dict[str, Any], at: str) -> Image:
    inner = f"{at}.image_url"
    image = part.get("image_url")
    if isinstance(image, str):  # several upstreams take the URL itself
        image = {"url": image}
    if not isinstance(image, dict):
        image = fields.required_object(part, "image_url", at)
    return Image(
        source_of_url(fields.text(image, "url", inner)),
        detail=fields.optional_text(image, "detail", inner),
        cache=read_cache(part, at),
        extra=_unknown(part) or None,
        at=at,
    )


def _read_file(part: dict[str, Any], at: str) -> DocumentPart:
    inner = f"{at}.file"
    file = fields.required_object(part, "file", at)
    data = fields.optional_text(file, "file_data", inner)
    file_id = fields.optional_text(file, "file_id", inner)
    if data is None and file_id is None:
        fields.refuse(inner, "must have file_data or file_id")
    source = Source(file_id=file_id)
    if data is not None:
        source = source_of_url(data) if _DATA_URL.match(data) else Source(data=data)
    name = fields.optional_text(file, "filename", inner)
    return DocumentPart(
        source, name=name, cache=read_cache(part, at), extra=_unknown(part) or None, at=at
    )


def _read_thinking(part: dict[str, Any], at: str) -> Thinking:
    """Mistral's: https://docs.mistral.ai/capabilities/reasoning"""
    value = part.get("thinking")
    if isinstance(value, str):
        return Thinking(value, origin="chat", at=at)
    pieces = fields.objects(part, "thinking", at)
    texts = [fields.optional_text(piece, "text", path) or "" for path, piece in pieces]
    return Thinking("".join(texts), origin="chat", at=at)


def source_of_url(url: str) -> Source:
    """A base64 source for a ``data:`` URL that holds base64, else a URL.

    https://www.rfc-editor.org/rfc/rfc2397
    """
    head = _DATA_URL.match(url)
    if head is None or not head[2].lower().endswith(";base64"):
        return Source(url=url)
    return Source(data=url[head.end() :], media_type=head[1].lower() or None)


# ------------------------------------------------------------------------------------- write
def write_part(part: Part, quirks: Quirks, losses: Losses) -> dict[str, Any] | None:
    """A content part; None for what has no place in one, which is then reported."""
    written = _write_part(part, losses)
    cache = getattr(part, "cache", None)
    if isinstance(cache, Cache):
        if written is not None and quirks.cache_control:
            written["cache_control"] = cache.value
        else:
            losses.drop(cache.at, "the upstream takes no cache marks")
    if isinstance(part, Image | DocumentPart):
        for name in part.extra or {}:
            losses.drop(f"{part.at}.{name}", "Chat Completions has no such field")
    return written


def _write_part(part: Part, losses: Losses) -> dict[str, Any] | None:
    match part:
        case Text() | Refusal():
            return {"type": "text", "text": part.text}
        case Image():
            return _write_image(part, losses)
        case DocumentPart():
            return _write_file(part, losses)
        case Opaque(protocol="chat", value={"type": str()}):
            return dict(part.value)
        case Thinking():
            losses.drop(part.at, "thinking has no place in a message of this role")
            return None
    losses.drop(part.at, "Chat Completions has no such part")
    return None


def _write_image(image: Image, losses: Losses) -> dict[str, Any] | None:
    url = _url(image.source, "image/png")
    if url is None:
        losses.drop(image.at, "a file id means nothing to another vendor")
        return None
    written = {"url": url} if image.detail is None else {"url": url, "detail": image.detail}
    return {"type": "image_url", "image_url": written}


def _write_file(document: DocumentPart, losses: Losses) -> dict[str, Any]:
    source = document.source
    if source.text is not None:
        title = f"{document.name}\n\n" if document.name else ""
        return {"type": "text", "text": title + source.text}
    if source.file_id is not None:
        return {"type": "file", "file": {"file_id": source.file_id}}
    if source.data is None:
        losses.coerce(document.at, "a document at a URL is carried as a line of text")
        return {"type": "text", "text": f"[Document: {source.url}]"}
    name = document.name or "document.pdf"
    data = _url(source, "application/pdf")
    return {"type": "file", "file": {"filename": name, "file_data": data}}


def _url(source: Source, default_type: str) -> str | None:
    if source.data is not None:
        return f"data:{source.media_type or default_type};base64,{source.data}"
    return source.url
