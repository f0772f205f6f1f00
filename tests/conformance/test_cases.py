"""Each case of ``cases/``: what a client sends, what the upstream answers, what has to reach both.

Most are small models of public bug reports about gateways and servers (``source``); ``why`` names
the right answer and what it rests on.  The format is described in ``cases/README.md``.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from tests.conformance import assertions, streams
from tests.conformance.script import Exchange, Script, scripted

CASES = {
    file.stem: json.loads(file.read_text())
    for file in sorted((Path(__file__).parent / "cases").glob("*.json"))
}

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def script(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Script]:
    async with scripted(tmp_path_factory.mktemp("conformance")) as script:
        yield script


@pytest.mark.parametrize("name", CASES)
async def test_case(name: str, script: Script) -> None:
    case = CASES[name]
    assert case["name"] == name
    assert list(_wrong(case, await script.play(case))) == []


def _wrong(case: dict[str, Any], exchange: Exchange) -> Iterator[str]:
    """What is not as the case says."""
    expected = case.get("expect_status", 200)
    if exchange.status != expected:
        yield f"status {exchange.status}, not {expected}: {exchange.body[:300]!r}"
    if "expect_upstream" in case:
        if not exchange.asked:
            yield "the upstream was never asked"
        for body in exchange.asked:
            yield from assertions.failures(json.loads(body), case["expect_upstream"])
    if "expect_headers" in case:
        headers = {"/" + name: value for name, value in case["expect_headers"].items()}
        yield from assertions.failures(exchange.headers, headers)
    if "expect_response" in case:
        yield from assertions.failures(json.loads(exchange.body), case["expect_response"])
    if "expect_stream" in case:
        yield from _wrong_in_stream(case["client"], case["expect_stream"], exchange.body)


def _wrong_in_stream(protocol: str, expected: dict[str, Any], body: bytes) -> Iterator[str]:
    found = streams.events(protocol, body)
    for checks in expected.get("$events", ()):
        for name, argument in checks.items():
            if not streams.check(found, name, argument):
                yield f"{name} {argument} does not hold: {[event for event, _ in found]}"
    wanted = {pointer: value for pointer, value in expected.items() if pointer != "$events"}
    if wanted:
        yield from assertions.failures(streams.assemble(protocol, found), wanted)
