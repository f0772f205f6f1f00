"""A chunk that says several things at once, as the several chunks that say one each.

Many clients look at ``delta.tool_calls[0]`` alone, or at nothing but a finish reason.
"""

from __future__ import annotations

from typing import Any


def split(chunk: dict[str, Any]) -> list[dict[str, Any]]:
    """The chunks in order: what is no call with the first call, each further call, and the finish
    reason, with the usage, after calls.  One with several choices stays whole."""
    choices = chunk["choices"]
    if len(choices) != 1:
        return [chunk]
    choice = choices[0]
    calls = choice["delta"].get("tool_calls")
    ends = bool(choice.get("finish_reason"))
    if not isinstance(calls, list) or len(calls) + ends < 2:
        return [chunk]
    first = {**choice["delta"], "tool_calls": calls[:1]}
    deltas = [first, *({"tool_calls": [call]} for call in calls[1:])]
    if ends:
        deltas.append({})
    last = len(deltas) - 1
    later = {**choice, "logprobs": None} if choice.get("logprobs") else choice  # said once
    return [
        _part(chunk, {**(later if place else choice), "delta": delta}, is_last=place == last)
        for place, delta in enumerate(deltas)
    ]


def _part(chunk: dict[str, Any], choice: dict[str, Any], *, is_last: bool) -> dict[str, Any]:
    if is_last:
        return {**chunk, "choices": [choice]}
    if "finish_reason" in choice:
        choice["finish_reason"] = None
    part = {**chunk, "choices": [choice]}
    if part.get("usage") is not None:
        part["usage"] = None
    return part
