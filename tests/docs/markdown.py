"""The project's texts, as tests read them: blocks of code, tables and links."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
DOCS = sorted((ROOT / "docs").glob("*.md"))

_FENCE = re.compile(r"^```(?P<language>\w*)\n(?P<text>.*?)^```$", re.DOTALL | re.MULTILINE)


class Block(Struct, frozen=True):
    """A fenced block: ``section`` is the heading that it stands under, ``output`` the text of the
    ``json`` or ``text`` block that follows it, "" where another one does."""

    file: str
    line: int
    section: str
    language: str
    text: str
    output: str = ""
    output_language: str = ""

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


def text_of(name: str) -> str:
    """A text by its path from the root."""
    return (ROOT / name).read_text("utf-8")


def blocks(*languages: str, files: tuple[Path, ...] = (README,)) -> list[Block]:
    """The fenced blocks in these languages, in their order."""
    found = [block for file in files for block in _blocks(file)]
    return [block for block in found if block.language in languages]


def _blocks(file: Path) -> Iterator[Block]:
    text = file.read_text("utf-8")
    fences = list(_FENCE.finditer(text))
    for place, fence in enumerate(fences, 1):
        told = next(
            (f for f in fences[place : place + 1] if f["language"] in ("json", "text")), None
        )
        yield Block(
            file=file.name,
            line=text.count("\n", 0, fence.start()) + 1,
            section=_heading(text[: fence.start()]),
            language=fence["language"],
            text=fence["text"],
            output=told["text"] if told else "",
            output_language=told["language"] if told else "",
        )


def _heading(before: str) -> str:
    headings = re.findall(r"^#+ (.*)$", _FENCE.sub("", before), re.MULTILINE)
    return headings[-1] if headings else ""


def table(name: str, first: str, heading: str = "") -> list[list[str]]:
    """The rows of the tables in a text, or under a heading, whose first column is ``first``."""
    rows: list[list[str]] = []
    inside = False
    text = section(name, heading) if heading else text_of(name)
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split(" | ")]
        if not line.startswith("|"):
            inside = False
        elif inside:
            rows.append(cells)
        elif cells[0] == first:
            inside = True
    return [row for row in rows if not row[0].startswith("---")]


def section(name: str, heading: str) -> str:
    """What stands under a heading, up to the next one."""
    _, _, rest = text_of(name).partition(f"\n{heading}\n")
    assert rest, f"{name} has no {heading!r}"
    return re.split(r"^#", rest, maxsplit=1, flags=re.MULTILINE)[0]


def words(cell: str) -> list[str]:
    """What stands in back quotes."""
    return re.findall(r"`([^`]+)`", cell)
