"""A request that goes through another protocol and back means what it meant.

What does not come back is what docs/losses.md says that cannot cross.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings

from tests.fuzz import spoken_chat, spoken_messages, spoken_responses
from tests.fuzz.conversation import Conversation, conversations, without
from toolwire.config.profile import Profile
from toolwire.proxy.protocols import json as lossless
from toolwire.proxy.protocols.convert import convert_request
from toolwire.proxy.protocols.registry import CODECS

SPOKEN = {"chat": spoken_chat, "messages": spoken_messages, "responses": spoken_responses}

LOST = {"responses": ["stop"]}
"""What a protocol has no field for, of what a ``Conversation`` holds."""

ROUND_TRIPS = [(client, upstream) for client in CODECS for upstream in CODECS if client != upstream]


def converted(client: str, upstream: str, document: Any) -> tuple[Any, list[str]]:
    """The document in the upstream's protocol, and the paths that were lost on the way."""
    given_document = lossless.decode(json.dumps(document))
    found = convert_request(CODECS[client], CODECS[upstream], given_document, Profile(), "v")
    losses = [loss.path for loss in found.losses.entries if loss.kind != "invented"]
    return json.loads(lossless.encode(found.document)), losses


def meant(said: Conversation, *protocols: str) -> Conversation:
    """What is left of ``said`` where all of ``protocols`` have to hold it."""
    return without(said, *(name for protocol in protocols for name in LOST.get(protocol, [])))


@pytest.mark.parametrize("protocol", CODECS)
@settings(max_examples=40, deadline=None)
@given(said=conversations())
def test_what_is_written_can_be_read(protocol: str, said: Conversation) -> None:
    """The tests' own writers and readers agree."""
    assert SPOKEN[protocol].read(SPOKEN[protocol].write(said)) == meant(said, protocol)


@pytest.mark.parametrize(("client", "upstream"), ROUND_TRIPS)
@settings(max_examples=80, deadline=None)
@given(said=conversations())
def test_one_way(client: str, upstream: str, said: Conversation) -> None:
    said = meant(said, client)
    document, losses = converted(client, upstream, SPOKEN[client].write(said))
    assert SPOKEN[upstream].read(document) == meant(said, upstream)
    assert (losses != []) is (meant(said, upstream) != said), losses


@pytest.mark.parametrize(("client", "upstream"), ROUND_TRIPS)
@settings(max_examples=80, deadline=None)
@given(said=conversations())
def test_there_and_back(client: str, upstream: str, said: Conversation) -> None:
    said = meant(said, client)
    there, _ = converted(client, upstream, SPOKEN[client].write(said))
    back, losses = converted(upstream, client, there)
    assert SPOKEN[client].read(back) == meant(said, upstream)
    assert losses == []
