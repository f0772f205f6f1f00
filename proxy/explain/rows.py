"""A stream through one layer, as a table: which events went in, and which came out for them."""

from __future__ import annotations

from typing import NamedTuple

from msgspec import Struct, field

from toolwire.proxy.explain.labels import Label, label
from toolwire.proxy.explain.probe import Passage, SeenAnswer
from toolwire.proxy.protocols import sse
from toolwire.proxy.protocols.neutral import Protocol


class Row(Struct):
    """Events that went in together, and those that came out for them.

    ``first`` and ``last`` are the numbers of the upstream's writes.  Neighbours of one kind are one
    row, which shows the first of them.  ``same``: they came out as they went in, byte for byte.
    ``before`` and ``after`` are the events themselves, where they were changed inside their
    protocol.
    """

    first: int
    last: int
    taken: list[str]
    given: list[str]
    same: bool
    kinds: tuple[tuple[str, ...], tuple[str, ...]]
    before: list[str] = field(default_factory=list)
    after: list[str] = field(default_factory=list)

    @property
    def count(self) -> int:
        """How many neighbours of one kind these are."""
        return self.last - self.first + 1


class Table(Struct):
    """``taken`` and ``given`` count the events that went in and came out; ``last`` is the number
    that stands for the end of the upstream's stream."""

    rows: list[Row]
    taken: int
    given: int
    last: int


Steps = dict[int, list[sse.Event]]


def table(inside: Passage, outside: Passage, last: int) -> Table | None:
    """What the layer between two places did to a stream; None where all passed as it came."""
    taken, given = by_step(inside.answer, last), by_step(outside.answer, last)
    rows: list[Row] = []
    changed = False
    for step in range(1, last + 1):
        before = _Side(inside.protocol, taken.get(step, []))
        after = _Side(outside.protocol, given.get(step, []))
        if not before.events and not after.events:
            continue
        row = _row(step, before, after)
        changed |= not row.same
        if rows and _continues(rows[-1], row):
            rows[-1].last = step
        else:
            rows.append(row)
    if not changed:
        return None
    return Table(rows, _count(taken), _count(given), last)


def by_step(answer: SeenAnswer | None, last: int) -> Steps:
    """The events that were whole after each of the upstream's writes.

    One that the end of the body cut off before its blank line belongs to the last step.
    """
    decoder = sse.Decoder()
    steps: Steps = {}
    for step, data in answer.writes if answer else ():
        steps.setdefault(step, []).extend(decoder.feed(data))
    if rest := decoder.flush():
        steps.setdefault(last, []).extend(rest)
    return steps


class _Side(NamedTuple):
    protocol: Protocol | None
    events: list[sse.Event]

    @property
    def labels(self) -> list[Label]:
        return [label(self.protocol, event) for event in self.events]

    @property
    def texts(self) -> list[str]:
        return [event.encode().decode("utf-8", "replace").strip() for event in self.events]


def _row(step: int, before: _Side, after: _Side) -> Row:
    took, gave = before.labels, after.labels
    row = Row(
        first=step,
        last=step,
        taken=[one.text for one in took],
        given=[one.text for one in gave],
        same=sse.encode(before.events) == sse.encode(after.events),
        kinds=(tuple(one.kind for one in took), tuple(one.kind for one in gave)),
    )
    if before.protocol == after.protocol and not row.same:
        row.before, row.after = before.texts, after.texts
    return row


def _continues(row: Row, another: Row) -> bool:
    return row.same == another.same and row.kinds == another.kinds


def _count(steps: Steps) -> int:
    return sum(map(len, steps.values()))
