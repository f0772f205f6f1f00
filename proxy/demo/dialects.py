"""The three protocols, as the demo speaks each of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from msgspec import Struct

import toolwire.proxy.demo.chat.answer as chat_answer
import toolwire.proxy.demo.chat.check as chat_check
import toolwire.proxy.demo.chat.read as chat_read
import toolwire.proxy.demo.messages.answer as messages_answer
import toolwire.proxy.demo.messages.check as messages_check
import toolwire.proxy.demo.messages.read as messages_read
import toolwire.proxy.demo.responses.answer as responses_answer
import toolwire.proxy.demo.responses.check as responses_check
import toolwire.proxy.demo.responses.read as responses_read
import toolwire.proxy.demo.responses.stream as responses_stream
from toolwire.proxy.demo.neutral import Completion, Json, Prompt, Protocol
from toolwire.proxy.demo.responses.memory import ResponseMemory
from toolwire.proxy.demo.sse import Event


class Dialect(Struct, frozen=True, kw_only=True):
    """How one protocol is checked, read and written."""

    protocol: Protocol
    check: Callable[[Json, Mapping[str, str]], None]
    """Raises Refusal for a body and headers that the vendor refuses."""
    read: Callable[[Json], Prompt]
    """What matters of a checked body."""
    answer: Callable[[Json, Prompt, Completion], Json]
    """The answer as one document."""
    events: Callable[[Prompt, Completion, Json], list[Event]]
    """The stream that spells that document out."""


CHAT = Dialect(
    protocol=Protocol.CHAT,
    check=chat_check.check,
    read=chat_read.read,
    answer=chat_answer.answer,
    events=chat_answer.events,
)
MESSAGES = Dialect(
    protocol=Protocol.MESSAGES,
    check=messages_check.check,
    read=messages_read.read,
    answer=messages_answer.answer,
    events=messages_answer.events,
)


def responses(memory: ResponseMemory) -> Dialect:
    """Responses that remember in this memory what they answered."""
    return Dialect(
        protocol=Protocol.RESPONSES,
        check=partial(responses_check.check, memory),
        read=partial(responses_read.read, memory),
        answer=partial(responses_answer.answer, memory),
        events=responses_stream.events,
    )
