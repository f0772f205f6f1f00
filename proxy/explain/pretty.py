"""JSON as people read it, without a change to what it says."""

from __future__ import annotations

import re

from toolwire.proxy.protocols import json

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"]+')
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
"""What moves a terminal's cursor, changes its colours or turns its text around."""

_INDENT = "  "


def pretty(encoded: bytes) -> str:
    """JSON text with a line for each member.  Numbers, escapes and the order of keys stay as they
    are, for the text is laid out, not decoded; what is no JSON stays as it is."""
    try:
        json.decode(encoded)
    except ValueError:
        return encoded.decode("utf-8-sig", "replace")
    return _laid_out(encoded.decode("utf-8-sig", "replace"))


def _laid_out(text: str) -> str:
    written: list[str] = []
    depth, before = 0, ""
    for match in _TOKEN.finditer(text):
        token = match[0]
        if token in "}]":
            depth -= 1
            if before not in ("{", "["):
                written.append("\n" + _INDENT * depth)
        elif before in ("{", "[", ","):
            written.append("\n" + _INDENT * depth)
        written.append(": " if token == ":" else token)
        depth += token in ("{", "[")
        before = token
    return "".join(written)


def printable(text: str) -> str:
    """``text`` with control characters written out, so that what somebody else wrote cannot take
    hold of a terminal."""
    return _CONTROL.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
