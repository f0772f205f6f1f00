"""How much a model shall think: efforts in words, budgets in tokens, and what a target knows."""

from __future__ import annotations

from collections.abc import Collection, Mapping

SCALE = ("none", "minimal", "low", "medium", "high", "xhigh", "max")
"""All words that any protocol has, weakest first:
https://platform.openai.com/docs/api-reference/responses/create (``reasoning.effort``)."""


def nearest_effort(effort: str, known: Collection[str]) -> str | None:
    """The word of ``known`` nearest to ``effort``, of two the stronger; None where none is known.

    A word that is not on the scale is newer than this code, and stays.
    """
    if effort in known or (known and effort not in SCALE):
        return effort
    place = SCALE.index(effort) if known else 0
    steps = [step for step, word in enumerate(SCALE) if word in known]
    return SCALE[min(steps, key=lambda step: (abs(step - place), -step))] if steps else None


def effort_of_budget(tokens: int, budgets: Mapping[str, int]) -> str | None:
    """The weakest effort whose budget is no smaller, else the strongest; None without budgets."""
    by_tokens = sorted((budget, effort) for effort, budget in budgets.items())
    enough = [effort for budget, effort in by_tokens if budget >= tokens]
    return enough[0] if enough else by_tokens[-1][1] if by_tokens else None
