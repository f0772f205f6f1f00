"""The blocks of a stream under repair: one after the other, numbered from 0 without gaps.

https://docs.anthropic.com/en/docs/build-with-claude/streaming.  What upstreams do instead: they
begin a block before the one before it is over, say more of one that is, leave out where one begins
or ends, and number them with gaps, twice alike, or not at all.
"""

from __future__ import annotations

from collections import Counter, deque
from typing import Any

from toolwire.proxy.errors import BadUpstreamAnswer
from toolwire.proxy.protocols import json
from toolwire.proxy.protocols.messages.repair import (
    has_calls,
    make_unique,
    repair_block,
    repair_delta,
)
from toolwire.proxy.protocols.messages.repaired_block import (
    ARGUMENTS,
    PLAIN,
    TAKEN_BY,
    RepairedBlock,
    head_of,
    learned,
    start_for,
)
from toolwire.proxy.protocols.sse import Event

NOTHING = b"\0"
"""What no event begins with."""


class RepairedBlocks:
    """The first block that is not over goes out as it comes, the others wait.

    Text and thinking make way for a block that has something to say, and go on in a block of their
    own; a call is closed when it is told to be over, or is whole while another block waits.

    ``prefix`` is what a faultless delta begins with (``NOTHING`` while that is not known), and
    ``heard`` where one is to be noted, if it is.
    """

    def __init__(self, repairs: Counter[str]) -> None:
        self.prefix = NOTHING
        self.heard: list[bytes] | None = None
        self._kinds: set[str] = set()
        self._repairs = repairs
        self._open: RepairedBlock | None = None
        self._waiting: deque[RepairedBlock] = deque()
        self._named: dict[Any, RepairedBlock] = {}
        """By the upstream's own number, the last of that number."""
        self._latest: RepairedBlock | None = None
        self._next = 0
        self._may_learn = True
        self._ids: set[str] = set()

    @property
    def called(self) -> bool | None:
        """Whether there are calls for the client (see ``has_calls``)."""
        return has_calls(self._kinds)

    @property
    def all_over(self) -> bool:
        """Whether no block is open or waits."""
        return self._open is None and not self._waiting

    def passes(self, data: bytes) -> bool:
        """Whether this is a delta of the open block, faultless and nothing to note."""
        block = self._open
        if block is None or self._waiting or (head := head_of(data)) is None:
            return False
        kind = head.delta.type
        faultless = (
            head.index == block.index
            and self._named.get(head.index) is block
            and head.type == "content_block_delta"
            and block.takes(kind)
            and (not block.is_call or block.input.has_begun)
        )
        if faultless and block.is_call:
            block.heard.append(data)
        if faultless and self._may_learn and kind in PLAIN:
            self._may_learn = False  # once for each block: where it does not fit it never does
            self.prefix = learned(data, head.index, kind) or NOTHING
            self.heard = block.heard if block.is_call else None
        return faultless

    def start(self, event: Event | None, document: dict[str, Any]) -> list[Event]:
        """``content_block_start``"""
        content = document.get("content_block")
        if not isinstance(content, dict):
            self._repairs["block_start_empty"] += 1  # its first delta says what it is
            return []
        before = self._repairs.total()
        repair_block(content, self._repairs)
        make_unique(content, self._ids, self._repairs)
        number = document.get("index")
        block = RepairedBlock(str(content.get("type")), number if type(number) is int else None)
        block.told = not (block.is_call or content.get(block.type) == "")
        self._kinds.add(block.type)
        if block.number is not None:
            if (namesake := self._named.get(number)) is not None:
                namesake.stopped = True
            self._named[number] = block
        self._latest = block
        block.hold(event if self._repairs.total() == before else None, document)
        self._waiting.append(block)
        return self._advance()

    def delta(self, event: Event, document: dict[str, Any]) -> list[Event]:
        """``content_block_delta``; raises ``BadUpstreamAnswer`` for arguments of no call."""
        delta = document.get("delta")
        if not isinstance(delta, dict):
            self._repairs["delta_missing"] += 1
            return []
        if repair_delta(delta):
            self._repairs["delta_not_text"] += 1
            event = Event(json.encode(document), event.name)
        says = any(value for name, value in delta.items() if name != "type")
        kind = str(delta.get("type"))
        number = document.get("index") if type(document.get("index")) is int else None
        block = self._block_of(number, kind)
        if block is not None:
            return self._fill(block, event, document, says=says)
        if not says:
            self._repairs["late_block_event_dropped"] += 1
            return []
        named = self._latest if number is None else self._named.get(number)
        if kind == ARGUMENTS:
            if named is None or not named.is_call or not named.is_whole():
                raise BadUpstreamAnswer("the upstream sent arguments of a call that is not open")
            self._repairs["late_arguments_dropped"] += 1
            return []
        if kind not in TAKEN_BY:
            self._repairs["delta_without_block_dropped"] += 1
            return []
        return self._begun_by(kind, number, named, event, document)

    def stop(self, event: Event, document: dict[str, Any]) -> list[Event]:
        """``content_block_stop``"""
        number = document.get("index") if type(document.get("index")) is int else None
        block = self._named.get(number, self._latest)
        late = block is None or block.stopped or block.closed
        if block is not None:
            block.stopped = True
        if block is None or late:
            self._repairs["late_block_event_dropped"] += 1
            return []
        if block is self._open:
            told = [*block.owed(self._repairs), (event, document)]
            out = [sent for one, d in told for sent in block.sent(d, one, self._repairs)]
            self._over()
            return [*out, *self._advance()]
        for one, d in (*block.owed(self._repairs), (event, document)):
            block.hold(one, d)
        block.closed = True
        return self._advance()

    def close(self) -> list[Event]:
        """All blocks are over."""
        for block in (self._open, *self._waiting):
            if block is not None:
                block.stopped = True
        return self._advance()

    # --------------------------------------------------------------------------- inside
    def _block_of(self, number: int | None, kind: str) -> RepairedBlock | None:
        """The block that a delta belongs to, among those that are not over."""
        named = self._named.get(number)
        if named is not None and not named.stopped and named.takes(kind):
            return None if named.closed else named
        latest = self._latest
        if latest is None or latest.stopped or latest.closed or not latest.takes(kind):
            return None
        # what comes after the whole arguments of a call, under another number, is another call's
        is_another = latest.is_call and None not in (number, latest.number) and latest.is_whole()
        return None if is_another else latest

    def _begun_by(
        self,
        kind: str,
        number: int | None,
        named: RepairedBlock | None,
        event: Event,
        document: Any,
    ) -> list[Event]:
        """A block that a delta begins: nobody told of it, or it had to make way for another."""
        is_known = named is not None and named.takes(kind)
        self._repairs["block_split" if is_known else "block_start_added"] += 1
        out = self.start(None, start_for(kind, number))
        block = self._latest
        return [*out, *self._fill(block, event, document, says=True)] if block is not None else out

    def _fill(
        self, block: RepairedBlock, event: Event, document: dict[str, Any], *, says: bool
    ) -> list[Event]:
        block.told |= says
        if block.is_call:
            block.heard.append(event.data or b"")
        admitted = block.admitted((event, document), self._repairs)
        if admitted is None:
            return self._advance() if self._waiting else []
        if block is not self._open:
            block.hold(*admitted)
            return self._advance()
        out = block.sent(admitted[1], admitted[0], self._repairs)
        return [*out, *self._advance()] if self._waiting else out

    def _advance(self) -> list[Event]:
        """Closes what may be closed and opens what waits, as far as it goes."""
        out: list[Event] = []
        while self._open is None or self._may_close(self._open):
            if self._open is not None:
                self._repairs["block_stop_added"] += 1
                for event, document in self._open.owed(self._repairs):
                    out += self._open.sent(document, event, self._repairs)
                stop = {"type": "content_block_stop", "index": self._open.index}
                out.append(Event(json.encode(stop), "content_block_stop"))
                self._over()
            if not self._waiting:
                break
            out += self._begin(self._waiting.popleft())
        if self._waiting:
            self.prefix = NOTHING  # each delta may be the one that lets the next block out
        return out

    def _may_close(self, block: RepairedBlock) -> bool:
        if block.stopped or not self._waiting:
            return block.stopped
        if block.is_call:
            return block.is_whole()
        if not block.makes_way:
            return False
        return block.comes_whole or any(other.told or other.stopped for other in self._waiting)

    def _begin(self, block: RepairedBlock) -> list[Event]:
        block.index, self._next = self._next, self._next + 1
        self._open, self._may_learn = block, True
        if block.held[0].get("index") != block.index:
            self._repairs["block_index_corrected"] += 1
        out: list[Event] = []
        for place, document in enumerate(block.held):
            out += block.sent(document, block.raw.get(place), self._repairs)
        block.held, block.raw = [], {}
        if block.closed:
            self._over()
        return out

    def _over(self) -> None:
        if self._open is not None:
            self._open.closed = True
        self._open, self.prefix, self.heard = None, NOTHING, None
