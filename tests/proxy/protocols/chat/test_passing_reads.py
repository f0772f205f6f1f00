"""A read that passes undecoded is one that decoding and repair would have passed as it is."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolwire.proxy.protocols.chat import CODEC
from toolwire.proxy.protocols.codec import StreamRepair
from toolwire.proxy.protocols.sse import Decoder, encode


def event(text: str, *, finish: str | None = None, role: bool = False) -> bytes:
    delta = {"role": "assistant", "content": text} if role else {"content": text}
    chunk = {
        "id": "c",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "m",
        "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
    }
    return b"data: %b\n\n" % json.dumps(chunk, ensure_ascii=False).encode()


def begun() -> StreamRepair:
    """A repair that knows what the deltas of this stream look like."""
    repair = CODEC.stream_repair()
    repair.feed(Decoder().feed(event("", role=True) + event("first")))
    return repair


def test_a_read_of_deltas_alone_passes() -> None:
    assert begun().passes(event("a") + event('quoted \\"') + event("é\n"))


@pytest.mark.parametrize(
    "read",
    [
        event("a")[:-1],  # its blank line is not there yet
        event("a")[3:],
        event("a") + event("b", finish="stop"),
        event("a", role=True),
        event("a").replace(b'"index": 0', b'"index": 1'),
        event("a").replace(b"\n\n", b"\r\n\r\n"),
        event("a") + b": comment\n\n",
        event("a") + b"data: [DONE]\n\n",
        event("a").replace(b'"a"', b'"a", "tool_calls": []'),
        event("a").replace(b'"a"', b'"a\\"'),
        event("a").replace(b'"a"', b"null"),
    ],
)
def test_any_other_is_decoded(read: bytes) -> None:
    assert not begun().passes(read)


def test_nothing_passes_before_anything_was_learned() -> None:
    assert not CODEC.stream_repair().passes(event("a"))


@given(st.lists(st.text(st.characters(codec="utf-8"), min_size=1), min_size=1))
def test_what_passes_needs_no_repair(texts: list[str]) -> None:
    read = b"".join(event(text) for text in texts)
    if begun().passes(read):
        repair = begun()
        assert encode(repair.feed(Decoder().feed(read))) == read
        assert repair.repairs == {}
