"""Kinds of strings: annotated types whose form is checked when the file is read.

Each check returns what was expected of a text that is wrong, and None for one that is right.
"""

from __future__ import annotations

import ipaddress
import re
from typing import Annotated
from urllib.parse import SplitResult, urlsplit

from msgspec import Meta

from toolwire.config.secret import Secret

# https://www.rfc-editor.org/rfc/rfc9110#section-5.6.2 (token) and #section-5.5 (field values)
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_FIELD_VALUE = re.compile(r"(?:[!-~\x80-\xff](?:[ \t!-~\x80-\xff]*[!-~\x80-\xff])?)?")
_KEY = re.compile(r"[!-~]*")

_A_URL = "a URL such as https://api.example.com/v1"

_FRAMING = frozenset(
    "connection content-length host keep-alive te trailer transfer-encoding upgrade".split()
)
"""Headers that belong to one connection; the HTTP client writes them.
https://www.rfc-editor.org/rfc/rfc9110#section-7.6.1"""


def _regex(text: str) -> str | None:
    try:
        re.compile(text)
    except re.error as error:
        return f"a regular expression ({error})"
    return None


def _glob(text: str) -> str | None:
    if not text or text != text.strip():
        return "a glob such as qwen*"
    if "[" in text and not re.search(r"\[!?.[^\]]*\]", text):
        return "a glob whose [ is closed by ]"
    return None


def _url(text: str) -> str | None:
    try:
        parts = urlsplit(text)
        valid = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError as error:
        return f"{_A_URL} ({error})"
    if not valid or not re.fullmatch(r"[!-~]+", text):
        return _A_URL
    return _url_extra(parts)


def _url_extra(parts: SplitResult) -> str | None:
    if "@" in parts.netloc:
        return "a URL without user and password (they belong in api_key or headers)"
    if parts.query or parts.fragment:
        return "a URL without ? and #"
    return None


def _host(text: str) -> str | None:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        if re.fullmatch(r"[A-Za-z0-9_]([A-Za-z0-9_.-]*[A-Za-z0-9_])?", text) is None:
            return "an IP address or a host name"
    return None


def _prefix(text: str) -> str | None:
    right = not text or re.fullmatch(r"(/[A-Za-z0-9._~%-]+)+", text)
    return None if right else 'a path such as "/v1" without a slash at its end, or ""'


def _key(text: str) -> str | None:
    return None if _KEY.fullmatch(text) else "a key of visible ASCII characters without spaces"


def client_key(text: str) -> str | None:
    """What is expected of a key that must be there; None when `text` is one."""
    return _key(text) if text else "a key that is not empty"


def _header_name(text: str) -> str | None:
    if _TOKEN.fullmatch(text) is None:
        return "the name of a header"
    if text.lower() in _FRAMING:
        return "a header that is not about the connection"
    return None


def _header_value(text: str) -> str | None:
    return None if _FIELD_VALUE.fullmatch(text) else "the value of a header, in one line of Latin-1"


def _database(text: str) -> str | None:
    right = not text or re.match(r"(sqlite|postgresql)(\+\w+)?://", text)
    return None if right else "a URL such as sqlite:///responses.db or postgresql://user@host/name"


Regex = Annotated[str, Meta(extra={"check": _regex})]
"""A Python regular expression."""

Glob = Annotated[str, Meta(extra={"check": _glob})]
"""A pattern for names of models, with `*`, `?` and `[seq]`."""

Name = Annotated[
    str,
    Meta(
        pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$",
        description="a name of letters, digits, dots, dashes and underscores",
    ),
]
Url = Annotated[str, Meta(description=_A_URL, extra={"check": _url})]
"""An http or https URL."""

Host = Annotated[str, Meta(extra={"check": _host})]
Prefix = Annotated[str, Meta(extra={"check": _prefix})]
"""A path that is put before other paths: empty, or `/x` without a slash at its end."""

Key = Annotated[Secret, Meta(extra={"check": _key})]
ClientKey = Annotated[Secret, Meta(extra={"check": client_key})]
HeaderName = Annotated[str, Meta(extra={"check": _header_name})]
HeaderValue = Annotated[str, Meta(extra={"check": _header_value})]
SecretHeaderValue = Annotated[Secret, Meta(extra={"check": _header_value})]
DatabaseUrl = Annotated[Secret, Meta(extra={"check": _database})]

File = Annotated[str, Meta(extra={"file": True})]
"""A file that can be read, relative to the configuration file's folder; empty: none."""


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach what listens on `host`."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
