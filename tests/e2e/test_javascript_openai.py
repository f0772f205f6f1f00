"""The official JavaScript client `openai` on every upstream."""

from __future__ import annotations

import pytest

from tests.e2e.gateway import RunningGateway
from tests.e2e.javascript import run_suite

pytestmark = pytest.mark.node


def test_openai(gateway: RunningGateway) -> None:
    run_suite("openai.test.js", gateway.url)
