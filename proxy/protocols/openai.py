"""What Chat Completions and Responses have in common, for both are OpenAI's."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Any

from msgspec.structs import replace

from toolwire.proxy.protocols.codec import Quirks
from toolwire.proxy.protocols.identifiers import derived_id
from toolwire.proxy.protocols.neutral import (
    DocumentPart,
    Losses,
    Part,
    Refusal,
    Request,
    Source,
    Structured,
    Text,
)

PDF = "application/pdf"

_MEDIA_TYPES = {
    "csv": "text/csv",
    "gif": "image/gif",
    "htm": "text/html",
    "html": "text/html",
    "jpeg": "image/jpeg",
    "jpg": "image/jpeg",
    "json": "application/json",
    "md": "text/markdown",
    "png": "image/png",
    "txt": "text/plain",
    "webp": "image/webp",
    "xml": "text/xml",
}

_MISSPELT = {"image/jpg": "image/jpeg"}
"""Media types that clients write and OpenAI takes, but messages upstreams do not."""

_ERROR_MARK = "Error: "
"""Before the text of a result that says the tool failed, for which neither has a field."""

_LONGEST_USER = 64
"""Characters of an end user's name.  The Responses API refuses a longer one; of chat upstreams some
refuse over 128, and Claude Code's has 150: https://github.com/looplj/axonhub/issues/1669"""

_DATA_URL = re.compile(r"data:([^;,]*)((?:;[^;,]*)*),", re.IGNORECASE)


def is_data_url(text: str) -> bool:
    """Whether ``text`` is a URL that holds its data itself (RFC 2397)."""
    return _DATA_URL.match(text) is not None


def source_of_url(url: str) -> Source:
    """A base64 source for a ``data:`` URL that holds base64, else the URL.

    https://www.rfc-editor.org/rfc/rfc2397
    """
    head = _DATA_URL.match(url)
    if head is None or not head[2].lower().endswith(";base64"):
        return Source(url=url)
    media_type = head[1].lower()
    return Source(data=url[head.end() :], media_type=_MISSPELT.get(media_type, media_type) or None)


def media_type_of(filename: str | None) -> str:
    """What the ending of a file's name says that it is; a PDF, as most are, where none does."""
    ending = (filename or "").rpartition(".")[2].lower()
    return _MEDIA_TYPES.get(ending, PDF)


def parameters(schema: dict[str, Any] | None) -> dict[str, Any]:
    """A tool's schema as it is, but that of an object always says so, and names its properties:
    OpenAI refuses one that does not."""
    if schema is None:
        return {"type": "object", "properties": {}}
    if "type" not in schema:
        schema = {"type": "object", **schema}
    if schema["type"] == "object" and "properties" not in schema:
        schema = {**schema, "properties": {}}
    return schema


def marked_as_failed(parts: list[Part]) -> list[Part]:
    """The parts of a failed result; the first text says that it is one, and so begins with it: a
    document before may be written as text, too."""
    for place, part in enumerate(parts):
        if isinstance(part, DocumentPart):
            break
        if isinstance(part, Text | Refusal):
            if part.text.lower().startswith("error"):
                return parts
            marked = replace(part, text=_ERROR_MARK + part.text)
            return [*parts[:place], marked, *parts[place + 1 :]]
    return [Text(_ERROR_MARK.rstrip(": ")), *parts]


def output_format(wish: Structured | None, quirks: Quirks, losses: Losses) -> dict[str, Any] | None:
    """The wish for structured output, flat as Responses has it; None where none can be carried.

    https://platform.openai.com/docs/guides/structured-outputs
    """
    if wish is None:
        return None
    if quirks.structured_output == "none":
        losses.drop(wish.at, "the upstream has no structured output")
        return None
    if wish.schema is None:
        return {"type": "json_object"}
    if quirks.structured_output == "json_object":
        losses.coerce(wish.at, "the upstream knows no schema, only that it must be JSON")
        return {"type": "json_object"}
    # the name is demanded here, and nowhere else
    form: dict[str, Any] = {"type": "json_schema", "name": wish.name or "output"}
    form["schema"] = wish.schema
    if wish.description is not None:
        form["description"] = wish.description
    if wish.strict is not None and quirks.strict:
        form["strict"] = wish.strict
    elif wish.strict:
        losses.drop(f"{wish.at}.strict", "the upstream does not know it")
    return form


def end_user(request: Request, losses: Losses) -> str | None:
    """The name of the end user, or what stands for one that is too long."""
    user = request.user
    if user is None or len(user) <= _LONGEST_USER:
        return user
    path = "metadata.user_id" if request.protocol == "messages" else "user"
    losses.coerce(path, f"over {_LONGEST_USER} characters: a digest stands for it")
    return derived_id("user_", user)


def temperature_for(request: Request, quirks: Quirks, losses: Losses) -> Any:
    """The client's temperature, no higher than the upstream takes."""
    temperature, highest = request.temperature, quirks.temperature_max
    if highest is None or not isinstance(temperature, int | float | Decimal):
        return temperature
    if temperature <= highest:
        return temperature
    losses.coerce("temperature", f"lowered to {highest:g}, the upstream's highest")
    return int(highest) if highest == int(highest) else highest
