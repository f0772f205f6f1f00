"""Colours of a terminal, or none."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

CUT_CHARACTERS = 300
"""A longer line of a diff is cut: base64 and whole documents stand in one line."""

_AROUND_CHARACTERS = 80
"""How much of a cut line is left before the place where it differs from its partner."""


class Paint:
    """Marks what is marked in colour where ``on``."""

    def __init__(self, on: bool) -> None:
        self._on = on

    def heading(self, text: str) -> str:
        return self._as("1", text)

    def added(self, text: str) -> str:
        return self._as("32", text)

    def removed(self, text: str) -> str:
        return self._as("31", text)

    def place(self, text: str) -> str:
        return self._as("36", text)

    def aside(self, text: str) -> str:
        return self._as("2", text)

    def diff(self, lines: Sequence[str]) -> Iterator[str]:
        """The lines of a unified diff, cut where they are long."""
        for line in shortened(lines):
            match line[:1]:
                case "+":
                    yield self.added(line)
                case "-":
                    yield self.removed(line)
                case "@":
                    yield self.place(line)
                case _:
                    yield line

    def _as(self, code: str, text: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self._on and text else text


def wants_colour(choice: str, environ: Mapping[str, str], *, terminal: bool) -> bool:
    """``choice`` is always, never or auto: on a terminal that knows colours, unless ``NO_COLOR``
    is set (https://no-color.org)."""
    if choice != "auto":
        return choice == "always"
    return terminal and not environ.get("NO_COLOR") and environ.get("TERM") != "dumb"


def shortened(lines: Sequence[str]) -> list[str]:
    """Long lines cut so that what differs between a removed line and its added one is seen."""
    starts = dict(_partners(lines))
    return [_cut(line, starts.get(place, 0)) for place, line in enumerate(lines)]


def _partners(lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    """(line, where it begins to differ) of as many removed lines as are followed by added ones."""
    place = 0
    while place < len(lines):
        removed = _run(lines, place, "-")
        added = _run(lines, place + removed, "+")
        for offset in range(min(removed, added)):
            one, other = place + offset, place + removed + offset
            differs = _common_prefix(lines[one][1:], lines[other][1:]) + 1
            yield one, differs
            yield other, differs
        place += max(1, removed + added)


def _run(lines: Sequence[str], start: int, mark: str) -> int:
    end = start
    while end < len(lines) and lines[end].startswith(mark):
        end += 1
    return end - start


def _common_prefix(one: str, other: str) -> int:
    for place, (left, right) in enumerate(zip(one, other, strict=False)):
        if left != right:
            return place
    return min(len(one), len(other))


def _cut(line: str, differs: int) -> str:
    if len(line) <= CUT_CHARACTERS:
        return line
    start = max(0, differs - _AROUND_CHARACTERS)
    head = line[:1] + (f" …{start - 1} characters… " if start > 1 else "")
    shown = line[start or 1 : (start or 1) + CUT_CHARACTERS]
    left = len(line) - (start or 1) - len(shown)
    return head + shown + (f" …{left} more characters" if left > 0 else "")
