"""A piece of a call that may only hold the place of the true arguments.

``{}`` or ``null`` as all that was said of a call so far waits for the next event: where that begins
an object it was a placeholder, and does not go out.
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from toolwire.proxy.protocols import json
from toolwire.proxy.protocols.chat.call_arguments import PLACEHOLDERS, StreamedCall
from toolwire.proxy.protocols.chat.choice_repair import ChoiceRepair
from toolwire.proxy.protocols.sse import Event


class Placeholder(Struct):
    """The event that waits, and the call that it has a piece of."""

    event: Event
    call: StreamedCall

    def told(self) -> Event:
        """What goes out of it, now that the next event is known."""
        if not self.call.replaced:
            return self.event
        self.call.replaced = False
        document = json.decode_object(self.event.data or b"")
        document["choices"][0]["delta"]["tool_calls"][0]["function"]["arguments"] = ""
        return Event(json.encode(document), self.event.name)


def placeholder(
    events: list[Event], document: dict[str, Any], states: dict[int, ChoiceRepair]
) -> Placeholder | None:
    """The one event of a repaired chunk, where it is to wait; None where it need not, or ends the
    choice."""
    if len(events) != 1 or len(document["choices"]) != 1:
        return None
    (choice,) = document["choices"]
    pieces = choice["delta"].get("tool_calls")
    if not isinstance(pieces, list) or len(pieces) != 1 or choice.get("finish_reason"):
        return None
    call = states[choice["index"]].calls.doubtful
    said = pieces[0].get("function", {}).get("arguments")
    waits = call is not None and call.index == pieces[0]["index"] and said in PLACEHOLDERS
    return Placeholder(events[0], call) if call is not None and waits else None
