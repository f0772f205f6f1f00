"""A request that goes through another protocol and back means what it meant.

What does not come back is what docs/losses.md says that cannot cross, and the conversion said so.
"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.fuzz import conversation_chat, conversation_messages, conversation_responses
from tests.fuzz.conversation import Conversation, Json, arguments_of, dumps, exact, loads, settled
from tests.fuzz.conversation_carried import Carrying, comparable
from tests.fuzz.conversation_drawn import VENDOR, conversations
from tests.fuzz.conversation_names import check_ids, renamed
from tests.proxy.live import settings_for
from toolwire.middlewares.key_canonicalization import sort_arguments
from toolwire.proxy.protocols import json as lossless
from toolwire.proxy.protocols.convert import convert_request
from toolwire.proxy.protocols.registry import CODECS

SPOKEN: dict[str, Any] = {
    "chat": conversation_chat,
    "messages": conversation_messages,
    "responses": conversation_responses,
}
QUIRKS = {
    (protocol, freeform): settings_for(protocol=protocol, profile={"custom_tools": freeform})
    .upstreams[0]
    .profile_for("m")
    for protocol in CODECS
    for freeform in (False, True)
}
"""By the protocol, and by whether free-form tools are understood; Messages has none."""

TRIPS = [(client, upstream) for client in CODECS for upstream in CODECS if client != upstream]
rich = settings(max_examples=80, deadline=None, suppress_health_check=list(HealthCheck))


def converted(client: str, upstream: str, sent: bytes, freeform: bool) -> tuple[bytes, Carrying]:
    """The body in the upstream's protocol, and how it was carried."""
    codecs = CODECS[client], CODECS[upstream]
    quirks = QUIRKS[upstream, freeform]
    found = convert_request(*codecs, lossless.decode(sent), quirks, VENDOR)
    carrying = Carrying(found.losses.entries, upstream, freeform=freeform)
    return lossless.encode(found.document), carrying


def crossed(client: str, upstream: str, sent: bytes, freeform: bool) -> bytes:
    """The body in the upstream's protocol, once it is sure that it means what it should."""
    body, carrying = converted(client, upstream, sent, freeform)
    said = SPOKEN[client].read(loads(sent))
    expected = carrying.carried(said)
    found = SPOKEN[upstream].read(loads(body), sent=True)
    check_ids(said, found, upstream)
    expected, found = (comparable(one, client, upstream) for one in (expected, found))
    expected, found = settled(renamed(expected, found)), settled(found)
    assert found == expected
    assert carrying.unused() == []
    return body


@pytest.mark.parametrize("protocol", CODECS)
@rich
@given(st.data())
def test_what_is_written_can_be_read(protocol: str, data: st.DataObject) -> None:
    """The tests' own writers and readers agree."""
    said = data.draw(conversations(protocol))
    read = SPOKEN[protocol].read(loads(dumps(SPOKEN[protocol].write(said))))
    assert levelled(read, protocol) == levelled(said, protocol)


def levelled(said: Conversation, protocol: str) -> Conversation:
    said.facts.pop("form.description", None)
    return settled(comparable(said, protocol, "messages"))


@pytest.mark.parametrize(("client", "upstream"), TRIPS)
@rich
@given(st.data(), st.booleans())
def test_there_and_back(client: str, upstream: str, data: st.DataObject, freeform: bool) -> None:
    freeform = freeform and "messages" not in (client, upstream)
    sent = dumps(SPOKEN[client].write(data.draw(conversations(client))))
    there = crossed(client, upstream, sent, freeform)
    crossed(upstream, client, there, freeform)


@pytest.mark.parametrize("protocol", CODECS)
@rich
@given(st.data())
def test_keys_in_order_mean_the_same(protocol: str, data: st.DataObject) -> None:
    sent = dumps(SPOKEN[protocol].write(data.draw(conversations(protocol))))
    document: Json = lossless.decode(sent)
    sort_arguments(protocol, document)
    body = lossless.encode(document, sort_keys=True)
    read = SPOKEN[protocol].read
    assert unordered(read(loads(body))) == unordered(read(loads(sent)))


def unordered(said: Conversation) -> Conversation:
    for turn in said.turns:
        for piece in turn.pieces:
            if piece.kind == "call" and isinstance(piece.value, str):
                piece.value = arguments_of(piece.value, ordered=False)
            elif piece.kind == "call":
                piece.value = exact(piece.value)
    return said
