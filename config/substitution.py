"""`${NAME}` and `${NAME:-default}` in the strings of the file; `$${` stands for a plain `${`."""

from __future__ import annotations

import re
from collections.abc import Mapping

_MARK = re.compile(r"\$(?P<escape>\$(?=\{))|\$\{(?P<inside>[^}]*)(?P<end>\}?)")
_INSIDE = re.compile(r"(?P<name>[A-Za-z_][A-Za-z0-9_]*)(?::-(?P<default>[^{]*))?", re.DOTALL)


def is_substituted(text: str) -> bool:
    """Whether anything of `text` is to come from the environment."""
    return any(mark["inside"] is not None for mark in _MARK.finditer(text))


def substitute(text: str, environ: Mapping[str, str]) -> str:
    """Put the variables into `text`.

    As in a shell, the default counts for a variable that is unset or empty. Raises `ValueError`
    that says what is expected: a variable that is set, or the right form.
    """

    def replacement(mark: re.Match[str]) -> str:
        if mark["escape"]:
            return "$"
        inside = _INSIDE.fullmatch(mark["inside"])
        if inside is None or not mark["end"]:
            raise ValueError(
                "expected ${NAME} or ${NAME:-default} (and $${ for a plain ${), "
                f"got {mark.group()!r}"
            )
        name, default = inside["name"], inside["default"]
        if name not in environ and default is None:
            raise ValueError(
                f"expected the environment variable {name} to be set (or ${{{name}:-default}})"
            )
        return environ.get(name) or default or ""

    return _MARK.sub(replacement, text)
