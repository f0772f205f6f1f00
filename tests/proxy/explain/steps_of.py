"""One layer of an explanation."""

from __future__ import annotations

from toolwire.proxy.explain.explanation import Explanation
from toolwire.proxy.explain.steps import Step


def step(told: Explanation, layer: str) -> Step:
    """The only change of a layer to the request."""
    (found,) = [one for one in told.steps if one.layer == layer]
    return found


def answer_step(told: Explanation, layer: str) -> Step:
    assert told.answer is not None
    (found,) = [one for one in told.answer.steps if one.layer == layer]
    return found
