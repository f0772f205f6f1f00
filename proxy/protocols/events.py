"""Answers in the neutral form: whole, as the events of a stream, and errors."""

from __future__ import annotations

from enum import Enum
from typing import Any

from toolwire.proxy.protocols.parts import Node, Part


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


class Usage(Node):
    """Token counts.  ``input`` includes ``cached`` (read) and ``cache_written``; None: not told."""

    input: int | None = None
    output: int | None = None
    cached: int | None = None
    cache_written: int | None = None
    reasoning: int | None = None


class Answer(Node):
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


class Failure(Node):
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
class Start(Node):
    """The answer begins.  ``usage`` holds the input tokens, where they are told already."""

    id: str
    model: str
    created: int | None = None
    usage: Usage | None = None


class PartStart(Node):
    """A part begins.  ``key`` names it in later events; parts may be open side by side.

    ``part`` is a Text, Thinking, Call or Refusal with what is known at the start (a Call has its
    id and name, always), or a whole Opaque part, which gets no deltas.
    """

    key: int
    part: Part


class Delta(Node):
    """More text of part ``key``: visible text, reasoning, arguments or refusal, as the part is.

    ``logprobs`` are the tokens of visible text, where they are told; some have no text of their own
    yet.
    """

    key: int
    text: str
    logprobs: list[dict[str, Any]] | None = None


class PartEnd(Node):
    """Part ``key`` is over.

    ``part`` is the whole part where the upstream repeats it or where something (a signature,
    encrypted content, citations) came only now; None where the deltas said all.
    """

    key: int
    part: Part | None = None


class Finish(Node):
    """The model stopped.  More ``UsageReport`` may follow; ``End`` closes the stream."""

    stop: Stop
    stop_sequence: str | None = None


class UsageReport(Node):
    """Totals so far, cumulative: the last one counts."""

    usage: Usage


class StreamFailure(Node):
    """The stream broke off or carried an error: it ends here, and not like a complete one."""

    failure: Failure


class Ping(Node):
    """Nothing, but a sign of life."""


class End(Node):
    """The stream is complete."""


StreamEvent = (
    Start | PartStart | Delta | PartEnd | Finish | UsageReport | StreamFailure | Ping | End
)
