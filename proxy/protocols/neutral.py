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

from msgspec import field

from toolwire.proxy.protocols.events import (
    Answer,
    Delta,
    End,
    Failure,
    Finish,
    PartEnd,
    PartStart,
    Ping,
    Start,
    Stop,
    StreamEvent,
    StreamFailure,
    Usage,
    UsageReport,
)
from toolwire.proxy.protocols.parts import (
    Cache,
    Call,
    DocumentPart,
    Image,
    Loss,
    Losses,
    Node,
    Opaque,
    Part,
    Protocol,
    Refusal,
    Result,
    Source,
    Text,
    Thinking,
)

__all__ = [
    "PARALLEL_PATHS",
    "STOP_PATHS",
    "Answer",
    "Cache",
    "Call",
    "Choice",
    "CustomTool",
    "Delta",
    "DocumentPart",
    "End",
    "Failure",
    "Finish",
    "HostedTool",
    "Image",
    "Loss",
    "Losses",
    "Opaque",
    "Part",
    "PartEnd",
    "PartStart",
    "Ping",
    "Protocol",
    "Refusal",
    "Request",
    "Result",
    "Role",
    "Source",
    "Start",
    "Stop",
    "StreamEvent",
    "StreamFailure",
    "Text",
    "Thinking",
    "ThinkingRequest",
    "Tool",
    "Turn",
    "Usage",
    "UsageReport",
]


# ------------------------------------------------------------------------------ conversation
class Role(Enum):
    SYSTEM = "system"
    DEVELOPER = "developer"
    USER = "user"
    ASSISTANT = "assistant"


class Turn(Node):
    """One speaker's parts.  Results stand in user turns, calls in assistant turns.

    Readers give one turn for each message or item, in order, system text included where it stands;
    ``layout.arrange`` merges neighbours and puts results where they belong.
    """

    role: Role
    parts: list[Part]
    name: str | None = None
    at: str = ""


# ------------------------------------------------------------------------------------- tools
class FunctionTool(Node):
    """``schema`` is None when the client gave none; ``strict`` None when it did not say.

    Of Responses: ``namespace`` is the group that ``name`` begins with; ``search`` tells the tool
    by which the model asks the client for further tools.
    """

    name: str
    description: str | None = None
    schema: dict[str, Any] | None = None
    strict: bool | None = None
    cache: Cache | None = None
    extra: dict[str, Any] | None = None
    at: str = ""
    namespace: str | None = None
    search: bool = False


class CustomTool(Node):
    """A free-form tool: its input is text, perhaps of a grammar (``format``, in OpenAI's form)."""

    name: str
    description: str | None = None
    format: dict[str, Any] | None = None
    cache: Cache | None = None
    at: str = ""
    namespace: str | None = None


class HostedTool(Node):
    """A tool that the vendor runs (web search, code interpreter, …): means nothing elsewhere."""

    protocol: Protocol
    value: dict[str, Any]
    at: str = ""


Tool = FunctionTool | CustomTool | HostedTool


class Choice(Node):
    """``mode``: auto, none, required, or ``tool`` for the one called ``name``.

    ``allowed`` is the subset of ``allowed_tools``, by name, None for all.
    """

    mode: Literal["auto", "none", "required", "tool"] = "auto"
    name: str | None = None
    custom: bool = False
    allowed: list[str] | None = None
    at: str = "tool_choice"


# ----------------------------------------------------------------------------------- request
STOP_PATHS: dict[Protocol, str] = {
    "chat": "stop",
    "messages": "stop_sequences",
    "responses": "stop",
}
"""Where a client writes ``Request.stop``."""

PARALLEL_PATHS: dict[Protocol, str] = {
    "chat": "parallel_tool_calls",
    "messages": "tool_choice.disable_parallel_tool_use",
    "responses": "parallel_tool_calls",
}
"""Where a client writes ``Request.parallel``."""


class Structured(Node):
    """Structured output: a JSON schema, or any JSON object where ``schema`` is None."""

    schema: dict[str, Any] | None = None
    name: str | None = None
    description: str | None = None
    strict: bool | None = None
    at: str = ""


class ThinkingRequest(Node):
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


class Request(Node):
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
