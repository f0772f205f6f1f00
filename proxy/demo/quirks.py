"""What the demo does wrong on request, so that clients and gateways can be tried against it.

A quirk is asked for by the model's name, `demo+slow+empty-ids`, or by the header
`x-demo-quirk: slow, empty-ids`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from msgspec import Struct
from msgspec.structs import replace

from toolwire.proxy.demo import quirk_edits as edits
from toolwire.proxy.demo import quirk_failures as failures
from toolwire.proxy.demo.delivery import Delivery, Writes
from toolwire.proxy.demo.neutral import Json, Protocol
from toolwire.proxy.demo.refusals import Refusal
from toolwire.proxy.demo.sse import Event

HEADER = "x-demo-quirk"
MODEL = "demo"
_CHAT = frozenset({Protocol.CHAT})
_CHAT_AND_MESSAGES = frozenset({Protocol.CHAT, Protocol.MESSAGES})


class Quirk(Struct, frozen=True, kw_only=True):
    """One fault: its name, what it is, and its effect on the way of a request."""

    name: str
    doc: str
    """One line."""
    protocols: frozenset[Protocol] = frozenset(Protocol)
    before: Callable[[Protocol], None] | None = None
    """Raises Refusal before the request is looked at."""
    check: Callable[[Json], None] | None = None
    """Raises Refusal for some of the requests that are right otherwise."""
    thinks: Callable[[Json], bool] | None = None
    """Whether the model thinks although it was not asked to."""
    answer: Callable[[Json], None] | None = None
    """Changes the answer, and with it the stream that spells it out."""
    events: Callable[[list[Event], Json, Protocol], list[Event]] | None = None
    """Changes the events of a stream, given the answer that they spell out."""
    delivery: Callable[[Delivery, float], Delivery] | None = None
    """Changes how the bytes go out; the number is the configured delay, in seconds."""


_TABLE = [  # in the order in which they take effect
    Quirk(
        name="bailian-400",
        doc="thinks by default; 400 for a forced tool choice unless enable_thinking is false",
        protocols=_CHAT,
        check=failures.forced_while_thinking,
        thinks=failures.bailian_thinks,
    ),
    Quirk(
        name="deepseek-400",
        doc="thinks by default; 400 unless assistant turns with calls carry reasoning_content",
        protocols=_CHAT,
        check=failures.reasoning_left_out,
        thinks=failures.deepseek_thinks,
    ),
    Quirk(
        name="empty-ids",
        doc='tool calls have the id ""',
        protocols=_CHAT,
        answer=edits.empty_ids,
    ),
    Quirk(
        name="stop-beside-calls",
        doc="finish reason stop or end_turn beside tool calls",
        protocols=_CHAT_AND_MESSAGES,
        answer=edits.stop_beside_calls,
    ),
    Quirk(
        name="arguments-object",
        doc="arguments of tool calls are an object in place of a string",
        protocols=_CHAT,
        answer=edits.arguments_object,
    ),
    Quirk(
        name="interleaved",
        doc="the pieces of parallel tool calls take turns in the stream",
        protocols=_CHAT,
        events=edits.interleaved,
    ),
    Quirk(
        name="missing-index",
        doc="streamed tool calls have no index",
        protocols=_CHAT,
        events=edits.missing_index,
    ),
    Quirk(
        name="think-tags",
        doc="thinking stands in the text, between <think> and </think>",
        protocols=_CHAT,
        answer=edits.think_tags,
    ),
    Quirk(
        name="role-every-chunk",
        doc="each chunk of a stream carries the role",
        protocols=_CHAT,
        events=edits.role_every_chunk,
    ),
    Quirk(
        name="usage-every-chunk",
        doc="each chunk of a stream carries the usage so far",
        protocols=_CHAT,
        events=edits.usage_every_chunk,
    ),
    Quirk(
        name="no-done",
        doc="streams end without [DONE]",
        protocols=_CHAT,
        events=edits.no_done,
    ),
    Quirk(
        name="slow",
        doc="a pause before each event",
        delivery=lambda delivery, delay: replace(delivery, delay=delay),
    ),
    Quirk(
        name="cut",
        doc="the connection is dropped in the middle of the answer",
        delivery=lambda delivery, delay: replace(delivery, cut=True),
    ),
    Quirk(
        name="error-mid-stream",
        doc="streams break off with an error event",
        events=edits.error_in_the_middle,
    ),
    Quirk(
        name="error-200",
        doc="an error object under status 200",
        before=failures.error_200,
    ),
    Quirk(
        name="rate-limit",
        doc="429 with retry-after: 1",
        before=failures.rate_limit,
    ),
    Quirk(
        name="overloaded",
        doc="529 (messages) or 503 (chat, responses)",
        before=failures.overloaded,
    ),
    Quirk(
        name="server-error",
        doc="500",
        before=failures.server_error,
    ),
    Quirk(
        name="html-error",
        doc="502 with an HTML page",
        before=failures.html_error,
    ),
    Quirk(
        name="crlf",
        doc="streams with CRLF line ends",
        delivery=lambda delivery, delay: replace(delivery, newline=b"\r\n"),
    ),
    Quirk(
        name="one-byte",
        doc="one byte in each network write",
        delivery=lambda delivery, delay: replace(delivery, writes=Writes.BYTE),
    ),
    Quirk(
        name="split-utf8",
        doc="network writes end inside characters of several bytes",
        delivery=lambda delivery, delay: replace(delivery, writes=Writes.INSIDE_CHARACTERS),
    ),
]
QUIRKS: Mapping[str, Quirk] = {quirk.name: quirk for quirk in _TABLE}
"""All quirks by their names."""


def asked_for(model: object, header: str, protocol: Protocol) -> list[Quirk]:
    """The quirks that the model's name and the header ask for, in the order of their effect.

    Raises Refusal where one is not known or not one of this protocol. In the name of another model
    than `demo`, an unknown word after a plus belongs to the name.
    """
    base, *words = model.split("+") if isinstance(model, str) else [""]
    if base.rsplit("/")[-1] != MODEL:
        words = [word for word in words if word in QUIRKS]
    words += [word.strip() for word in header.split(",") if word.strip()]
    for word in words:
        if word not in QUIRKS:
            raise Refusal(
                f"No such quirk: '{word}'. Quirks are: {', '.join(QUIRKS)}.", param="model"
            )
        if protocol not in QUIRKS[word].protocols:
            names = " and ".join(sorted(known.value for known in QUIRKS[word].protocols))
            raise Refusal(
                f"The quirk '{word}' is one of {names}, not of {protocol.value}.", param="model"
            )
    return [quirk for quirk in _TABLE if quirk.name in words]
