"""One layer's change as lines of text."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest

from toolwire.proxy.explain.paint import Paint
from toolwire.proxy.explain.pretty import printable
from toolwire.proxy.explain.rows import Row, Table
from toolwire.proxy.explain.steps import HeaderChange, Step

_WIDEST_COLUMN = 60


def step_lines(step: Step, paint: Paint, *, heading: str) -> Iterator[str]:
    """Heading, what is said in words, headers, and the diff or the table."""
    yield paint.heading(f"== {heading}")
    if step.told:
        yield printable(step.told)
    if step.path:
        yield f"path: {' -> '.join(step.path)}"
    if step.status:
        yield "status: {} -> {}".format(*step.status)
    for change in step.headers:
        yield from _header_lines(change, paint)
    if step.body is not None:
        if step.body.told:
            yield step.body.told
        yield from paint.diff([printable(line) for line in step.body.diff])
    if step.table is not None:
        yield from _table_lines(step.table, paint)
    if step.changes:
        counted = ", ".join(f"{name} {count}" for name, count in step.changes.items())
        yield paint.aside(f"counted: {counted}")
    for loss in step.losses:
        yield paint.aside(printable(f"{loss.kind}: {loss.path}: {loss.why}"))


def _header_lines(change: HeaderChange, paint: Paint) -> Iterator[str]:
    if change.before is not None:
        yield paint.removed(printable(f"- {change.name}: {change.before}"))
    if change.after is not None:
        yield paint.added(printable(f"+ {change.name}: {change.after}"))


def _table_lines(table: Table, paint: Paint) -> Iterator[str]:
    yield f"{table.taken} events in, {table.given} out"
    cells = [[_cell(row, text) for text in row.taken or ["-"]] for row in table.rows]
    width = max(len(cell) for column in cells for cell in column)
    numbers = max(len(_number(row, table)) for row in table.rows)
    for row, taken in zip(table.rows, cells, strict=True):
        given = ["="] if row.same else row.given or ["-"]
        number = _number(row, table)
        for left, right in zip_longest(taken, given, fillvalue=""):
            line = printable(f"{number:>{numbers}}  {left:<{width}}  {right}".rstrip())
            yield line if row.same else paint.place(line)
            number = ""
        lines = [*(f"-{text}" for text in row.before), *(f"+{text}" for text in row.after)]
        yield from paint.diff([printable(line).replace("\n", "\\n") for line in lines])


def _number(row: Row, table: Table) -> str:
    last = "end" if row.last == table.last else str(row.last)
    return last if row.first == row.last else f"{row.first}-{last}"


def _cell(row: Row, text: str) -> str:
    times = f" x{row.count}" if row.count > 1 else ""
    room = _WIDEST_COLUMN - len(times)
    return (text if len(text) <= room else text[: room - 1] + "…") + times
