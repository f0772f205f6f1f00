"""A request, written for a Responses upstream.

https://platform.openai.com/docs/api-reference/responses/create
"""

from __future__ import annotations

from typing import Any

from toolwire.proxy.errors import InvalidRequest
from toolwire.proxy.protocols.codec import Quirks
from toolwire.proxy.protocols.effort import effort_of_budget, nearest_effort
from toolwire.proxy.protocols.logprobs import INCLUDED
from toolwire.proxy.protocols.neutral import (
    PARALLEL_PATHS,
    STOP_PATHS,
    Losses,
    Request,
    Thinking,
    ThinkingRequest,
)
from toolwire.proxy.protocols.openai import end_user, output_format, temperature_for
from toolwire.proxy.protocols.responses.items_write import Items
from toolwire.proxy.protocols.responses.tools import write_choice, write_tools

_SAME_IN_CHAT = frozenset(
    {
        "metadata",
        "moderation",
        "prompt_cache_key",
        "prompt_cache_options",
        "prompt_cache_retention",
        "safety_identifier",
        "service_tier",
    }
)
"""Fields that chat has by the same name and meaning (both are OpenAI's)."""

_DEFAULTS: dict[str, Any] = {
    "frequency_penalty": 0,
    "presence_penalty": 0,
    "logprobs": False,
    "top_logprobs": 0,
    "modalities": ["text"],
    "n": 1,
    "service_tier": "auto",
}
"""Values that ask for nothing but what happens anyway: no loss."""


def write_request(request: Request, quirks: Quirks, losses: Losses) -> dict[str, Any]:
    """The document; see ``Codec.write_request``.  Raises ``InvalidRequest`` for ``n`` over 1."""
    instructions, items = Items(request, losses).write()
    document: dict[str, Any] = {"model": request.model}
    if instructions is not None:
        document["instructions"] = instructions
    document["input"] = items
    _write_tooling(request, quirks, losses, document)
    _write_limits(request, quirks, losses, document)
    if (form := output_format(request.structured, quirks, losses)) is not None:
        document["text"] = {"format": form}
    if request.thinking is not None:
        _write_thinking(request.thinking, quirks, losses, document)
    _write_state(request, document)
    if (user := end_user(request, losses)) is not None:
        document["user"] = user
    _write_extra(request, losses, document)
    if request.stream:
        document["stream"] = True
    return document


def _write_tooling(
    request: Request, quirks: Quirks, losses: Losses, document: dict[str, Any]
) -> None:
    tools = write_tools(request, quirks, losses)
    choice = write_choice(request, tools, losses)
    if not tools:
        return
    document["tools"] = tools
    if choice is not None:
        document["tool_choice"] = choice
    if request.parallel is False and choice != "none":
        if quirks.parallel_tool_calls:
            document["parallel_tool_calls"] = False
        else:
            path = PARALLEL_PATHS[request.protocol]
            losses.drop(path, "the upstream does not know one call at a time")


def _write_limits(
    request: Request, quirks: Quirks, losses: Losses, document: dict[str, Any]
) -> None:
    limit = request.max_tokens
    if limit is not None:
        if 0 < limit < quirks.output_tokens_min and request.protocol != "responses":
            path = "max_completion_tokens"
            path = path if path in request.document else "max_tokens"
            limit = quirks.output_tokens_min
            losses.coerce(path, f"raised to {limit}, the least that the upstream gives")
        document["max_output_tokens"] = limit
    if request.temperature is not None:
        document["temperature"] = temperature_for(request, quirks, losses)
    if request.top_p is not None:
        document["top_p"] = request.top_p
    if request.stop:
        losses.drop(STOP_PATHS[request.protocol], "Responses has no stop sequences")


def _write_thinking(
    wish: ThinkingRequest, quirks: Quirks, losses: Losses, document: dict[str, Any]
) -> None:
    reasoning: dict[str, Any] = {}
    asked = "none" if wish.enabled is False else wish.effort
    if asked is None and wish.budget is not None:
        asked = effort_of_budget(wish.budget, quirks.thinking_budgets)
    optional = quirks.thinking_optional
    efforts = [word for word in quirks.efforts if word != "none" or optional]
    known = asked and nearest_effort(asked, efforts)
    if known:
        reasoning["effort"] = known
    if asked is not None and known is None:
        losses.drop(wish.at, "the upstream has no efforts")
    elif wish.budget is not None or known != asked:
        losses.coerce(wish.at, f"carried as the effort {known!r}")
    if wish.summary is not None and wish.enabled is not False:
        reasoning["summary"] = wish.summary
    if reasoning:
        document["reasoning"] = reasoning


def _write_state(request: Request, document: dict[str, Any]) -> None:
    """What the upstream shall keep, and give so that it need not keep it."""
    if request.protocol == "responses":
        if request.store is not None:
            document["store"] = request.store
        if request.previous_response_id is not None:
            document["previous_response_id"] = request.previous_response_id
    else:
        # The other protocols keep nothing, and their ``store`` means another thing.
        document["store"] = False
    if _needs_encrypted(request):
        document["include"] = ["reasoning.encrypted_content"]


def _needs_encrypted(request: Request) -> bool:
    """Whether reasoning shall come in the form that can be given back.

    Not of every model, for those that do not reason refuse it.
    """
    wish = request.thinking
    if wish is not None and wish.enabled is not False:
        return True
    return any(
        isinstance(part, Thinking) and part.encrypted is not None and part.origin == "responses"
        for turn in request.turns
        for part in turn.parts
    )


def _write_extra(request: Request, losses: Losses, document: dict[str, Any]) -> None:
    for name, value in request.extra.items():
        asks_nothing = value in ([], {}) and name != "web_search_options"
        if value is None or asks_nothing or _DEFAULTS.get(name, _NO_DEFAULT) == value:
            continue
        if name == "n":
            raise InvalidRequest("n must be 1: this upstream gives one answer", param="n")
        if name in ("verbosity", "text.verbosity") and request.protocol != "messages":
            document.setdefault("text", {})["verbosity"] = value
        elif name == "include" and request.protocol == "responses":
            document["include"] = [*document.get("include", ()), *value]
        elif name == "logprobs" and value is True and request.protocol == "chat":
            document["include"] = [*document.get("include", ()), INCLUDED]
        elif name == "top_logprobs" and request.extra.get("logprobs") is True:
            document[name] = value
        elif request.protocol == "responses" and "." not in name:
            document[name] = value
        elif request.protocol == "chat" and name in _SAME_IN_CHAT:
            document[name] = value
        else:
            losses.drop(name, "Responses has no such field")


_NO_DEFAULT = object()
