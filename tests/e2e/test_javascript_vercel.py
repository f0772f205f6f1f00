"""Vercel's `ai` with its providers for all three protocols, on every upstream."""

from __future__ import annotations

import pytest

from tests.e2e.gateway import RunningGateway
from tests.e2e.javascript import run_suite

pytestmark = pytest.mark.node


def test_vercel(gateway: RunningGateway) -> None:
    run_suite("vercel.test.js", gateway.url)
