"""The small ones that know HTTP: request id, errors, keys, sizes."""

from __future__ import annotations

from typing import Any

import pytest

from tests.asgi import Upstream, ask
from toolwire.config.secret import Secret
from toolwire.middlewares.auth import Auth
from toolwire.middlewares.body_limit import BodyLimit
from toolwire.middlewares.error_reply import ErrorReply
from toolwire.middlewares.request_id import Options, RequestId
from toolwire.proxy.asgi import Receive, Scope, Send
from toolwire.proxy.errors import ClientDisconnected, RateLimited, UpstreamCut

CHAT = "/v1/chat/completions"


# request id ------------------------------------------------------------------------------------
async def test_every_answer_has_an_id() -> None:
    reply = await ask(RequestId(Upstream()), CHAT, {})
    assert reply.headers["x-request-id"].startswith("req_")
    assert reply.headers["x-toolwire-request-id"] == reply.headers["x-request-id"]


async def test_a_client_s_plain_id_is_taken_over() -> None:
    app = RequestId(Upstream())
    assert (await ask(app, CHAT, {}, headers={"x-request-id": "abc-1"})).headers[
        "x-request-id"
    ] == "abc-1"
    forged = await ask(app, CHAT, {}, headers={"x-request-id": "a\nb"})
    assert forged.headers["x-request-id"].startswith("req_")
    distrusting = RequestId(Upstream(), Options(trust_client=False))
    reply = await ask(distrusting, CHAT, {}, headers={"x-request-id": "abc-1"})
    assert reply.headers["x-request-id"] != "abc-1"


# errors ----------------------------------------------------------------------------------------
class Raising:
    def __init__(self, error: BaseException, *, after_start: bool = False) -> None:
        self.error, self.after_start = error, after_start

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self.after_start:
            await send({"type": "http.response.start", "status": 200, "headers": []})
        raise self.error


@pytest.mark.parametrize(
    ("path", "shape"),
    [
        (
            CHAT,
            {
                "error": {
                    "message": "slow down",
                    "type": "rate_limit_error",
                    "param": None,
                    "code": "rate_limit_exceeded",
                }
            },
        ),
        (
            "/v1/messages",
            {"type": "error", "error": {"type": "rate_limit_error", "message": "slow down"}},
        ),
        ("/v1/messages/batches", {"type": "error"}),
        ("/v1/embeddings", {"error": {"message": "slow down", "type": "rate_limit_error"}}),
    ],
)
async def test_errors_have_the_client_s_shape(path: str, shape: dict[str, Any]) -> None:
    error = RateLimited("slow down", headers={"retry-after": "3"})
    reply = await ask(ErrorReply(Raising(error)), path, {})
    assert reply.status == 429
    assert reply.headers["retry-after"] == "3"
    found = reply.json()
    for key, value in shape.items():
        if isinstance(value, dict):
            assert value.items() <= found[key].items()
        else:
            assert found[key] == value


async def test_the_unforeseen_is_a_500_that_shows_nothing() -> None:
    reply = await ask(ErrorReply(Raising(KeyError("sk-secret"))), CHAT, {})
    assert reply.status == 500
    assert "sk-secret" not in reply.body.decode()
    assert "request id req_" in reply.json()["error"]["message"]


@pytest.mark.parametrize("error", [UpstreamCut("cut"), KeyError("x")])
async def test_a_begun_answer_is_broken_off(error: Exception) -> None:
    with pytest.raises(type(error)):
        await ask(ErrorReply(Raising(error, after_start=True)), CHAT, {})


async def test_a_client_that_left_is_answered_nothing() -> None:
    reply = await ask(ErrorReply(Raising(ClientDisconnected())), CHAT, {})
    assert reply.status == 0


# keys ------------------------------------------------------------------------------------------
KEYS = [Secret("sk-one"), Secret("sk-two")]


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"authorization": "Bearer sk-one"}, 200),
        ({"authorization": "bearer sk-two"}, 200),
        ({"x-api-key": "sk-two"}, 200),
        ({"x-api-key": "sk-one", "authorization": "Bearer other"}, 200),
        ({"authorization": "Bearer sk-on"}, 401),
        ({"authorization": "Basic sk-one"}, 401),
        ({"x-api-key": ""}, 401),
        ({}, 401),
    ],
)
async def test_keys(headers: dict[str, str], status: int) -> None:
    reply = await ask(ErrorReply(Auth(Upstream(), keys=KEYS)), CHAT, {}, headers=headers)
    assert reply.status == status
    if status == 401:
        assert reply.json()["error"]["type"] == "authentication_error"
        assert "sk-" not in reply.body.decode()


# sizes -----------------------------------------------------------------------------------------
async def test_a_large_body_is_refused_by_its_length_or_as_it_comes() -> None:
    upstream = Upstream()
    app = ErrorReply(BodyLimit(upstream, max_bytes=10))
    assert (await ask(app, CHAT, b"x" * 10)).status == 200
    assert (await ask(app, CHAT, b"x" * 11)).status == 413
    assert (await ask(app, CHAT, pieces=[b"x" * 6, b"x" * 5])).status == 413
    assert (await ask(app, CHAT, pieces=[b"x" * 5, b"x" * 5])).status == 200
    assert len(upstream.bodies) == 2
