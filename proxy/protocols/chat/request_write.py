"""A neutral request, written for a chat upstream.

https://platform.openai.com/docs/api-reference/chat/create
"""

from __future__ import annotations

from typing import Any

from toolwire.proxy.protocols.chat.history_write import write_messages
from toolwire.proxy.protocols.chat.thinking import write_thinking
from toolwire.proxy.protocols.chat.tools_write import write_tools
from toolwire.proxy.protocols.codec import Quirks
from toolwire.proxy.protocols.logprobs import are_included
from toolwire.proxy.protocols.neutral import STOP_PATHS, Losses, Request
from toolwire.proxy.protocols.openai import end_user, output_format, temperature_for

_PASSED_ON = frozenset(
    (
        "frequency_penalty",
        "logit_bias",
        "moderation",
        "presence_penalty",
        "prompt_cache_key",
        "prompt_cache_options",
        "prompt_cache_retention",
        "safety_identifier",
        "seed",
        "service_tier",
        "verbosity",
    )
)
"""The fields of other protocols that mean the same here, and those that are only known here."""

_OWN_NAMES = {"text.verbosity": "verbosity"}
"""What Responses has elsewhere."""

_OTHER_MEANING = {"messages": frozenset(("service_tier",))}
"""Names that a protocol has for something else."""


def write_request(request: Request, quirks: Quirks, losses: Losses) -> dict[str, Any]:
    """The document for the upstream; what it cannot carry is in ``losses``."""
    document: dict[str, Any] = {"model": request.model} if request.model else {}
    document["messages"] = write_messages(request, quirks, losses)
    document |= write_tools(request, quirks, losses)
    if request.max_tokens is not None:
        document[quirks.max_tokens_field] = request.max_tokens
    document |= _sampling(request, quirks, losses)
    document |= _response_format(request, quirks, losses)
    document |= write_thinking(request, quirks, losses)
    if (user := end_user(request, losses)) is not None:
        document["user"] = user
    if request.stream:
        document["stream"] = True
        if quirks.stream_usage:
            # asked for whether the client wants it or not: logs and metrics do
            document["stream_options"] = {"include_usage": True}
    return document | _extra(request, losses)


def _sampling(request: Request, quirks: Quirks, losses: Losses) -> dict[str, Any]:
    document: dict[str, Any] = {}
    if request.temperature is not None:
        document["temperature"] = temperature_for(request, quirks, losses)
    if request.top_p is not None:
        document["top_p"] = request.top_p
    if request.stop:
        document["stop"] = request.stop
        if quirks.stop_max and len(request.stop) > quirks.stop_max:
            document["stop"] = request.stop[: quirks.stop_max]
            path = STOP_PATHS[request.protocol]
            for place in range(quirks.stop_max, len(request.stop)):
                losses.drop(f"{path}[{place}]", f"the upstream takes {quirks.stop_max} of them")
    return document


def _response_format(request: Request, quirks: Quirks, losses: Losses) -> dict[str, Any]:
    form = output_format(request.structured, quirks, losses)
    if form is None:
        return {}
    if form["type"] == "json_schema":
        inner = {name: value for name, value in form.items() if name != "type"}
        form = {"type": "json_schema", "json_schema": inner}
    return {"response_format": form}


def _extra(request: Request, losses: Losses) -> dict[str, Any]:
    """The fields that keep their name; each other one is reported."""
    foreign = _OTHER_MEANING.get(request.protocol, frozenset())
    document: dict[str, Any] = {}
    weighed = are_included(request)
    for path, value in request.extra.items():
        name = _OWN_NAMES.get(path, path)
        if request.protocol == "chat" or (name in _PASSED_ON and name not in foreign):
            document[name] = value
        elif weighed and path == "top_logprobs":
            document[path] = value
        elif weighed and path == "include":
            document["logprobs"] = True
            if len(value) > 1:
                losses.drop(path, "Chat Completions has log probabilities, and no other of these")
        else:
            losses.drop(path, "Chat Completions has no such field")
    return document
