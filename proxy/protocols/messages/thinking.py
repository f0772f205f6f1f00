"""How much the model shall think: ``thinking`` and ``output_config.effort``.

https://docs.anthropic.com/en/docs/build-with-claude/extended-thinking,
https://docs.anthropic.com/en/docs/build-with-claude/adaptive-thinking
"""

from __future__ import annotations

from typing import Any

from toolwire.proxy.protocols.codec import Quirks
from toolwire.proxy.protocols.effort import effort_of_budget, nearest_effort
from toolwire.proxy.protocols.fields import optional, required
from toolwire.proxy.protocols.neutral import Losses, Request, ThinkingRequest

_EFFORTS = {"low", "medium", "high", "xhigh", "max"}

_EFFORT = "output_config.effort"

_DEFAULT_EFFORT = "high"
"""Of a model that is told to think and not how much:
https://docs.anthropic.com/en/docs/build-with-claude/effort"""


def read_thinking(
    thinking: dict[str, Any] | None, output: dict[str, Any]
) -> ThinkingRequest | None:
    """``output`` is the request's ``output_config``."""
    effort = optional(output, "effort", str, "output_config")
    if thinking is None:
        return None if effort is None else ThinkingRequest(effort=effort, at=_EFFORT)
    wish = ThinkingRequest(effort=effort, at="thinking")
    kind = required(thinking, "type", str, "thinking")
    wish.enabled = kind != "disabled"
    if kind == "enabled":
        wish.budget = required(thinking, "budget_tokens", int, "thinking")
    wish.adaptive = kind not in ("enabled", "disabled")
    if wish.enabled and optional(thinking, "display", str, "thinking") != "omitted":
        wish.summary = "auto"
    return wish


def write_thinking(
    document: dict[str, Any], request: Request, quirks: Quirks, losses: Losses
) -> None:
    """Adds the wish to ``document``, whose messages, limit and tool choice are written already.

    Raises the limit where the client gave none and the thinking counts against it.
    """
    wish = request.thinking
    if wish is None:
        return
    if wish.enabled is False or wish.effort == "none":
        if quirks.thinking_optional:
            document["thinking"] = {"type": "disabled"}
        else:
            losses.drop(wish.at, "the model always thinks")
        return
    if not (wish.enabled or wish.effort or wish.budget or wish.adaptive):
        return
    if (obstacle := _obstacle(document, request, quirks)) is not None:
        losses.drop(wish.at, obstacle)
    elif quirks.messages_thinking == "adaptive":
        _write_adaptive(document, wish, quirks, losses)
    else:
        _write_budget(document, wish, request, quirks, losses)


def is_thinking(document: dict[str, Any]) -> bool:
    """Whether the request that was written asks for thinking."""
    return document.get("thinking", {}).get("type") in ("enabled", "adaptive")


def _obstacle(document: dict[str, Any], request: Request, quirks: Quirks) -> str | None:
    """Why the upstream would refuse to think, if it would."""
    forced = document.get("tool_choice", {}).get("type") in ("any", "tool")
    if forced and quirks.forced_choice_refused_while_thinking and request.protocol != "messages":
        return "the upstream refuses thinking beside a forced tool choice"
    if quirks.messages_thinking == "adaptive" or not quirks.signed_thinking:
        return None
    messages = document["messages"]
    if messages[-1]["role"] == "assistant":
        return "the upstream cannot think where the answer has begun already"
    if _has_results(messages[-1]) and not _starts_with_thinking(messages[-2]):
        return "the turn that called the tools came without its signed thinking"
    return None


def _has_results(message: dict[str, Any]) -> bool:
    content = message["content"]
    return isinstance(content, list) and content[0]["type"] == "tool_result"


def _starts_with_thinking(message: dict[str, Any]) -> bool:
    content = message["content"]
    return isinstance(content, list) and content[0]["type"] in ("thinking", "redacted_thinking")


def _write_budget(
    document: dict[str, Any],
    wish: ThinkingRequest,
    request: Request,
    quirks: Quirks,
    losses: Losses,
) -> None:
    least = quirks.thinking_budget_min
    asked = wish.budget or quirks.thinking_budgets.get(wish.effort or _DEFAULT_EFFORT, least)
    budget = max(asked, least)
    limit = document["max_tokens"]
    if request.max_tokens is None:
        document["max_tokens"] = limit + budget
    elif budget >= limit:
        budget = max(limit // 2, least)
        if budget >= limit:
            losses.drop(wish.at, f"thinking takes {least} tokens and more, max_tokens is {limit}")
            return
    if wish.budget is not None and budget != wish.budget:
        losses.coerce(wish.at, f"a budget of {budget} tokens in place of {wish.budget}")
    document["thinking"] = {"type": "enabled", "budget_tokens": budget}


def _write_adaptive(
    document: dict[str, Any], wish: ThinkingRequest, quirks: Quirks, losses: Losses
) -> None:
    thinking = document["thinking"] = {"type": "adaptive"}
    if wish.summary is not None:
        # newer models leave the text out unless it is asked for
        thinking["display"] = "summarized"
    asked = wish.effort
    if asked is None and wish.budget is not None:
        asked = effort_of_budget(wish.budget, quirks.thinking_budgets)
    if asked is None:
        return
    known = [effort for effort in quirks.efforts if effort in _EFFORTS]
    effort = nearest_effort(asked, known) or asked
    if effort != wish.effort:
        losses.coerce(wish.at, f"carried as the effort {effort!r}")
    document.setdefault("output_config", {})["effort"] = effort
