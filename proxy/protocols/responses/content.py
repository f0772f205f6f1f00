"""Parts of a message or of a tool's output: text, images, files, refusals.

https://platform.openai.com/docs/api-reference/responses/create (``input``)
"""

from __future__ import annotations

import base64
import re
from typing import Any

from toolwire.proxy.protocols.fields import (
    invalid,
    objects,
    optional,
    path_of,
    required,
    wrong_type,
)
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
    Tool,
)
from toolwire.proxy.protocols.openai import PDF, is_data_url, media_type_of, source_of_url

_ENDINGS = {PDF: ".pdf", "text/plain": ".txt"}
_CONTENT_TYPE = re.compile("input_|output_text|refusal")


def is_content(value: Any) -> bool:
    """Whether an opaque value is a part of a message's content, rather than an item of its own."""
    kind = value.get("type") if isinstance(value, dict) else None
    return isinstance(kind, str) and _CONTENT_TYPE.match(kind) is not None


# ----------------------------------------------------------------------------------- reading
def read_content(document: dict[str, Any], name: str, at: str) -> list[Part]:
    """The parts of a ``content`` or ``output``: a string, or a list of parts.

    Raises ``InvalidRequest`` with the path of what is neither.
    """
    value = document.get(name)
    path = path_of(at, name)
    if isinstance(value, str):
        return [Text(value, at=path)] if value else []
    if not isinstance(value, list):
        if name not in document:
            raise invalid(path, "is missing; it must be a string or an array of parts")
        raise wrong_type(value, "a string or an array of parts", path)
    return [read_part(part, where) for where, part in objects(document, name, at)]


def read_part(part: dict[str, Any], at: str) -> Part:
    """One part; a type that is not known stays opaque."""
    match part.get("type"):
        case "input_text" | "output_text" | "text":
            annotations = part.get("annotations")
            return Text(
                required(part, "text", str, at),
                cache=_read_cache(part, at),
                citations=Opaque("responses", annotations, f"{at}.annotations")
                if annotations
                else None,
                at=at,
            )
        case "refusal":
            return Refusal(required(part, "refusal", str, at), at=at)
        case "input_image":
            return _read_image(part, at)
        case "input_file":
            return _read_file(part, at)
    return Opaque("responses", part, at=at)


def _read_cache(part: dict[str, Any], at: str) -> Cache | None:
    # OpenAI's mark for the end of a cached prefix; that of Messages says the same
    if part.get("prompt_cache_breakpoint") is None:
        return None
    return Cache({"type": "ephemeral"}, at=f"{at}.prompt_cache_breakpoint")


def _read_image(part: dict[str, Any], at: str) -> Image:
    url = optional(part, "image_url", str, at)
    file_id = optional(part, "file_id", str, at)
    if url is None and file_id is None:
        raise invalid(at, "must have an image_url or a file_id")
    source = Source(file_id=file_id) if url is None else source_of_url(url)
    detail = optional(part, "detail", str, at)
    return Image(source, detail=detail, cache=_read_cache(part, at), at=at)


def _read_file(part: dict[str, Any], at: str) -> DocumentPart:
    data = optional(part, "file_data", str, at)
    url = optional(part, "file_url", str, at)
    file_id = optional(part, "file_id", str, at)
    name = optional(part, "filename", str, at)
    if data is not None:
        # with or without the prefix of a data URL: both are accepted by the API
        source = source_of_url(data) if is_data_url(data) else Source(data, media_type_of(name))
    elif url is not None:
        source = source_of_url(url)
    elif file_id is not None:
        source = Source(file_id=file_id)
    else:
        raise invalid(at, "must have a file_data, file_url or file_id")
    return DocumentPart(source, name=name, cache=_read_cache(part, at), at=at)


# ----------------------------------------------------------------------------------- writing
def write_input_part(part: Part, client: Protocol, losses: Losses) -> dict[str, Any] | None:
    """A part of a user's message or of a tool's output; None where it cannot be carried."""
    drop_cache(part, losses)
    if isinstance(part, Image | DocumentPart):
        for name in part.extra or ():
            losses.drop(f"{part.at}.{name}", "Responses has no such field of a file")
    match part:
        case Text(text):
            drop_citations(part, losses)
            return {"type": "input_text", "text": text}
        case Refusal(text):
            return {"type": "input_text", "text": text}
        case Image(source):
            location = _image_location(source, client)
            if location is None:
                losses.drop(part.at, "a file of another vendor's storage")
                return None
            return {"type": "input_image", **location, "detail": part.detail or "auto"}
        case DocumentPart():
            return _write_document(part, client, losses)
        case Opaque("responses", value):
            return value if isinstance(value, dict) else None
    losses.drop(part.at, "Responses has no part of this kind")
    return None


def _image_location(source: Source, client: Protocol) -> dict[str, str] | None:
    if source.data is not None:
        return {"image_url": f"data:{source.media_type or 'image/png'};base64,{source.data}"}
    if source.url is not None:
        return {"image_url": source.url}
    return _file_id(source, client)


def _file_id(source: Source, client: Protocol) -> dict[str, str] | None:
    # ids of chat and responses are of the same Files API, those of messages are not
    if source.file_id is None or client == "messages":
        return None
    return {"file_id": source.file_id}


def _write_document(part: DocumentPart, client: Protocol, losses: Losses) -> dict[str, Any] | None:
    source = part.source
    if source.text is not None:
        data = base64.b64encode(source.text.encode("utf-8", "replace")).decode()
        return _file(part.name, "text/plain", data)
    if source.data is not None:
        return _file(part.name, source.media_type or PDF, source.data)
    if source.url is not None:
        if part.name is not None and client == "messages":
            losses.drop(f"{part.at}.title", "a file at a URL has no name in Responses")
        return {"type": "input_file", "file_url": source.url}
    location = _file_id(source, client)
    if location is None:
        losses.drop(part.at, "a file of another vendor's storage")
        return None
    return {"type": "input_file", **location}


def _file(name: str | None, media_type: str, data: str) -> dict[str, Any]:
    """A file with its bytes; the API tells by the name's ending what is in it."""
    ending = _ENDINGS.get(media_type, "")
    if name is None or "." not in name:
        name = (name or "document") + ending
    data_url = f"data:{media_type};base64,{data}"
    return {"type": "input_file", "filename": name, "file_data": data_url}


def drop_citations(text: Text, losses: Losses) -> None:
    """Reports where text is said to come from: the API gives that, and takes none."""
    if text.citations is not None:
        losses.drop(text.citations.at, "text here bears no citations of another vendor")


def drop_cache(part: Part | Tool, losses: Losses) -> None:
    """Reports a cache mark: prefixes are cached by themselves here."""
    cache = getattr(part, "cache", None)
    if cache is not None:
        losses.drop(cache.at or f"{part.at}.cache_control", "Responses has no cache marks")
