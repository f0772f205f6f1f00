"""What is wrong with a configuration: all of it at once."""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import get_close_matches
from typing import NamedTuple


class Problem(NamedTuple):
    """One mistake, where it is and what was expected there."""

    file: str
    """The file's name, or `command line`, or `environment`."""

    key_path: str
    """Such as `upstreams[1].base_url`; empty when the whole file is meant."""

    message: str
    """Such as `expected true or false, got "yes"`."""

    def __str__(self) -> str:
        return ": ".join(part for part in self if part)


class ConfigError(ValueError):
    """The configuration cannot be used; `str()` gives one line per problem."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = list(problems)
        super().__init__("\n".join(map(str, self.problems)))

    def __reduce__(self) -> tuple[type[ConfigError], tuple[list[Problem]]]:
        return (ConfigError, (self.problems,))


def key_path(table: str, key: str) -> str:
    """The path of `key` in the table at the path `table`, quoted where TOML wants quotes."""
    if not re.fullmatch(r"[A-Za-z0-9_-]+", key):
        key = f'"{key}"'
    return f"{table}.{key}" if table else key


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """`; did you mean "port"?`, or nothing when no known word is near."""
    near = get_close_matches(word, list(known), n=1)
    return f'; did you mean "{near[0]}"?' if near else ""


def listed(words: Iterable[str]) -> str:
    """`"a", "b" or "c"`."""
    quoted = [f'"{word}"' for word in words]
    return " or ".join(part for part in (", ".join(quoted[:-1]), *quoted[-1:]) if part)
