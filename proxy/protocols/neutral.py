"""The neutral form: what a request, an answer or a stream means, whichever protocol carries it.

Richer than each of the three protocols.  A codec reads its wire into these structs and writes its
wire from them; what it does not know it keeps as ``Opaque``, with the protocol it belongs to, so
that nothing is lost between a reader and a writer of the same protocol.  What a writer cannot carry
it records in ``Losses``, by the path that the client wrote (``tools[0].cache_control``).

``at`` is the path of the thing in the client's own request; it is "" for what was made here.
"""

from __future__ import annotations

from enum import Enum
from typing import Any, Literal

from msgspec import Struct, field

Protocol = Literal["chat", "messages", "responses"]


# ------------------------------------------------------------------------------------ losses
class Loss(Struct, frozen=True):
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
class Cache(Struct):
    """A prompt-cache mark of Messages (``cache_control``), as it came."""

    value: Any
    at: str = ""


class Source(Struct):
    """Where the bytes of an image or a document are: exactly one of ``data``, ``url``, ``file_id``.

    ``data`` is base64 without a prefix, of type ``media_type``; ``text`` is plain document text.
    """

    data: str | None = None
    media_type: str | None = None
    url: str | None = None
    file_id: str | None = None
    text: str | None = None


class Text(Struct):
    """Visible text.  ``citations`` are the native annotations, kept for their own protocol only."""

    text: str
    cache: Cache | None = None
    citations: Opaque | None = None
    at: str = ""


class Image(Struct):
    """A picture.  ``extra`` holds further fields by their wire name (``transformations``)."""

    source: Source
    detail: str | None = None
    cache: Cache | None = None
    extra: dict[str, Any] | None = None
    at: str = ""


class DocumentPart(Struct):
    """A PDF or text document.  ``extra`` as in ``Image`` (``citations``, ``context``)."""

    source: Source
    name: str | None = None
    cache: Cache | None = None
    extra: dict[str, Any] | None = None
    at: str = ""


class Call(Struct):
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


class Result(Struct):
    """What a tool gave back: ``parts`` are Text, Image, DocumentPart or Opaque."""

    call_id: str
    parts: list[Part]
    is_error: bool = False
    custom: bool = False
    cache: Cache | None = None
    at: str = ""


class Thinking(Struct):
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


class Refusal(Struct):
    text: str
    at: str = ""


class Opaque(Struct):
    """A part, item or field that only ``protocol`` knows, as it came."""

    protocol: Protocol
    value: Any
    at: str = ""


Part = Text | Image | DocumentPart | Call | Result | Thinking | Refusal | Opaque


# ------------------------------------------------------------------------------ conversation
class Role(Enum):
    SYSTEM = "system"
    DEVELOPER = "developer"
    USER = "user"
    ASSISTANT = "assistant"


class Turn(Struct):
    """One speaker's parts.  Results stand in user turns, calls in assistant turns.

    Readers give one turn for each message or item, in order, system text included where it stands;
    ``layout.arrange`` merges neighbours and puts results where they belong.
    """

    role: Role
    parts: list[Part]
    name: str | None = None
    at: str = ""


# ------------------------------------------------------------------------------------- tools
class FunctionTool(Struct):
    """``schema`` is None when the client gave none; ``strict`` None when it did not say."""

    name: str
    description: str | None = None
    schema: dict[str, Any] | None = None
    strict: bool | None = None
    cache: Cache | None = None
    extra: dict[str, Any] | None = None
    at: str = ""


class CustomTool(Struct):
    """A free-form tool: its input is text, perhaps of a grammar (``format``, in OpenAI's form)."""

    name: str
    description: str | None = None
    format: dict[str, Any] | None = None
    cache: Cache | None = None
    at: str = ""


class HostedTool(Struct):
    """A tool that the vendor runs (web search, code interpreter, …): means nothing elsewhere."""

    protocol: Protocol
    value: dict[str, Any]
    at: str = ""


Tool = FunctionTool | CustomTool | HostedTool


class Choice(Struct):
    """``mode``: auto, none, required, or ``tool`` for the one called ``name``.

    ``allowed`` is the subset of ``allowed_tools``, by name, None for all.
    """

    mode: Literal["auto", "none", "required", "tool"] = "auto"
    name: str | None = None
    custom: bool = False
    allowed: list[str] | None = None
    at: str = "tool_choice"


# ----------------------------------------------------------------------------------- request
class Structured(Struct):
    """Structured output: a JSON schema, or any JSON object where ``schema`` is None."""

    schema: dict[str, Any] | None = None
    name: str | None = None
    description: str | None = None
    strict: bool | None = None
    at: str = ""


class ThinkingRequest(Struct):
    """What the client asked of the model's reasoning; None where it did not say.

    ``enabled`` False: it asked for none.  ``effort``: none, minimal, low, medium, high, xhigh, max.
    ``budget`` in tokens.  ``adaptive``: the model decides.  ``summary``: how much of it is shown.
    """

    enabled: bool | None = None
    effort: str | None = None
    budget: int | None = None
    adaptive: bool = False
    summary: str | None = None
    include_encrypted: bool = False
    at: str = ""


class Request(Struct):
    """A whole request.

    ``extra`` maps each top-level field that has a twin in some, not all, protocols or that the
    reader does not know to its value, under its own wire name; a writer takes what its protocol
    has and reports the rest.  ``document`` is the client's own document, for answers that echo it.
    """

    model: str
    turns: list[Turn]
    protocol: Protocol
    tools: list[Tool] = field(default_factory=list)
    choice: Choice | None = None
    parallel: bool | None = None
    max_tokens: int | None = None
    temperature: Any = None
    top_p: Any = None
    stop: list[str] = field(default_factory=list)
    structured: Structured | None = None
    thinking: ThinkingRequest | None = None
    user: str | None = None
    stream: bool = False
    include_usage: bool = False
    previous_response_id: str | None = None
    store: bool | None = None
    extra: dict[str, Any] = field(default_factory=dict)
    document: dict[str, Any] = field(default_factory=dict)


# ------------------------------------------------------------------------------------ answer
class Stop(Enum):
    """Why the model stopped."""

    DONE = "done"
    SEQUENCE = "sequence"
    CALLS = "calls"
    LENGTH = "length"
    CONTEXT = "context"
    FILTERED = "filtered"
    PAUSED = "paused"


class Usage(Struct):
    """Token counts.  ``input`` includes ``cached`` (read) and ``cache_written``; None: not told."""

    input: int | None = None
    output: int | None = None
    cached: int | None = None
    cache_written: int | None = None
    reasoning: int | None = None


class Answer(Struct):
    """``created`` is a Unix time in seconds; ``stop_sequence`` the one that matched, when known.

    ``extra``: fields beside the known ones (``service_tier``, ``system_fingerprint``, …).
    """

    id: str
    model: str
    parts: list[Part]
    stop: Stop | None
    usage: Usage | None = None
    stop_sequence: str | None = None
    created: int | None = None
    extra: dict[str, Any] | None = None


class Failure(Struct):
    """An error as it is told to a client.

    ``kind`` is a neutral word (see ``KINDS`` in ``failure.py``), ``type`` the upstream's own word
    for it where there was one, ``message`` its text, word for word.
    """

    status: int
    message: str
    kind: str = "api"
    type: str | None = None
    code: Any = None
    param: str | None = None
    request_id: str | None = None


# -------------------------------------------------------------------------------- the stream
class Start(Struct):
    """The answer begins.  ``usage`` holds the input tokens, where they are told already."""

    id: str
    model: str
    created: int | None = None
    usage: Usage | None = None


class PartStart(Struct):
    """A part begins.  ``key`` names it in later events; parts may be open side by side.

    ``part`` is a Text, Thinking, Call or Refusal with what is known at the start (a Call has its
    id and name, always), or a whole Opaque part, which gets no deltas.
    """

    key: int
    part: Part


class Delta(Struct):
    """More text of part ``key``: visible text, reasoning, arguments or refusal, as the part is."""

    key: int
    text: str


class PartEnd(Struct):
    """Part ``key`` is over.

    ``part`` is the whole part where the upstream repeats it or where something (a signature,
    encrypted content, citations) came only now; None where the deltas said all.
    """

    key: int
    part: Part | None = None


class Finish(Struct):
    """The model stopped.  More ``UsageReport`` may follow; ``End`` closes the stream."""

    stop: Stop
    stop_sequence: str | None = None


class UsageReport(Struct):
    """Totals so far, cumulative: the last one counts."""

    usage: Usage


class StreamFailure(Struct):
    """The stream broke off or carried an error: it ends here, and not like a complete one."""

    failure: Failure


class Ping(Struct):
    """Nothing, but a sign of life."""


class End(Struct):
    """The stream is complete."""


StreamEvent = (
    Start | PartStart | Delta | PartEnd | Finish | UsageReport | StreamFailure | Ping | End
)
