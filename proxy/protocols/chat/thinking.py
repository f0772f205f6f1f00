"""How a model is told to think, or not to: by clients, and to upstreams.

Beside OpenAI's ``reasoning_effort`` there are several dialects.
"""

from __future__ import annotations

from typing import Any

from toolwire.proxy.protocols.codec import Quirks
from toolwire.proxy.protocols.effort import effort_of_budget, nearest_effort
from toolwire.proxy.protocols.fields import optional
from toolwire.proxy.protocols.neutral import Losses, Request, ThinkingRequest


# ------------------------------------------------------------------------- asked by a client
def read_thinking(document: dict[str, Any]) -> ThinkingRequest | None:
    """What a client wants of the model's reasoning, in OpenAI's words or in a dialect."""
    request = ThinkingRequest()
    for name, read in _DIALECTS.items():
        if document.get(name) is not None:
            read(request, document)
            request.at = request.at or name
    if not request.at:
        return None
    if request.enabled is None and (request.effort or request.budget or request.adaptive):
        request.enabled = request.effort != "none"
    return request


def _read_effort(request: ThinkingRequest, document: dict[str, Any]) -> None:
    request.effort = optional(document, "reasoning_effort", str)


def _read_enable_thinking(request: ThinkingRequest, document: dict[str, Any]) -> None:
    """https://help.aliyun.com/zh/model-studio/deep-thinking"""
    request.enabled = optional(document, "enable_thinking", bool)


def _read_budget(request: ThinkingRequest, document: dict[str, Any]) -> None:
    request.budget = optional(document, "thinking_budget", int)


def _read_type(request: ThinkingRequest, document: dict[str, Any]) -> None:
    """https://api-docs.deepseek.com/guides/thinking_mode"""
    thinking = optional(document, "thinking", dict) or {}
    kind = optional(thinking, "type", str, "thinking")
    request.adaptive = kind in ("adaptive", "auto")
    request.enabled = kind != "disabled" if kind else None
    request.budget = optional(thinking, "budget_tokens", int, "thinking")


def _read_reasoning(request: ThinkingRequest, document: dict[str, Any]) -> None:
    """https://openrouter.ai/docs/use-cases/reasoning-tokens"""
    reasoning = optional(document, "reasoning", dict) or {}
    request.effort = optional(reasoning, "effort", str, "reasoning") or request.effort
    request.budget = optional(reasoning, "max_tokens", int, "reasoning") or request.budget
    enabled = optional(reasoning, "enabled", bool, "reasoning")
    request.enabled = request.enabled if enabled is None else enabled


_DIALECTS = {
    "reasoning_effort": _read_effort,
    "enable_thinking": _read_enable_thinking,
    "thinking_budget": _read_budget,
    "thinking": _read_type,
    "reasoning": _read_reasoning,
}
FIELDS = frozenset(_DIALECTS)


# ----------------------------------------------------------------------- asked of an upstream
def write_thinking(request: Request, quirks: Quirks, losses: Losses) -> dict[str, Any]:
    """The fields that tell an upstream to think, or not to, by its ``thinking_switch``."""
    wish = request.thinking
    if wish is None:
        return {}
    enabled = wish.effort != "none" if wish.enabled is None else wish.enabled
    if enabled and _is_refused(request, quirks) and wish.at != "thinking":
        # an effort is for the case that the model thinks; the choice is an order
        losses.drop(wish.at, "the upstream refuses thinking beside a forced tool choice")
        return {}
    write = _SWITCHES.get(quirks.thinking_switch)
    if write is None:
        if enabled:
            losses.drop(wish.at, "the upstream has no switch for thinking")
        return {}
    return write(wish, enabled, quirks, losses)


def _is_refused(request: Request, quirks: Quirks) -> bool:
    """Whether the model could not think while it has to call a tool."""
    forced = request.choice is not None and request.choice.mode in ("required", "tool")
    refused = quirks.forced_choice_refused_while_thinking and quirks.thinking_optional
    return forced and refused and bool(request.tools)


def _write_effort(
    wish: ThinkingRequest, enabled: bool, quirks: Quirks, losses: Losses
) -> dict[str, Any]:
    if not enabled:
        if "none" not in quirks.efforts:
            losses.drop(wish.at, "the upstream cannot be told not to think")
            return {}
        return {"reasoning_effort": "none"}
    effort = _effort(wish, quirks, losses)
    return {"reasoning_effort": effort} if effort else {}


def _write_enable_thinking(
    wish: ThinkingRequest, enabled: bool, quirks: Quirks, losses: Losses
) -> dict[str, Any]:
    budget = _budget(wish, quirks) if enabled else None
    return {"enable_thinking": enabled} | ({"thinking_budget": budget} if budget else {})


def _write_type(
    wish: ThinkingRequest, enabled: bool, quirks: Quirks, losses: Losses
) -> dict[str, Any]:
    document: dict[str, Any] = {"thinking": {"type": "enabled" if enabled else "disabled"}}
    if enabled and quirks.efforts and (effort := _effort(wish, quirks, losses)):
        document["reasoning_effort"] = effort
    return document


def _write_template(
    wish: ThinkingRequest, enabled: bool, quirks: Quirks, losses: Losses
) -> dict[str, Any]:
    """https://docs.vllm.ai/en/latest/features/reasoning_outputs.html"""
    return {"chat_template_kwargs": {quirks.thinking_key: enabled}}


def _write_reasoning(
    wish: ThinkingRequest, enabled: bool, quirks: Quirks, losses: Losses
) -> dict[str, Any]:
    if not enabled:
        return {"reasoning": {"enabled": False}}
    if wish.budget is not None:
        return {"reasoning": {"max_tokens": wish.budget}}
    effort = _effort(wish, quirks, losses)
    return {"reasoning": {"effort": effort} if effort else {"enabled": True}}


_SWITCHES = {
    "reasoning_effort": _write_effort,
    "enable_thinking": _write_enable_thinking,
    "thinking_type": _write_type,
    "chat_template_kwargs": _write_template,
    "reasoning": _write_reasoning,
}


def _effort(wish: ThinkingRequest, quirks: Quirks, losses: Losses) -> str | None:
    """The effort nearest to the wish among those that the upstream knows; None for its default."""
    asked = wish.effort
    if asked is None and wish.budget is not None:
        asked = effort_of_budget(wish.budget, quirks.thinking_budgets)
    if asked is None:
        return None
    nearest = nearest_effort(asked, [effort for effort in quirks.efforts if effort != "none"])
    if nearest not in (None, asked):
        losses.coerce(wish.at, f"the upstream has no effort {asked!r}: {nearest!r} is asked for")
    return nearest


def _budget(wish: ThinkingRequest, quirks: Quirks) -> int | None:
    """In tokens; None for the upstream's default."""
    budget = wish.budget
    if budget is None and wish.effort is not None:
        budget = quirks.thinking_budgets.get(wish.effort)
    return None if budget is None else max(budget, quirks.thinking_budget_min)
