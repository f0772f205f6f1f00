"""Errors of Messages, as a body and in a stream.

https://docs.anthropic.com/en/api/errors
"""

from __future__ import annotations

import re
from typing import Any

from msgspec.structs import replace

from toolwire.proxy.protocols import failure as failures
from toolwire.proxy.protocols import json
from toolwire.proxy.protocols.failure import KINDS
from toolwire.proxy.protocols.neutral import Failure

_ERROR_TYPES = {kind.anthropic for kind in KINDS.values()} | {"conflict_error"}

_TOO_LONG = re.compile(r"(?i)(prompt|input) is too long|exceed context limit")

_SPECIFIC_KINDS = {
    "authentication",
    "billing",
    "permission",
    "not_found",
    "too_large",
    "rate_limit",
}


def write_failure(failure: Failure) -> dict[str, Any]:
    """https://docs.anthropic.com/en/api/errors#error-shapes

    The official clients look for a code in the details.
    """
    error: dict[str, Any] = {"type": _error_type(failure), "message": failure.message}
    if failure.code is not None:
        error |= {"code": failure.code, "details": {"error_code": failure.code}}
    return {"type": "error", "error": error, "request_id": failure.request_id}


def _error_type(failure: Failure) -> str:
    """What the status says, where it says something of its own: OpenAI calls each fault of the
    client an ``invalid_request_error``."""
    if failure.kind in _SPECIFIC_KINDS or failure.type not in _ERROR_TYPES:
        return KINDS[failure.kind].anthropic
    return failure.type


def stream_failure(document: dict[str, Any]) -> Failure:
    """The error that a stream carries; its status is the usual one of its kind."""
    failure = failures.read_document(200, document)
    if failure is None:
        failure = Failure(502, f"the upstream's stream failed: {json.encode_text(document)}")
    return with_code(replace(failure, status=KINDS[failure.kind].status))


def with_code(failure: Failure) -> Failure:
    """With OpenAI's code where the context is too long, for which Messages has words alone.

    Clients of OpenAI's protocols make their history shorter when they see it.
    https://platform.claude.com/docs/en/build-with-claude/context-windows
    """
    if failure.code is None and failure.kind == "invalid_request":
        if _TOO_LONG.search(failure.message):
            return replace(failure, code="context_length_exceeded")
    return failure
