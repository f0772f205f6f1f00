"""Content parts of messages: text, images, files.

https://platform.openai.com/docs/api-reference/chat/create (messages.content)
"""

from __future__ import annotations

from typing import Any

from toolwire.proxy.protocols.chat.tools_read import read_cache
from toolwire.proxy.protocols.codec import Quirks
from toolwire.proxy.protocols.fields import invalid, objects, optional, required, wrong_type
from toolwire.proxy.protocols.neutral import (
    Cache,
    DocumentPart,
    Image,
    Losses,
    Opaque,
    Part,
    Protocol,
    Refusal,
    Source,
    Text,
    Thinking,
)
from toolwire.proxy.protocols.openai import is_data_url, media_type_of, source_of_url


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
        raise wrong_type(value, "a string or an array", at)
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
        raise wrong_type(part, "an object", at)
    match required(part, "type", str, at):
        case "text":
            return Text(required(part, "text", str, at), cache=read_cache(part, at), at=at)
        case "refusal":
            return Refusal(required(part, "refusal", str, at), at=at)
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
        image = required(part, "image_url", dict, at)
    return Image(
        source_of_url(required(image, "url", str, inner)),
        detail=optional(image, "detail", str, inner),
        cache=read_cache(part, at),
        extra=_unknown(part) or None,
        at=at,
    )


def _read_file(part: dict[str, Any], at: str) -> DocumentPart:
    inner = f"{at}.file"
    file = required(part, "file", dict, at)
    data = optional(file, "file_data", str, inner)
    file_id = optional(file, "file_id", str, inner)
    if data is None and file_id is None:
        raise invalid(inner, "must have file_data or file_id")
    name = optional(file, "filename", str, inner)
    source = Source(file_id=file_id)
    if data is not None:
        source = source_of_url(data) if is_data_url(data) else Source(data, media_type_of(name))
    return DocumentPart(
        source, name=name, cache=read_cache(part, at), extra=_unknown(part) or None, at=at
    )


def _read_thinking(part: dict[str, Any], at: str) -> Thinking:
    """Mistral's: https://docs.mistral.ai/capabilities/reasoning"""
    value = part.get("thinking")
    if isinstance(value, str):
        return Thinking(value, origin="chat", at=at)
    pieces = objects(part, "thinking", at)
    texts = [optional(piece, "text", str, path) or "" for path, piece in pieces]
    return Thinking("".join(texts), origin="chat", at=at)


# ------------------------------------------------------------------------------------- write
def write_part(
    part: Part, client: Protocol, quirks: Quirks, losses: Losses
) -> dict[str, Any] | None:
    """A content part; None for what has no place in one, which is then reported."""
    written = _write_part(part, client, losses)
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


def _write_part(part: Part, client: Protocol, losses: Losses) -> dict[str, Any] | None:
    match part:
        case Text():
            if part.citations is not None:
                losses.drop(part.citations.at, "text here bears no citations in a history")
            return {"type": "text", "text": part.text}
        case Refusal():
            return {"type": "text", "text": part.text}
        case Image():
            return _write_image(part, losses)
        case DocumentPart():
            return _write_file(part, client, losses)
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


def _write_file(document: DocumentPart, client: Protocol, losses: Losses) -> dict[str, Any] | None:
    source = document.source
    if source.text is not None:
        title = f"{document.name}\n\n" if document.name else ""
        return {"type": "text", "text": title + source.text}
    if source.file_id is not None and client == "messages":
        losses.drop(document.at, "a file of another vendor's storage")
        return None
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
