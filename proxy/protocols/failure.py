"""Errors between protocols: one table of kinds, and what can be read from any error body.

Types and statuses: https://platform.openai.com/docs/guides/error-codes and
https://docs.anthropic.com/en/api/errors.
"""

from __future__ import annotations

import re
from typing import Any

from msgspec import Struct

from toolwire.proxy.errors import BadUpstreamAnswer, ToolwireError, UpstreamCut, UpstreamError
from toolwire.proxy.protocols import json
from toolwire.proxy.protocols.neutral import Failure

SHOWN_CHARACTERS = 500
"""How much of a body that is no JSON error is shown in the message."""


class Kind(Struct, frozen=True):
    """A kind of error: its usual status and its name in the two families of protocols."""

    status: int
    openai: str
    anthropic: str


KINDS: dict[str, Kind] = {
    "invalid_request": Kind(400, "invalid_request_error", "invalid_request_error"),
    "authentication": Kind(401, "authentication_error", "authentication_error"),
    "billing": Kind(402, "insufficient_quota", "billing_error"),
    "permission": Kind(403, "permission_error", "permission_error"),
    "not_found": Kind(404, "not_found_error", "not_found_error"),
    "too_large": Kind(413, "invalid_request_error", "request_too_large"),
    "rate_limit": Kind(429, "rate_limit_error", "rate_limit_error"),
    "timeout": Kind(504, "timeout_error", "timeout_error"),
    "overloaded": Kind(529, "overloaded_error", "overloaded_error"),
    "api": Kind(500, "server_error", "api_error"),
}

_BY_STATUS = {kind.status: name for name, kind in KINDS.items()} | {
    405: "invalid_request",
    408: "timeout",
    409: "invalid_request",
    422: "invalid_request",
    502: "api",
    503: "overloaded",
}

_BY_TYPE = {
    word: name for name, kind in KINDS.items() for word in (kind.openai, kind.anthropic)
} | {
    "invalid_request_error": "invalid_request",
    "rate_limit_exceeded": "rate_limit",
    "insufficient_quota": "billing",
    "server_is_overloaded": "overloaded",
}


def kind_of(status: int, word: str | None = None) -> str:
    """The kind that a status stands for; ``word`` (a type or code) decides where there is none.

    An error inside a stream of status 200 has nothing but its word.
    """
    if status >= 400:
        found = _BY_STATUS.get(status)
        return found or ("invalid_request" if status < 500 else "api")
    return _BY_TYPE.get(word or "", "api")


def from_exception(error: ToolwireError, request_id: str | None = None) -> Failure:
    """What the gateway itself has to say."""
    return Failure(
        status=error.status,
        message=error.message,
        kind=kind_of(error.status),
        code=error.code,
        param=error.param,
        request_id=request_id,
    )


def as_exception(failure: Failure) -> UpstreamError:
    """What a stream told, where a whole answer was to come of it."""
    if failure.code == UpstreamCut.code:
        return UpstreamCut(failure.message)
    code = failure.code if isinstance(failure.code, str) else None
    return BadUpstreamAnswer(failure.message, code=code, param=failure.param)


def read_body(status: int, body: bytes) -> Failure:
    """The error in an upstream's body, of whatever shape: see "Error bodies" in the tests.

    HTML, empty and broken bodies become a message that shows their first characters.
    """
    try:
        document = json.decode(body) if body.strip() else None
    except ValueError:
        document = None
    if isinstance(document, list) and len(document) == 1:  # Gemini wraps its error in a list
        document = document[0]
    if isinstance(document, dict) and (failure := read_document(status, document)) is not None:
        return failure
    shown = _readable(body)
    message = f"the upstream answered {status} " + (f"with: {shown}" if shown else "without a body")
    return Failure(status=status, message=message, kind=kind_of(status))


def read_document(status: int, document: dict[str, Any]) -> Failure | None:
    """The error object in ``document``; None where there is none."""
    error = document.get("error") or _other_error(document)
    source: dict[str, Any] = error if isinstance(error, dict) else document
    message = next((text for key in _MESSAGES if (text := _text(source.get(key)))), None)
    if message is None and not isinstance(error, dict):
        return None
    word = source.get("type") if source is error or source.get("type") != "error" else None
    code = next((source[key] for key in _CODES if source.get(key) is not None), None)
    if code is None and isinstance(details := source.get("details"), dict):
        code = details.get("error_code")
    return Failure(
        status=status,
        message=message or json.encode_text(error),
        kind=kind_of(status, str(word or code or "")),
        type=word if isinstance(word, str) else None,
        code=code,
        param=source.get("param") if isinstance(source.get("param"), str) else None,
        request_id=_text(document.get("request_id")),
    )


def _other_error(document: dict[str, Any]) -> Any:
    """The first of several errors, or MiniMax's, which comes beside an empty answer:
    https://platform.minimax.io/docs/api-reference/errorcode"""
    errors, base = document.get("errors"), document.get("base_resp")
    if isinstance(errors, list) and errors:
        return errors[0]
    return base if isinstance(base, dict) and base.get("status_code") else None


_MESSAGES = ("message", "detail", "error", "msg", "error_msg", "status_msg")
_CODES = ("code", "error_code", "status_code")
"""The names under which servers say what went wrong; the last ones are Baidu's and MiniMax's."""


def _text(value: Any) -> str | None:
    if isinstance(value, str):
        return value or None
    return json.encode_text(value) if isinstance(value, list | dict) and value else None


def _readable(body: bytes) -> str:
    text = body[: SHOWN_CHARACTERS * 8].decode("utf-8", "replace")
    if text.lstrip()[:1] == "<":
        text = re.sub(r"(?is)<(script|style)\b.*?</\1>|<[^>]*>", " ", text)
    return " ".join(text.split())[:SHOWN_CHARACTERS]
