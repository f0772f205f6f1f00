"""Errors: the body, and the event that a stream tells of one with.

https://platform.openai.com/docs/guides/error-codes
"""

from __future__ import annotations

from typing import Any

from toolwire.proxy.errors import BadUpstreamAnswer, UpstreamCut
from toolwire.proxy.protocols import failure as failures
from toolwire.proxy.protocols import json
from toolwire.proxy.protocols.failure import KINDS
from toolwire.proxy.protocols.neutral import Failure

_SHOWN_BYTES = 200

_FOREIGN_TYPES = {kind.anthropic for kind in KINDS.values()} - {
    kind.openai for kind in KINDS.values()
}


def write_failure(failure: Failure) -> dict[str, Any]:
    """``{"error": {"message", "type", "param", "code"}}``.

    The type is the upstream's own, unless it is a word of Messages that no OpenAI client knows.
    """
    kind = failure.type
    if not kind or kind in _FOREIGN_TYPES:
        kind = KINDS.get(failure.kind, KINDS["api"]).openai
    return {
        "error": {
            "message": failure.message,
            "type": kind,
            "param": failure.param,
            "code": failure.code,
        }
    }


def error_document(document: Any, event_name: str | None = None) -> Any:
    """The error that an event of a stream, or a body of status 200, tells of; None without one.

    The very ``document`` where it has the right form already.  Other forms: the error as a string,
    in a list of one (Gemini), or without a wrapper, in an event named ``error`` or an object of
    that name (vLLM).
    """
    if isinstance(document, list) and len(document) == 1 and isinstance(document[0], dict):
        return document[0] if document[0].get("error") else None
    if not isinstance(document, dict):
        return None
    if error := document.get("error"):
        return document if isinstance(error, dict) else write_failure(read_error(document))
    if event_name == "error" or document.get("object") == "error":
        return write_failure(read_error(document))
    return None


def read_error(document: dict[str, Any]) -> Failure:
    """The error in an event or a body of status 200: its status is what its code or type says."""
    found = failures.read_document(0, document)
    if found is None:
        return Failure(502, f"the upstream sent an error: {json.encode_text(document)}")
    code = found.code
    if type(code) is int and 400 <= code <= 599:
        found.status, found.kind = code, failures.kind_of(code)
    else:
        found.status = KINDS[found.kind].status
    return found


def broken_stream(how: str) -> Failure:
    """A stream that did not end as it should."""
    return failures.from_exception(UpstreamCut(f"the upstream's stream {how}"))


def no_chunk(data: bytes) -> Failure:
    """An event that is none of this protocol's."""
    shown = data[:_SHOWN_BYTES].decode("utf-8", "replace")
    return failures.from_exception(
        BadUpstreamAnswer(f"the upstream sent what is no chunk: {shown}")
    )
