"""What the user's text offers to the arguments of a call: places, numbers, names of tools."""

from __future__ import annotations

import re
from collections.abc import Sequence

from toolwire.proxy.demo.neutral import Tool

_SENTENCE_END = re.compile(r"[.!?:\n]\s*")
_WORD = re.compile(r"[^\W\d_][\w'-]*|[^\w\s]")
_NUMBER = re.compile(r"(?<![\w.])-?\d{1,15}(?:\.\d{1,15})?(?![\w.]*\w)")
_SEVERAL = re.compile(r"\b(both|all|each|every|several|parallel)\b", re.IGNORECASE)
_NAME_PART = re.compile(r"[A-Z]?[a-z0-9]{4,}")
_PLACE_WORDS = ("city", "location", "place", "town", "destination", "address", "region")


def places(text: str) -> list[str]:
    """Capitalised words inside a sentence: "the weather in New York and Oslo" → New York, Oslo."""
    found: list[str] = []
    for sentence in _SENTENCE_END.split(text):
        run: list[str] = []
        words = _WORD.findall(sentence)
        first = next((i for i, word in enumerate(words) if word[0].isalpha()), 0)
        for word in [*words[first + 1 :], ""]:  # the first word is capitalised for its position
            if word[:1].isupper() and not word.isupper() and not word.startswith("I'"):
                run.append(word)
            elif run:
                found.append(" ".join(run))
                run = []
    return list(dict.fromkeys(found))


def numbers(text: str) -> list[int | float]:
    """The numbers that stand alone in the text, in their order."""
    return [float(n) if "." in n else int(n) for n in _NUMBER.findall(text)]


def asks_for_several(text: str) -> bool:
    """Whether the text says both, all or the like."""
    return _SEVERAL.search(text) is not None


def named_in(text: str, tools: Sequence[Tool]) -> list[Tool]:
    """The tools whose whole name stands in the text, in the order of the text."""
    low = text.lower()
    at = {tool.name: _position(low, tool.name.lower()) for tool in tools}
    return sorted((tool for tool in tools if at[tool.name] >= 0), key=lambda tool: at[tool.name])


def nearest(text: str, tools: Sequence[Tool]) -> Tool:
    """The tool that shares most words with the text: the first one of `tools` when none does."""
    low = text.lower()
    return max(tools, key=lambda tool: sum(p.lower() in low for p in _NAME_PART.findall(tool.name)))


def is_place(name: str) -> bool:
    """Whether a property of this name wants a place."""
    return any(word in name.lower() for word in _PLACE_WORDS)


def takes_place(tool: Tool) -> bool:
    """Whether one of the tool's own arguments is a place."""
    properties = tool.schema.get("properties") if isinstance(tool.schema, dict) else None
    return isinstance(properties, dict) and any(map(is_place, properties))


def _position(text: str, name: str) -> int:
    """Where the name stands in the text as whole words; -1 where it does not."""
    spellings = {name, re.sub(r"[_-]+", " ", name)}
    whole = (re.search(rf"(?<!\w){re.escape(spelling)}(?!\w)", text) for spelling in spellings)
    return min((match.start() for match in whole if match), default=-1)
