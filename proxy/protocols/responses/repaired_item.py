"""One item of a stream under repair: what was told of it so far."""

from __future__ import annotations

from typing import Any

from toolwire.proxy.protocols.responses import wire
from toolwire.proxy.protocols.responses.wire import PartKind


class RepairedItem:
    """An item: the id that all its events bear, the parts whose deltas were heard (the deltas' type
    and the part's number, None for arguments), those that were told to be whole, and the whole item
    once it is done."""

    __slots__ = ("done", "heard", "id", "parts", "told", "type")

    def __init__(self, item_id: str, item_type: str | None) -> None:
        self.id = item_id
        self.type = item_type
        self.heard: set[tuple[str, int | None]] = set()
        self.told: set[tuple[str, int | None]] = set()
        self.parts = 0
        self.done: dict[str, Any] | None = None

    def whole(self, kind: PartKind, number: int | None) -> str | None:
        """The whole text of a part, as the item that is done has it; None where it has none."""
        holder: Any = self.done
        if number is not None:
            parts = (self.done or {}).get("summary" if kind is PartKind.SUMMARY else "content")
            holder = dict(enumerate(parts)).get(number) if isinstance(parts, list) else None
        text = holder.get(wire.WHOLE_FIELD[kind]) if isinstance(holder, dict) else None
        return text if isinstance(text, str) else None
