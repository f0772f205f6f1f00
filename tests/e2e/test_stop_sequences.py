"""Stop sequences, which Responses have not: neither its clients nor its upstreams."""

from __future__ import annotations

import pytest

from tests.e2e.conftest import Client, Pair
from tests.e2e.conversation import Finish
from tests.e2e.strict import StrictTransport

FIELDS = {"chat": "stop", "messages": "stop_sequences"}


@pytest.fixture(params=list(FIELDS))
def pair(
    request: pytest.FixtureRequest,
    clients: dict[str, Client],
    upstream: str,
    heard: StrictTransport,
) -> Pair:
    """The clients that can say them, on each upstream."""
    return Pair(clients[request.param], upstream)


def test_the_text_ends_before_it(pair: Pair, stream: bool, heard: StrictTransport) -> None:
    reply = pair.ask("one two three", stream=stream, stop=("three", "two"))
    dropped = heard.heard[-1].headers.get("x-toolwire-dropped")
    if pair.upstream == "responses":
        assert dropped == FIELDS[pair.client.protocol]
        assert "three" in reply.text
        return
    assert dropped is None
    assert reply.text == "✓ You said: “one "
    if pair.client.protocol == pair.upstream == "messages":
        assert (reply.finish, reply.native.stop_sequence) == (Finish.SEQUENCE, "two")
    else:  # Chat does not tell which one it was, or that it was one
        assert reply.finish is Finish.DONE
