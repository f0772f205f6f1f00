"""A whole answer, read and written; token counts; errors.

https://platform.openai.com/docs/api-reference/responses/object
"""

from __future__ import annotations

import time
from decimal import Decimal
from typing import Any

from toolwire.proxy.errors import BadUpstreamAnswer, UpstreamError
from toolwire.proxy.protocols import failure as failures
from toolwire.proxy.protocols.identifiers import random_id
from toolwire.proxy.protocols.logprobs import are_included
from toolwire.proxy.protocols.neutral import (
    Answer,
    Call,
    Failure,
    Losses,
    Part,
    Refusal,
    Request,
    Stop,
    Usage,
)
from toolwire.proxy.protocols.responses.echo import response_object
from toolwire.proxy.protocols.responses.namespaces import own_names
from toolwire.proxy.protocols.responses.output import read_output, write_output

_INCOMPLETE: dict[str, Stop] = {
    "max_output_tokens": Stop.LENGTH,
    "content_filter": Stop.FILTERED,
    "max_messages": Stop.PAUSED,
    "steered": Stop.PAUSED,
}
"""Why a response is incomplete; a reason that is not known counts as the token limit."""

REASONS: dict[Stop, str] = {
    Stop.LENGTH: "max_output_tokens",
    Stop.CONTEXT: "max_output_tokens",
    Stop.FILTERED: "content_filter",
    # A turn that the server paused has no twin. It is unfinished, as one that was cut is.
    Stop.PAUSED: "max_output_tokens",
}
"""The reason of an incomplete response; any other stop is a completed one."""

_FAILED_CODES: dict[str, str] = {
    "rate_limit": "rate_limit_exceeded",
    "invalid_request": "invalid_prompt",
}
"""The code of a failed response for a kind of error; for any other it is ``server_error``."""

_OURS: list[type[UpstreamError]] = [UpstreamError, *UpstreamError.__subclasses__()]
_CODES_OF_OURS = frozenset(error.code for error in _OURS)
"""The gateway's own codes, which are none of a failed response."""

_ANTHROPIC_WORDS = {kind.anthropic for kind in failures.KINDS.values()} - {
    kind.openai for kind in failures.KINDS.values()
}

_LATEST = 2**53
"""Seconds; more is no time."""

_UNFINISHED = ("queued", "in_progress")
_KNOWN = frozenset({"id", "model", "output", "status", "usage", "created_at", "incomplete_details"})


# ----------------------------------------------------------------------------------- reading
def read_answer(document: dict[str, Any]) -> Answer:
    """Raises ``BadUpstreamAnswer`` for a failed response, or what is no response at all."""
    failed = failed_response(document)
    if failed is not None:
        code = failed.code if isinstance(failed.code, str) else None
        raise BadUpstreamAnswer(failed.message, code=code, param=failed.param)
    output = document.get("output")
    if not isinstance(output, list):
        raise BadUpstreamAnswer("the upstream answered something that is no Responses object")
    parts = read_output(output)
    return Answer(
        id=_text(document.get("id")),
        model=_text(document.get("model")),
        parts=parts,
        stop=stop_of(document, parts),
        usage=usage_of(document),
        created=seconds(document.get("created_at")),
        extra={name: value for name, value in document.items() if name not in _KNOWN} or None,
    )


def stop_of(document: dict[str, Any], parts: list[Part]) -> Stop | None:
    """Why the model stopped; None while it has not (``background``)."""
    status = document.get("status")
    if status in _UNFINISHED:
        return None
    if status == "incomplete":
        details = document.get("incomplete_details")
        reason = details.get("reason") if isinstance(details, dict) else None
        return _INCOMPLETE.get(reason, Stop.LENGTH) if isinstance(reason, str) else Stop.LENGTH
    if any(isinstance(part, Call) for part in parts):
        return Stop.CALLS
    refused = any(isinstance(part, Refusal) for part in parts)
    return Stop.FILTERED if refused else Stop.DONE


def failed_response(document: dict[str, Any]) -> Failure | None:
    """The error of a response that failed or was cancelled; None of any other."""
    error = document.get("error")
    status = document.get("status")
    failed = status in ("failed", "cancelled")
    if not failed and (not error or isinstance(document.get("output"), list)):
        return None
    if isinstance(error, dict):
        return read_error(error)
    message = error if isinstance(error, str) else f"the upstream's response was {status}"
    return Failure(status=502, message=message)


def read_error(error: dict[str, Any]) -> Failure:
    """The error object of a failed response or of an ``error`` event: it comes with status 200."""
    word = error.get("code") or error.get("type")
    kind = failures.kind_of(200, word if isinstance(word, str) else None)
    found = failures.read_document(failures.KINDS[kind].status, {"error": error})
    if found is None:
        return Failure(status=502, message="the upstream failed")
    found.kind = kind
    return found


def usage_of(document: dict[str, Any]) -> Usage | None:
    """The token counts of a response; ``input`` includes the cached ones on this wire too."""
    usage = document.get("usage")
    if not isinstance(usage, dict):
        return None
    read = usage.get("input_tokens_details")
    written = usage.get("output_tokens_details")
    read = read if isinstance(read, dict) else {}
    written = written if isinstance(written, dict) else {}
    return Usage(
        input=_count(usage.get("input_tokens")),
        output=_count(usage.get("output_tokens")),
        cached=_count(read.get("cached_tokens")),
        cache_written=_count(read.get("cache_write_tokens")),
        reasoning=_count(written.get("reasoning_tokens")),
    )


def seconds(value: object) -> int | None:
    """A Unix time, which some upstreams write as a fraction."""
    if not isinstance(value, int | float | Decimal):
        return None
    return int(value) if -_LATEST < value < _LATEST else None


def _count(value: Any) -> int | None:
    return value if type(value) is int else None


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


# ----------------------------------------------------------------------------------- writing
def write_answer(answer: Answer, request: Request, losses: Losses) -> dict[str, Any]:
    """``request`` is the client's: much of it is repeated."""
    response_id = response_id_for(answer.id)
    response = response_object(
        request.document,
        response_id=response_id,
        model=answer.model or request.model,
        created=int(time.time()) if answer.created is None else answer.created,
    )
    names = own_names(request.tools)
    stop = corrected_stop(answer.stop or Stop.DONE, answer.parts)
    unfinished = stop in REASONS
    response["output"] = write_output(
        answer.parts, response_id, names, losses, unfinished=unfinished
    )
    if answer.extra is not None and "logprobs" in answer.extra and are_included(request):
        losses.drop("output.logprobs", "Responses has those of visible text alone")
    close_response(response, stop, answer.usage)
    return response


def response_id_for(upstream_id: str) -> str:
    """A native id as it is; else a new one: other upstreams' ids need not be unique."""
    return upstream_id if upstream_id.startswith("resp_") else random_id("resp_")


def corrected_stop(stop: Stop, parts: list[Part]) -> Stop:
    """A refusal is a completed response here, with its refusal part."""
    if stop is Stop.FILTERED and any(isinstance(part, Refusal) for part in parts):
        return Stop.DONE
    return stop


def close_response(response: dict[str, Any], stop: Stop, usage: Usage | None) -> None:
    """Sets the status that ``stop`` means, and the token counts."""
    reason = REASONS.get(stop)
    response["status"] = "completed" if reason is None else "incomplete"
    response["completed_at"] = int(time.time()) if reason is None else None
    response["incomplete_details"] = None if reason is None else {"reason": reason}
    response["usage"] = write_usage(usage)


def write_usage(usage: Usage | None) -> dict[str, Any] | None:
    if usage is None:
        return None
    read, written = usage.input or 0, usage.output or 0
    return {
        "input_tokens": read,
        "input_tokens_details": {
            "cached_tokens": usage.cached or 0,
            "cache_write_tokens": usage.cache_written or 0,
        },
        "output_tokens": written,
        "output_tokens_details": {"reasoning_tokens": usage.reasoning or 0},
        "total_tokens": read + written,
    }


def write_failure(failure: Failure) -> dict[str, Any]:
    """https://platform.openai.com/docs/guides/error-codes"""
    word = failure.type
    if word is None or word in _ANTHROPIC_WORDS:
        word = failures.KINDS.get(failure.kind, failures.KINDS["api"]).openai
    return {
        "error": {
            "message": failure.message,
            "type": word,
            "param": failure.param,
            "code": failure.code,
        }
    }


def write_failed(failure: Failure) -> dict[str, Any]:
    """The ``error`` of a failed response; clients tell errors apart by the ``code``."""
    code = failure.code if isinstance(failure.code, str) else None
    code = None if code in _CODES_OF_OURS else code
    return {
        "code": code or _FAILED_CODES.get(failure.kind, "server_error"),
        "message": failure.message,
    }
