"""The body is decoded and encoded once, also with foreign middlewares in between."""

from __future__ import annotations

import gzip
import json
import zlib
from typing import Any

import pytest

from tests.asgi import Upstream, ask, scope_for
from toolwire.middlewares.key_canonicalization import KeyCanonicalization
from toolwire.middlewares.reasoning_stripping import ReasoningStripping
from toolwire.proxy import exchange as module
from toolwire.proxy.asgi import ASGIApp, Message, Receive, Scope, Send
from toolwire.proxy.errors import BodyTooLarge, ClientDisconnected, InvalidRequest
from toolwire.proxy.exchange import Body, Exchange, endpoint, inflate, open_body
from toolwire.proxy.protocols import json as lossless

CHAT = "/v1/chat/completions"


class Rewriting:
    """A foreign middleware that rewrites request bodies, as ASGI lets it."""

    def __init__(self, app: ASGIApp, old: bytes, new: bytes) -> None:
        self.app, self.old, self.new = app, old, new
        self.seen: list[bytes] = []

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def rewritten() -> Message:
            message = await receive()
            if message["type"] == "http.request":
                self.seen.append(message["body"])
                message = {**message, "body": message["body"].replace(self.old, self.new)}
            return message

        await self.app(scope, rewritten, send)


class Idle:
    """A foreign middleware that passes everything on."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self.app(scope, receive, send)


BODY = {"model": "m", "messages": [{"role": "assistant", "content": "a", "reasoning": "r"}]}
SORTED = b'{"messages":[{"content":"a","role":"assistant"}],"model":"m"}'


async def test_a_foreign_middleware_sees_and_changes_what_goes_up() -> None:
    upstream = Upstream()
    foreign = Rewriting(KeyCanonicalization(upstream), b'"a"', b'"b"')
    await ask(ReasoningStripping(foreign), CHAT, BODY)
    assert b"reasoning" not in foreign.seen[0]  # what ours did outside is in the bytes it sees
    assert upstream.bodies == [SORTED.replace(b'"a"', b'"b"')]


async def test_a_foreign_middleware_inside_gets_the_sorted_bytes() -> None:
    upstream = Upstream()
    foreign = Rewriting(upstream, b'"a"', b'"b"')
    await ask(ReasoningStripping(KeyCanonicalization(foreign)), CHAT, BODY)
    assert foreign.seen == [SORTED]
    assert upstream.bodies == [SORTED.replace(b'"a"', b'"b"')]


@pytest.mark.parametrize("wrap", [lambda app: app, Idle])
async def test_the_body_is_decoded_once(wrap: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    decoded: list[bytes] = []
    decode = lossless.decode_object

    def counted(data: bytes, **how: Any) -> Any:
        decoded.append(data)
        return decode(data, **how)

    monkeypatch.setattr(lossless, "decode_object", counted)
    upstream = Upstream()
    app = ReasoningStripping(wrap(KeyCanonicalization(upstream)))
    await ask(app, CHAT, BODY)
    assert upstream.bodies == [SORTED]
    assert len(decoded) == 1


async def test_a_body_that_nobody_changes_stays_byte_for_byte() -> None:
    upstream = Upstream()
    body = b'{"model": "m",   "messages": []}'
    await ask(ReasoningStripping(upstream), CHAT, body)
    assert upstream.bodies == [body]


async def test_the_headers_do_not_lie_about_the_length() -> None:
    upstream = Upstream()
    await ask(KeyCanonicalization(upstream), CHAT, BODY)
    assert not any(name == b"content-length" for name, _ in upstream.scopes[0]["headers"])


async def test_a_body_in_pieces() -> None:
    upstream = Upstream()
    data = json.dumps(BODY).encode()
    await ask(KeyCanonicalization(upstream), CHAT, pieces=[data[:5], data[5:9], data[9:]])
    assert json.loads(upstream.bodies[0]) == BODY


@pytest.mark.parametrize(
    ("encoding", "pack"),
    [
        ("gzip", gzip.compress),
        ("deflate", zlib.compress),
        ("deflate", lambda data: zlib.compress(data, wbits=-15)),
        ("identity", lambda data: data),
    ],
)
async def test_compressed_bodies(encoding: str, pack: Any) -> None:
    upstream = Upstream()
    packed = pack(json.dumps(BODY).encode())
    await ask(KeyCanonicalization(upstream), CHAT, packed, headers={"content-encoding": encoding})
    assert json.loads(upstream.bodies[0]) == BODY
    assert not any(name == b"content-encoding" for name, _ in upstream.scopes[0]["headers"])


def test_bodies_that_cannot_be_unpacked(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InvalidRequest, match="'br' is not supported"):
        inflate(b"", "br")
    with pytest.raises(InvalidRequest, match="is no gzip data"):
        inflate(b"{}", "gzip")
    monkeypatch.setattr(module, "MAX_INFLATED_BYTES", 1000)
    with pytest.raises(BodyTooLarge):
        inflate(gzip.compress(b"x" * 2000), "gzip")


async def test_a_client_that_leaves_in_its_body() -> None:
    async def receive() -> Message:
        return {"type": "http.disconnect"}

    with pytest.raises(ClientDisconnected):
        await Body(receive).read()


def test_a_body_of_ours_is_taken_as_it_is() -> None:
    async def receive() -> Message:
        raise AssertionError

    scope, body = open_body(scope_for("POST", CHAT, []), receive)
    assert open_body(scope, body) == (scope, body)


@pytest.mark.parametrize(
    ("method", "path", "name"),
    [
        ("POST", "/v1/chat/completions", "chat"),
        ("POST", "/v1/messages", "messages"),
        ("POST", "/v1/responses", "responses"),
        ("POST", "/llm/v1/responses", "responses"),
        ("POST", "/chat/completions", "chat"),
        ("GET", "/v1/chat/completions", None),
        ("POST", "/v1/messages/count_tokens", None),
        ("POST", "/v1/threads/thread_1/messages", None),
        ("POST", "/v1/embeddings", None),
    ],
)
def test_endpoints(method: str, path: str, name: str | None) -> None:
    codec = endpoint(scope_for(method, path, []))
    assert (codec.name if codec else None) == name


def test_the_exchange_is_made_once() -> None:
    scope = scope_for("POST", CHAT, [])
    assert Exchange.of(scope) is Exchange.of({**scope})
