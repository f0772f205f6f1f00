"""A client that leaves cancels what was asked upstream."""

from __future__ import annotations

from typing import Any

import anthropic
import openai
import pytest

from tests.e2e.conftest import Pair
from tests.e2e.conversation import Wanted
from tests.e2e.observed import EVENTS_PER_SECOND, HANGS, Observed
from tests.proxy.gateway import GUARD_SECONDS

LONG = "word " * 12


def started_stream(pair: Pair, model: str) -> Any:
    """The raw stream of the SDK."""
    sdk: Any = pair.client.sdk
    said = pair.client.user(LONG)
    if pair.client.protocol == "chat":
        return sdk.chat.completions.create(model=model, messages=said, stream=True)
    if pair.client.protocol == "messages":
        return sdk.messages.create(model=model, messages=said, max_tokens=900, stream=True)
    return sdk.responses.create(model=model, input=said, stream=True)


def test_in_the_middle_of_a_stream(configured_pair: Pair, demo: Observed) -> None:
    stream = started_stream(configured_pair, configured_pair.model("slow"))
    events = iter(stream)
    for _ in range(4):
        next(events)
    seen = demo.wait_for_request()
    sent = seen.writes
    stream.close()
    assert seen.over.wait(GUARD_SECONDS), "the upstream was not told"
    assert not seen.complete
    assert seen.writes - sent <= EVENTS_PER_SECOND, "it went on for more than a second"


@pytest.mark.parametrize("stream", [False, True])
def test_before_the_answer_begins(configured_pair: Pair, demo: Observed, stream: bool) -> None:
    with pytest.raises((openai.APITimeoutError, anthropic.APITimeoutError)):
        configured_pair.client.ask(
            f"{configured_pair.upstream}/{HANGS}",
            configured_pair.client.user("hi"),
            Wanted(),
            stream=stream,
            timeout=0.2,
        )
    assert demo.wait_for_request().over.wait(GUARD_SECONDS), "the upstream was not told"
