from __future__ import annotations

import pytest

from toolwire.proxy.protocols.effort import SCALE, effort_of_budget, nearest_effort

BUDGETS = {"high": 16384, "low": 2048, "medium": 8192}


@pytest.mark.parametrize(
    ("effort", "known", "nearest"),
    [
        ("high", SCALE, "high"),
        ("xhigh", ("low", "medium", "high"), "high"),
        ("minimal", ("low", "high"), "low"),
        ("medium", ("low", "high"), "high"),  # of two the stronger
        ("none", ("minimal", "low"), "minimal"),
        ("brand-new", ("low", "high"), "brand-new"),
        ("brand-new", (), None),
        ("high", (), None),
    ],
)
def test_nearest_effort(effort: str, known: tuple[str, ...], nearest: str | None) -> None:
    assert nearest_effort(effort, known) == nearest


@pytest.mark.parametrize(
    ("tokens", "effort"),
    [(1, "low"), (2048, "low"), (2049, "medium"), (16384, "high"), (99999, "high")],
)
def test_effort_of_budget(tokens: int, effort: str) -> None:
    assert effort_of_budget(tokens, BUDGETS) == effort


def test_without_budgets_there_is_no_effort() -> None:
    assert effort_of_budget(4096, {}) is None
