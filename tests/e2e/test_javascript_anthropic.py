"""The official JavaScript client `@anthropic-ai/sdk` on every upstream."""

from __future__ import annotations

import pytest

from tests.e2e.gateway import RunningGateway
from tests.e2e.javascript import run_suite

pytestmark = pytest.mark.node


def test_anthropic(gateway: RunningGateway) -> None:
    run_suite("anthropic.test.js", gateway.url)
