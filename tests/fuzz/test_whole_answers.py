"""Whatever an upstream answers, a client gets an answer of its protocol, or an error of it."""

from __future__ import annotations

import json
import re
from typing import Any

import httpx2
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.asgi import Reply
from tests.e2e.strict import Heard, problems
from tests.fuzz.altered import JUNK, altered, every_alteration
from tests.fuzz.answers import STREAMS, WHOLE, encoded
from tests.fuzz.inside import INSIDE, PAIRS, PATHS

ASK: dict[str, dict[str, Any]] = {
    "chat": {"model": "m", "messages": [{"role": "user", "content": "hi"}]},
    "messages": {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "hi"}]},
    "responses": {"model": "m", "input": "hi"},
}


_HALF_A_PAIR = re.compile(rb"(?<!\\)((?:\\\\)*)\\ud83d")


def without_half_pairs(body: bytes) -> bytes:
    """Half a surrogate pair is legal JSON, but the judge does not read it."""
    return _HALF_A_PAIR.sub(rb"\1?", body)


async def got(
    client: str,
    upstream: str,
    reads: list[bytes],
    *,
    status: int = 200,
    content_type: str = "application/json",
    stream: bool = False,
    cut: bool = False,
) -> Reply:
    """What a client gets, once it has been judged: it ends, it is no 500, and where it is an error
    or was converted it is strictly what the protocol says."""
    inside = INSIDE[upstream]
    inside.upstream.answer(status, content_type, reads, cut=cut)
    request = {**ASK[client], "stream": stream}
    reply = await inside.ask(PATHS[client], json.dumps(request).encode())
    assert reply.complete
    assert reply.status == (status if status >= 400 else reply.status)
    assert reply.status in (status, 200, 502)
    if reply.status >= 400 or client != upstream:
        heard = Heard(PATHS[client], request, reply.status, httpx2.Headers(reply.headers))
        heard.raw, heard.whole = without_half_pairs(reply.body), True
        assert list(problems(heard)) == []
    return reply


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(("client", "upstream"), PAIRS)
async def test_what_is_right_arrives(client: str, upstream: str, stream: bool) -> None:
    for answer in WHOLE[upstream]:
        reply = await got(client, upstream, [json.dumps(answer).encode()], stream=stream)
        assert reply.status == 200
        assert b"hello" in reply.body


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(("client", "upstream"), PAIRS)
async def test_every_value_of_an_answer_may_be_anything(
    client: str, upstream: str, stream: bool
) -> None:
    for whole in WHOLE[upstream]:
        for answer in every_alteration(whole):
            await got(client, upstream, [json.dumps(answer).encode()], stream=stream)


@pytest.mark.parametrize(("client", "upstream"), PAIRS)
@settings(max_examples=100, deadline=None)
@given(st.data(), st.booleans())
async def test_altered_answers(
    client: str, upstream: str, data: st.DataObject, stream: bool
) -> None:
    answer = data.draw(altered(WHOLE[upstream]))
    await got(client, upstream, [json.dumps(answer).encode()], stream=stream)


@pytest.mark.parametrize(("client", "upstream"), PAIRS)
@settings(max_examples=60, deadline=None)
@given(
    body=st.binary(max_size=60) | st.sampled_from(JUNK).map(lambda junk: json.dumps(junk).encode()),
    cut_at=st.integers(0, 700),
    content_type=st.sampled_from(["application/json", "text/html", "", "text/plain", "\xff"]),
    stream=st.booleans(),
    cut=st.booleans(),
)
async def test_any_bytes(
    client: str,
    upstream: str,
    body: bytes,
    cut_at: int,
    content_type: str,
    stream: bool,
    cut: bool,
) -> None:
    options: dict[str, Any] = {"content_type": content_type, "stream": stream, "cut": cut}
    await got(client, upstream, [body], **options)
    whole = json.dumps(WHOLE[upstream][0]).encode()
    reply = await got(client, upstream, [whole[:cut_at], body], **options)
    assert reply.status == 502 or not cut


ERRORS: list[Any] = [
    {"error": {"message": "no", "type": "t", "param": "p", "code": "c"}},
    {"type": "error", "error": {"type": "overloaded_error", "message": "no"}, "request_id": "r"},
    {"error": "no"},
    {"message": "no", "code": 7},
    {"detail": [{"loc": ["a"], "msg": "no"}]},
    [{"error": {"message": "no", "status": "UNAVAILABLE"}}],
    {"choices": []},
    "no",
]


@pytest.mark.parametrize(("client", "upstream"), PAIRS)
@settings(max_examples=100, deadline=None)
@given(
    error=altered(ERRORS),
    status=st.sampled_from([400, 401, 402, 403, 404, 408, 409, 413, 418, 422, 429, 500, 503, 529]),
    stream=st.booleans(),
)
async def test_any_error(client: str, upstream: str, error: Any, status: int, stream: bool) -> None:
    await got(client, upstream, [json.dumps(error).encode()], status=status, stream=stream)


@pytest.mark.parametrize(("client", "upstream"), PAIRS)
async def test_a_stream_that_nobody_asked_for(client: str, upstream: str) -> None:
    reads = encoded(upstream, STREAMS[upstream])
    reply = await got(client, upstream, reads, content_type="text/event-stream")
    assert b"hel" in reply.body


@pytest.mark.parametrize(("client", "upstream"), PAIRS)
async def test_huge_answers(client: str, upstream: str) -> None:
    whole = json.dumps(WHOLE[upstream][0]).replace("hello", "hello" * 400_000).encode()
    reads = [whole[start : start + 65536] for start in range(0, len(whole), 65536)]
    reply = await got(client, upstream, reads)
    assert reply.body.count(b"hello") >= 400_000


@pytest.mark.parametrize(("client", "upstream"), PAIRS)
async def test_deep_answers(client: str, upstream: str) -> None:
    whole = json.dumps({**WHOLE[upstream][0], "x": 0})
    for depth in [*range(50, 950, 100), *range(930, 1000, 5), 2000, 20_000]:
        for innermost in ("1", r'"\ud83d"'):
            deep = "[" * depth + innermost + "]" * depth
            await got(client, upstream, [whole.replace('"x": 0', f'"x": {deep}').encode()])
            await got(client, upstream, [f'{{"choices": {deep}}}'.encode()])
