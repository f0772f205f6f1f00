"""How a model is told to think, or not to: by clients, and to upstreams.

Beside OpenAI's ``reasoning_effort`` there are several dialects.
"""

from __future__ import annotations

from typing import Any

from toolwire.proxy.protocols.chat import fields
from toolwire.proxy.protocols.codec import Quirks
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
    request.effort = fields.optional_text(document, "reasoning_effort")


def _read_enable_thinking(request: ThinkingRequest, document: dict[str, Any]) -> None:
    """https://help.aliyun.com/zh/model-studio/deep-thinking"""
    request.enabled = fields.optional_bool(document, "enable_thinking")


def _read_budget(request: ThinkingRequest, document: dict[str, Any]) -> None:
    request.budget = fields.optional_int(document, "thinking_budget")


def _read_type(request: ThinkingRequest, document: dict[str, Any]) -> None:
    """https://api-docs.deepseek.com/guides/thinking_mode"""
    thinking = fields.optional_object(document, "thinking") or {}
    kind = fields.optional_text(thinking, "type", "thinking")
    request.adaptive = kind in ("adaptive", "auto")
    request.enabled = kind != "disabled" if kind else None
    request.budget = fields.optional_int(thinking, "budget_tokens", "thinking")


def _read_reasoning(request: ThinkingRequest, document: dict[str, Any]) -> None:
    """https://openrouter.ai/docs/use-cases/reasoning-tokens"""
    reasoning = fields.optional_object(document, "reasoning") or {}
    request.effort = fields.optional_text(reasoning, "effort", "reasoning") or request.effort
    request.budget = fields.optional_int(reasoning, "max_tokens", "reasoning") or request.budget
    enabled = fields.optional_bool(reasoning, "enabled", "reasoning")
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
    write = _SWITCHES.get(quirks.thinking_switch)
    if write is None:
        if enabled:
            losses.drop(wish.at, "the upstream has no switch for thinking")
        return {}
    return write(wish, enabled, quirks, losses)


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

_SCALE = ("none", "minimal", "low", "medium", "high", "xhigh", "max")


def _effort(wish: ThinkingRequest, quirks: Quirks, losses: Losses) -> str | None:
    """The effort nearest to the wish among those that the upstream knows; None for its default."""
    effort = wish.effort
    if effort is None and wish.budget is not None:
        effort = _effort_of_budget(wish.budget, quirks)
    known = [step for step in _SCALE if step in quirks.efforts and step != "none"]
    if effort is None or effort in known or not known:
        return effort if known else None
    if effort not in _SCALE:
        return effort  # a newer word: the upstream knows best
    place = _SCALE.index(effort)
    nearest = min(known, key=lambda step: (abs(_SCALE.index(step) - place), -_SCALE.index(step)))
    losses.coerce(wish.at, f"the upstream has no effort {effort!r}: {nearest!r} is asked for")
    return nearest


def _effort_of_budget(budget: int, quirks: Quirks) -> str | None:
    """The weakest effort whose budget is no smaller."""
    by_tokens = sorted((tokens, effort) for effort, tokens in quirks.thinking_budgets.items())
    enough = [effort for tokens, effort in by_tokens if tokens >= budget]
    return enough[0] if enough else (by_tokens[-1][1] if by_tokens else None)


def _budget(wish: ThinkingRequest, quirks: Quirks) -> int | None:
    """In tokens; None for the upstream's default."""
    budget = wish.budget
    if budget is None and wish.effort is not None:
        budget = quirks.thinking_budgets.get(wish.effort)
    return None if budget is None else max(budget, quirks.thinking_budget_min)
