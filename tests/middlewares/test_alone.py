"""Each middleware alone, as ``Middleware(...)`` of a plain Starlette app, before other apps."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from prometheus_client import REGISTRY
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route, WebSocketRoute
from starlette.testclient import TestClient
from starlette.websockets import WebSocket
from structlog.testing import capture_logs

from tests.proxy.gateway import ANSWER, chunk
from toolwire.config.model import Upstream
from toolwire.config.secret import Secret
from toolwire.middlewares import (
    access_log,
    answer_repair,
    auth,
    body_limit,
    count_tokens,
    error_reply,
    key_canonicalization,
    metrics,
    model_list,
    reasoning_stripping,
    request_id,
    response_store,
    routing,
    sse_rechunking,
    thinking_auto_disable,
    tool_schema_conversion,
)
from toolwire.proxy.errors import RateLimited
from toolwire.proxy.stack import STACK

CHAT = "/v1/chat/completions"
QUESTION = {"role": "user", "content": "a"}
ASK: dict[str, Any] = {"model": "m", "max_tokens": 9, "messages": [QUESTION]}
UPSTREAM = Upstream(name="up", protocol="chat", base_url="http://127.0.0.1:1", models=("m",))


class App:
    """Somebody's app, which speaks chat: it notes what it gets, and answers what it is told."""

    def __init__(self, answer: Callable[[], Response] | None = None) -> None:
        self.answer = answer or (lambda: JSONResponse(ANSWER))
        self.bodies: list[bytes] = []
        self.paths: list[str] = []

    async def take(self, request: Request) -> Response:
        self.bodies.append(await request.body())
        self.paths.append(request.url.path)
        return self.answer()

    def behind(self, *middlewares: Middleware) -> TestClient:
        """A client of this app with ``middlewares`` before it."""
        routes = [
            Route("/hello", lambda _: PlainTextResponse("hello")),
            Route("/{path:path}", self.take, methods=["GET", "POST"]),
            WebSocketRoute("/socket", _greet),
        ]
        app = Starlette(routes=routes, middleware=list(middlewares))
        return TestClient(app, raise_server_exceptions=False)


async def _greet(socket: WebSocket) -> None:
    await socket.accept()
    await socket.send_text("hello")
    await socket.close()


ALONE = {
    "request_id": Middleware(request_id.RequestId),
    "access_log": Middleware(access_log.AccessLog),
    "metrics": Middleware(metrics.Metrics),
    "error_reply": Middleware(error_reply.ErrorReply),
    "auth": Middleware(auth.Auth, keys=[Secret("sk-client")]),
    "body_limit": Middleware(body_limit.BodyLimit, max_bytes=1000),
    "model_list": Middleware(model_list.ModelList, upstreams=[UPSTREAM]),
    "response_store": Middleware(response_store.ResponseStore),
    "routing": Middleware(routing.Routing, upstreams=[UPSTREAM], default_upstream="up"),
    "count_tokens": Middleware(count_tokens.CountTokens),
    "tool_schema_conversion": Middleware(
        tool_schema_conversion.ToolSchemaConversion, upstream=UPSTREAM
    ),
    "reasoning_stripping": Middleware(reasoning_stripping.ReasoningStripping),
    "thinking_auto_disable": Middleware(thinking_auto_disable.ThinkingAutoDisable),
    "key_canonicalization": Middleware(key_canonicalization.KeyCanonicalization),
    "answer_repair": Middleware(answer_repair.AnswerRepair),
    "sse_rechunking": Middleware(sse_rechunking.SSERechunking),
}
KEY = {"authorization": "Bearer sk-client"}


def test_every_middleware_is_tried() -> None:
    assert list(ALONE) == [step.name for step in STACK]


@pytest.mark.parametrize("name", ALONE)
def test_requests_of_the_api_reach_the_app(name: str) -> None:
    app = App()
    with app.behind(ALONE[name]) as client:
        answer = client.post(CHAT, json=ASK, headers=KEY)
        assert answer.status_code == 200
        assert answer.json()["choices"][0]["message"]["content"] == "whole"
    assert json.loads(app.bodies[0]) == ASK


@pytest.mark.parametrize("name", ALONE)
def test_streams_come_back(name: str) -> None:
    async def events() -> AsyncIterator[bytes]:
        yield chunk({"role": "assistant", "content": "a"}, None)
        yield chunk({}, "stop") + b"data: [DONE]\n\n"

    app = App(lambda: StreamingResponse(events(), media_type="text/event-stream"))
    with app.behind(ALONE[name]) as client:
        answer = client.post(CHAT, json={**ASK, "stream": True}, headers=KEY)
    whole = chunk({"role": "assistant", "content": "a"}, None) + chunk({}, "stop")
    assert answer.content == whole + b"data: [DONE]\n\n"


@pytest.mark.parametrize("name", set(ALONE) - {"routing"})
def test_everything_else_passes(name: str) -> None:
    """Routing alone refuses what is not under an API."""
    with App().behind(ALONE[name]) as client:
        assert client.get("/hello", headers=KEY).text == "hello"
        assert client.get("/v1/files/1", headers=KEY).status_code == 200
        with client.websocket_connect("/socket") as socket:
            assert socket.receive_text() == "hello"


def test_ids() -> None:
    with App().behind(ALONE["request_id"]) as client:
        assert client.get("/hello").headers["x-request-id"].startswith("req_")


def test_a_log_line() -> None:
    with App().behind(ALONE["access_log"]) as client, capture_logs() as log:
        client.post(CHAT, json=ASK)
    assert [line["status"] for line in log if line["event"] == "request"] == [200]


def test_a_count() -> None:
    def count() -> float:
        labels = {"client": "chat", "upstream": "", "model": "", "status": "200"}
        return REGISTRY.get_sample_value("toolwire_requests_total", labels) or 0.0

    before = count()
    with App().behind(ALONE["metrics"]) as client:
        client.post(CHAT, json=ASK)
    assert count() == before + 1


def test_errors_in_the_client_s_shape() -> None:
    def refuse() -> Response:
        raise RateLimited("slow down", headers={"retry-after": "3"})

    with App(refuse).behind(ALONE["error_reply"]) as client:
        answer = client.post("/v1/messages", json=ASK)
    assert (answer.status_code, answer.headers["retry-after"]) == (429, "3")
    error = answer.json()["error"]
    assert (error["type"], error["message"]) == ("rate_limit_error", "slow down")


@pytest.mark.parametrize(
    ("name", "path", "body", "status"),
    [
        ("auth", CHAT, b"{}", 401),
        ("body_limit", CHAT, b"x" * 1001, 413),
        ("key_canonicalization", CHAT, b"{", 400),
        ("tool_schema_conversion", "/v1/messages", b"[]", 400),
        ("routing", CHAT, b'{"model": "other"}', 404),
    ],
)
def test_what_they_refuse(name: str, path: str, body: bytes, status: int) -> None:
    """With the error reply before them; without it their exceptions are the app's own."""
    with App().behind(ALONE["error_reply"], ALONE[name]) as client:
        answer = client.post(path, content=body)
    assert answer.status_code == status
    assert answer.json()["error"]["message"]


def test_models() -> None:
    with App().behind(ALONE["model_list"]) as client:
        assert [model["id"] for model in client.get("/v1/models").json()["data"]] == ["m"]


def test_tokens() -> None:
    with App().behind(ALONE["count_tokens"]) as client:
        answer = client.post("/v1/messages/count_tokens", json=ASK)
        assert answer.json()["input_tokens"] > 0


@pytest.mark.parametrize(
    ("path", "body"),
    [("/v1/messages", ASK), ("/v1/responses", {"model": "m", "input": "a"}), (CHAT, ASK)],
)
def test_an_app_that_speaks_chat_speaks_everything(path: str, body: dict[str, Any]) -> None:
    app = App()
    with app.behind(ALONE["tool_schema_conversion"]) as client:
        answer = client.post(path + "?beta=true", json=body)
    assert answer.status_code == 200
    assert "whole" in answer.text
    assert app.paths == [CHAT]
    assert json.loads(app.bodies[0])["messages"] == [QUESTION]


def test_reasoning_is_stripped() -> None:
    history = [{"role": "assistant", "content": "b", "reasoning_content": "why"}]
    app = App()
    with app.behind(ALONE["reasoning_stripping"]) as client:
        client.post(CHAT, json={**ASK, "messages": [QUESTION, *history]})
    assert b"why" not in app.bodies[0]


def test_keys_are_sorted() -> None:
    app = App()
    with app.behind(ALONE["key_canonicalization"]) as client:
        client.post(CHAT, content=b'{"model": "m", "b": {"d": 1, "c": 2}, "a": []}')
    assert app.bodies == [b'{"a":[],"b":{"c":2,"d":1},"model":"m"}']


def test_whole_answers_are_repaired() -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": {"a": 1}}}
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    app = App(lambda: JSONResponse({**ANSWER, "choices": [choice]}))
    with app.behind(ALONE["answer_repair"]) as client:
        repaired = client.post(CHAT, json=ASK).json()["choices"][0]
    assert repaired["finish_reason"] == "tool_calls"
    assert repaired["message"]["tool_calls"][0]["function"]["arguments"] == '{"a":1}'


def test_streams_are_repaired() -> None:
    async def events() -> AsyncIterator[bytes]:
        for byte in chunk({"role": "assistant", "content": "\u00e9"}, None) + chunk({}, "stop"):
            yield bytes([byte])

    app = App(lambda: StreamingResponse(events(), media_type="text/event-stream"))
    with app.behind(ALONE["sse_rechunking"]) as client:
        answer = client.post(CHAT, json={**ASK, "stream": True})
    assert answer.content.endswith(b"data: [DONE]\n\n")
    assert answer.headers["x-accel-buffering"] == "no"
