"""A plain end between the head of a call and its arguments, which some servers send, is none.

It waits for the next event, behind which it goes where that brings more; a client has no use for a
call without arguments meanwhile.
"""

from __future__ import annotations

from collections.abc import Mapping

from toolwire.proxy.protocols.chat.choice_repair import ChoiceRepair
from toolwire.proxy.protocols.chat.wire import Chunk
from toolwire.proxy.protocols.sse import Event


def is_early(event: Event, states: Mapping[int, ChoiceRepair]) -> bool:
    """Whether an event ends a choice, and says nothing else, that has a call without arguments."""
    chunk = event.parsed
    if type(chunk) is not Chunk or not chunk.choices or chunk.usage is not None:
        return False
    choice = chunk.choices[-1]
    state = states.get(choice.index)
    if choice.finish_reason != "stop" or state is None or state.finished or not state.calls.unsaid:
        return False
    delta = choice.delta
    return delta is None or not (delta.tool_calls or delta.content)


def behind(waiting: list[Event], events: list[Event]) -> list[Event]:
    """The events of a read behind the one that waited for it; these alone where they say nothing,
    for then it still waits."""
    if all(event.data is None for event in events):
        return events
    return [waiting.pop(), *events]
