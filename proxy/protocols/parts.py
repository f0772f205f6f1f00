"""The parts of a conversation in the neutral form, and the losses of a conversion."""

from __future__ import annotations

from typing import Any, Literal

from msgspec import Struct

Protocol = Literal["chat", "messages", "responses"]


# ------------------------------------------------------------------------------------ losses
class Node(Struct, gc=False):
    """Of the neutral form, which is a tree: as nothing in it refers back, the collector of cycles
    need not look at it."""


class Loss(Struct, frozen=True, gc=False):
    """One thing that did not cross as it was."""

    path: str
    kind: Literal["dropped", "coerced", "invented"]
    why: str


class Losses:
    """What a conversion could not carry; reported in a header, a log event and a counter."""

    def __init__(self) -> None:
        self.entries: list[Loss] = []

    def drop(self, path: str, why: str) -> None:
        """``path`` was left out."""
        self.entries.append(Loss(path, "dropped", why))

    def coerce(self, path: str, why: str) -> None:
        """``path`` was carried in another way, with some loss."""
        self.entries.append(Loss(path, "coerced", why))

    def invent(self, path: str, why: str) -> None:
        """``path`` was demanded by the target and not given by the client."""
        self.entries.append(Loss(path, "invented", why))


# ------------------------------------------------------------------------------------- parts
class Cache(Node):
    """A prompt-cache mark of Messages (``cache_control``), as it came."""

    value: Any
    at: str = ""


class Source(Node):
    """Where the bytes of an image or a document are: exactly one of ``data``, ``url``, ``file_id``.

    ``data`` is base64 without a prefix, of type ``media_type``; ``text`` is plain document text.
    """

    data: str | None = None
    media_type: str | None = None
    url: str | None = None
    file_id: str | None = None
    text: str | None = None


class Text(Node):
    """Visible text.  ``citations`` are the native annotations, kept for their own protocol only;
    ``logprobs`` are the tokens of an answer (see ``logprobs.read_tokens``)."""

    text: str
    cache: Cache | None = None
    citations: Opaque | None = None
    at: str = ""
    logprobs: list[dict[str, Any]] | None = None


class Image(Node):
    """A picture.  ``extra`` holds further fields by their wire name (``transformations``)."""

    source: Source
    detail: str | None = None
    cache: Cache | None = None
    extra: dict[str, Any] | None = None
    at: str = ""


class DocumentPart(Node):
    """A PDF or text document.  ``extra`` as in ``Image`` (``citations``, ``context``)."""

    source: Source
    name: str | None = None
    cache: Cache | None = None
    extra: dict[str, Any] | None = None
    at: str = ""


class Call(Node):
    """The model calls a tool.

    ``arguments`` is JSON text, as it came where the wire has text ("" for none); for a free-form
    tool (``custom``) it is the input text itself.  ``extra`` holds unknown fields by protocol
    (Gemini's ``extra_content``).
    """

    id: str
    name: str
    arguments: str = ""
    custom: bool = False
    cache: Cache | None = None
    extra: dict[str, Any] | None = None
    at: str = ""


class Result(Node):
    """What a tool gave back: ``parts`` are Text, Image, DocumentPart or Opaque.

    ``uncalled`` names the tool of a result that answers no call at all.
    """

    call_id: str
    parts: list[Part]
    is_error: bool = False
    custom: bool = False
    cache: Cache | None = None
    at: str = ""
    uncalled: str | None = None


class Thinking(Node):
    """Reasoning of the model.

    ``text`` is what may be shown.  ``signature`` (Messages), ``redacted`` (the ``data`` of a
    ``redacted_thinking`` block) and ``encrypted`` (Responses ``encrypted_content``) are opaque and
    only mean something to the vendor that made them: ``origin`` is the protocol they came in, and
    they never go to another one; ``vendor`` names who signed it (a provider, or an upstream of its
    own), and travels with what clients give back.  ``summary``: the text is a Responses summary,
    not the reasoning.
    """

    text: str = ""
    signature: str | None = None
    redacted: str | None = None
    encrypted: str | None = None
    origin: Protocol | None = None
    vendor: str | None = None
    id: str | None = None
    summary: bool = False
    at: str = ""


class Refusal(Node):
    text: str
    at: str = ""


class Opaque(Node):
    """A part, item or field that only ``protocol`` knows, as it came."""

    protocol: Protocol
    value: Any
    at: str = ""


Part = Text | Image | DocumentPart | Call | Result | Thinking | Refusal | Opaque
