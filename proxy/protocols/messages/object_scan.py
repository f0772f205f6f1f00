"""Tells when a JSON object that comes in pieces is whole, in time linear in its length."""

from __future__ import annotations

import re

_TOKEN = re.compile(r'\\.?|["{}]', re.DOTALL)


class ObjectScan:
    """Counts braces outside of strings; the pieces may be cut anywhere.

    ``rest`` is how many characters came behind a whole object, by the call that found it whole.
    """

    def __init__(self) -> None:
        self.rest = 0
        self._unread: list[str] = []
        self._depth = 0
        self._in_string = False
        self._escaped = False
        self._whole: bool | None = None
        """None while it is not known, False for what does not begin like an object."""

    def feed(self, text: str) -> None:
        self._unread.append(text)

    def complete(self) -> bool:
        """The text so far holds a whole object from its beginning."""
        text = "".join(self._unread)
        self._unread.clear()
        if self._whole is None and self._depth == 0 and (begin := text.lstrip()):
            self._whole = None if begin[0] == "{" else False
        if self._whole is None and text:
            self._scan(text)
        return self._whole or False

    def _scan(self, text: str) -> None:
        start = 1 if self._escaped else 0
        self._escaped = False
        for token in _TOKEN.finditer(text, start):
            if token[0][0] == "\\":
                self._escaped = len(token[0]) == 1
            elif token[0] == '"':
                self._in_string = not self._in_string
            elif not self._in_string:
                self._depth += 1 if token[0] == "{" else -1
                if self._depth == 0:
                    self._whole = True
                    self.rest = len(text) - token.end()
                    return
