"""Whatever events an upstream sends, and however they are cut: a client's stream keeps its rules,
and never looks complete where the upstream's was not."""

from __future__ import annotations

import itertools
import json
import random
import re
from typing import Any

import httpx2
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.asgi import Reply
from tests.e2e.strict import Heard, problems
from tests.fuzz.altered import altered, every_alteration
from tests.fuzz.answers import LAST_NEEDED, STREAMS, encoded
from tests.fuzz.inside import INSIDE, PAIRS, PATHS
from tests.fuzz.test_whole_answers import ASK, without_half_pairs

COMPLETE = {
    "chat": b"data: [DONE]",
    "messages": b"event: message_stop",
    "responses": (b"event: response.completed", b"event: response.incomplete"),
}
"""What only a complete stream has."""

CONVERTED = [pair for pair in PAIRS if pair[0] != pair[1]]


async def streamed(client: str, upstream: str, reads: list[bytes], *, cut: bool = False) -> Reply:
    """What a client gets of a stream that comes in ``reads``; a converted one is judged."""
    inside = INSIDE[upstream]
    inside.upstream.answer(200, "text/event-stream", reads, cut=cut)
    request = {**ASK[client], "stream": True}
    reply = await inside.ask(PATHS[client], json.dumps(request).encode())
    assert reply.complete
    assert reply.status == 200
    if client != upstream:
        heard = Heard(PATHS[client], request, 200, httpx2.Headers(reply.headers))
        heard.raw, heard.whole = without_half_pairs(reply.body), True
        assert [problem for problem in problems(heard) if not _is_excused(problem, reads)] == []
    return reply


def _is_excused(problem: str, reads: list[bytes]) -> bool:
    """A finish was out when the upstream told of its failure, or when a later read brought more.
    What matters is the end."""
    if problem.startswith("finish reasons at") and problem.endswith("failed: True"):
        return True
    if len(reads) == 1:
        return False
    out = re.match(r"finish reasons at \[\d+(?:, (\d+))?\] of (\d+) deltas", problem)
    # it is said again where what came makes it another
    return out is not None and (out[1] is None or int(out[1]) == int(out[2]) - 1)


def is_complete(client: str, body: bytes) -> bool:
    marks = COMPLETE[client]
    return any(mark in body for mark in ([marks] if isinstance(marks, bytes) else marks))


def split(body: bytes, places: list[int]) -> list[bytes]:
    edges = sorted({0, len(body), *(place % (len(body) + 1) for place in places)})
    return [body[start:end] for start, end in itertools.pairwise(edges)]


@pytest.mark.parametrize(("client", "upstream"), PAIRS)
async def test_what_is_right_is_complete(client: str, upstream: str) -> None:
    body = b"".join(encoded(upstream, STREAMS[upstream]))
    for reads in ([body], [body[at : at + 1] for at in range(len(body))]):
        reply = await streamed(client, upstream, reads)
        assert is_complete(client, reply.body)
        if client == upstream:
            assert reply.body == body


@pytest.mark.parametrize("cut", [False, True])
@pytest.mark.parametrize(("client", "upstream"), PAIRS)
async def test_it_may_end_after_each_event(client: str, upstream: str, cut: bool) -> None:
    events = encoded(upstream, STREAMS[upstream])
    for count in range(len(events)):
        reply = await streamed(client, upstream, events[:count], cut=cut)
        # a stream that broke off after its finish and before [DONE] has said everything
        if count <= LAST_NEEDED[upstream]:
            assert not is_complete(client, reply.body), events[:count][-1:]
            assert b"error" in reply.body


@pytest.mark.parametrize(("client", "upstream"), PAIRS)
@settings(max_examples=100, deadline=None)
@given(st.integers(0, 10_000), st.lists(st.integers(0, 10_000), max_size=8), st.booleans())
async def test_it_may_end_anywhere(
    client: str, upstream: str, end: int, places: list[int], cut: bool
) -> None:
    events = encoded(upstream, STREAMS[upstream])
    body = b"".join(events)[:end]
    needed = sum(map(len, events[: LAST_NEEDED[upstream] + 1])) - len(b"\n\n")
    reply = await streamed(client, upstream, split(body, places), cut=cut)
    if len(body) < needed:
        assert not is_complete(client, reply.body)


@pytest.mark.parametrize(("client", "upstream"), PAIRS)
async def test_every_value_of_an_event_may_be_anything(client: str, upstream: str) -> None:
    events = STREAMS[upstream]
    for place, event in enumerate(events):
        for changed in every_alteration(event):
            sent = [*events[:place], changed, *events[place + 1 :]]
            await streamed(client, upstream, [b"".join(encoded(upstream, sent))])


@pytest.mark.parametrize(("client", "upstream"), PAIRS)
@settings(max_examples=150, deadline=None)
@given(
    data=st.data(),
    seed=st.integers(0, 1 << 30),
    dropped=st.sets(st.integers(0, 30), max_size=4),
    places=st.lists(st.integers(0, 10_000), max_size=5),
)
async def test_events_of_any_order_and_form(
    client: str,
    upstream: str,
    data: st.DataObject,
    seed: int,
    dropped: set[int],
    places: list[int],
) -> None:
    events: list[Any] = [
        event for place, event in enumerate(STREAMS[upstream]) if place not in dropped
    ]
    chance = random.Random(seed)
    for _ in range(chance.randrange(4)):
        one, other = chance.randrange(len(events)), chance.randrange(len(events))
        events[one], events[other] = events[other], events[one]
    for _ in range(chance.randrange(3)):
        events.insert(chance.randrange(len(events)), chance.choice(events))
    if chance.random() < 0.5:
        events[chance.randrange(len(events))] = data.draw(altered(STREAMS[upstream]))
    body = b"".join(encoded(upstream, events))
    await streamed(client, upstream, split(body, places), cut=chance.random() < 0.2)


LINES = st.sampled_from(
    [
        b"data: {}",
        b"data:",
        b"data: [DONE]",
        b"data: null",
        b"data: [1]",
        b'data: {"error": {"message": "no"}}',
        b'data: {"type": "error", "error": {"type": "overloaded_error", "message": "no"}}',
        b'data: {"choices": [{"delta": {"content": "a"}}]}',
        b"event: ping",
        b"event: message_stop",
        b"event: \xff",
        b": comment",
        b"id: 1",
        b"retry: 5",
        b"\x00",
        b"data: \xff",
        b"<html>",
        b"",
        b"",
    ]
)


@pytest.mark.parametrize(("client", "upstream"), PAIRS)
@settings(max_examples=100, deadline=None)
@given(
    lines=st.lists(LINES | st.binary(max_size=20), max_size=12),
    ending=st.sampled_from([b"\n", b"\r\n", b"\r"]),
    places=st.lists(st.integers(0, 1000), max_size=5),
    cut=st.booleans(),
)
async def test_any_lines(
    client: str, upstream: str, lines: list[bytes], ending: bytes, places: list[int], cut: bool
) -> None:
    reply = await streamed(client, upstream, split(ending.join(lines), places), cut=cut)
    if client != upstream and b"message_stop" not in b"".join(lines):
        assert not is_complete(client, reply.body) or b"DONE" in b"".join(lines)


@pytest.mark.parametrize(("client", "upstream"), CONVERTED)
async def test_huge_events(client: str, upstream: str) -> None:
    text = "hello" * 200_000
    events = json.loads(json.dumps(STREAMS[upstream]).replace('"lo"', json.dumps(text)))
    body = b"".join(encoded(upstream, events))
    reads = [body[at : at + 65536] for at in range(0, len(body), 65536)]
    reply = await streamed(client, upstream, reads)
    assert is_complete(client, reply.body)
    assert text.encode() in reply.body


@pytest.mark.parametrize(("client", "upstream"), PAIRS)
async def test_an_event_without_an_end(client: str, upstream: str) -> None:
    """It is not held for ever."""
    reads = [*encoded(upstream, STREAMS[upstream])[:3], b"data: "]
    reads += [b"x" * (1024 * 1024)] * 40
    reply = await streamed(client, upstream, reads)
    assert not is_complete(client, reply.body)
    assert b"error" in reply.body
    assert len(reply.body) < 100_000
