"""Wherever the reads of an upstream are cut, whole events come out, and they are the same bytes."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.asgi import ask
from tests.fuzz.answers import STREAMS, encoded
from tests.fuzz.inside import PATHS, FakeUpstream
from tests.fuzz.test_hostile_streams import split
from toolwire.middlewares.sse_rechunking import Options, SSERechunking

BETWEEN = [
    b": keep-alive\n\n",
    b":\n\n",
    b": OPENROUTER PROCESSING\n\n",
    b"id: 7\nevent: later\ndata: {}\n\n",
    b'data: {"type":\ndata: "unheard.of"}\n\n',
]
"""What any upstream may send between its events; a chat stream's unknown event is not known as one,
so that only comments stand there."""


def body_of(protocol: str, between: list[tuple[int, bytes]]) -> bytes:
    events = encoded(protocol, STREAMS[protocol])
    for place, event in between:
        if protocol != "chat" or event.startswith(b":"):
            events.insert(1 + place % (len(events) - 2), event)
    return b"".join(events)


async def rechunked(protocol: str, reads: list[bytes], **options: str) -> list[bytes]:
    """What the middleware writes of these reads."""
    upstream = FakeUpstream()
    upstream.answer(200, "text/event-stream", reads)
    app = SSERechunking(upstream, Options(**options))  # type: ignore[arg-type]
    async with asyncio.timeout(20):
        reply = await ask(app, PATHS[protocol], {"stream": True})
    assert reply.complete
    return reply.writes


@pytest.mark.parametrize("flush", ["read", "budget"])
@pytest.mark.parametrize("protocol", PATHS)
@settings(max_examples=100, deadline=None)
@given(
    between=st.lists(st.tuples(st.integers(0, 30), st.sampled_from(BETWEEN)), max_size=4),
    places=st.lists(st.integers(0, 10_000), max_size=20),
    ending=st.sampled_from([b"\n", b"\r\n", b"\r"]),
)
async def test_the_same_bytes(
    protocol: str,
    flush: str,
    between: list[tuple[int, bytes]],
    places: list[int],
    ending: bytes,
) -> None:
    body = body_of(
        protocol, [pair for pair in between if protocol == "chat" or pair[1][:1] == b":"]
    )
    body = body.replace(b"\n", ending)
    writes = await rechunked(protocol, split(body, places), flush=flush)
    assert b"".join(writes) == body
    for write in writes[:-1]:
        assert write == b"" or write.endswith(ending * 2)


@pytest.mark.parametrize("protocol", PATHS)
@settings(max_examples=100, deadline=None)
@given(
    between=st.lists(st.tuples(st.integers(0, 30), st.sampled_from(BETWEEN)), max_size=4),
    places=st.lists(st.integers(0, 10_000), max_size=20),
)
async def test_repairs_do_not_depend_on_the_reads(
    protocol: str, between: list[tuple[int, bytes]], places: list[int]
) -> None:
    """Also what has to be repaired comes out the same: unknown events, names that are missing."""
    body = body_of(protocol, between)
    if protocol != "chat":
        body = body.replace(b"event: ", b"x-event: ")
    at_once = await rechunked(protocol, [body])
    in_reads = await rechunked(protocol, split(body, places))
    assert b"".join(in_reads) == b"".join(at_once)


@pytest.mark.parametrize("protocol", PATHS)
async def test_each_event_is_written_when_its_last_byte_came(protocol: str) -> None:
    events = encoded(protocol, STREAMS[protocol])
    reads = [piece for event in events for piece in (event[:-1], event[-1:])]
    writes = await rechunked(protocol, reads)
    assert writes == [*events, b""]
