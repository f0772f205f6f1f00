"""Which upstream a request goes to."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from tests.asgi import ask
from toolwire.config.model import Upstream
from toolwire.middlewares.error_reply import ErrorReply
from toolwire.middlewares.model_list import ModelList
from toolwire.middlewares.routing import Routing
from toolwire.proxy.asgi import Receive, Scope, Send
from toolwire.proxy.errors import UpstreamUnreachable
from toolwire.proxy.exchange import Exchange


def upstream(name: str, *models: str, protocol: Any = "chat") -> Upstream:
    return Upstream(name=name, protocol=protocol, base_url="http://u", models=models)


UPSTREAMS = [
    upstream("qwen", "qwen*", "shared-1"),
    upstream("claude", "claude-[45]", "shared-1", protocol="messages"),
    upstream("rest", "*"),
]
CHAT = "/v1/chat/completions"


class Seen:
    """The app inside: says who was asked for what, and may be unreachable."""

    def __init__(self, *down: str) -> None:
        self.down = down
        self.asked: list[str] = []

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        exchange = Exchange.of(scope)
        assert exchange.upstream is not None
        self.asked.append(exchange.upstream.name)
        if exchange.upstream.name in self.down:
            raise UpstreamUnreachable("down")
        body, more = b"", True
        while more:
            message = await receive()
            body, more = body + message["body"], message.get("more_body", False)
        told = json.dumps({"upstream": exchange.upstream.name, "body": body.decode()}).encode()
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": told})


def routing(inner: Seen, *, upstreams: Any = None, decodes: bool = True) -> ErrorReply:
    found = UPSTREAMS if upstreams is None else upstreams
    return ErrorReply(
        Routing(inner, upstreams=found, default_upstream=found[-1].name, decodes=decodes)
    )


@pytest.mark.parametrize("decodes", [True, False])
@pytest.mark.parametrize(
    ("model", "name", "sent"),
    [
        ("qwen-max", "qwen", "qwen-max"),
        ("claude-4", "claude", "claude-4"),
        ("claude-3", "rest", "claude-3"),
        ("shared-1", "qwen", "shared-1"),
        ("claude/shared-1", "claude", "shared-1"),
        ("qwen/claude-4", "qwen", "claude-4"),
        ("deepseek-ai/deepseek-v3", "rest", "deepseek-ai/deepseek-v3"),
        ("rest/deepseek-ai/deepseek-v3", "rest", "deepseek-ai/deepseek-v3"),
    ],
)
async def test_by_model(model: str, name: str, sent: str, decodes: bool) -> None:
    reply = await ask(routing(Seen(), decodes=decodes), CHAT, {"model": model, "x": 1})
    assert reply.json()["upstream"] == name
    assert json.loads(reply.json()["body"]) == {"model": sent, "x": 1}


async def test_a_body_without_a_prefix_is_not_touched() -> None:
    body = b'{"model":  "qwen-max"}'
    reply = await ask(routing(Seen(), decodes=False), CHAT, body)
    assert reply.json()["body"] == body.decode()


async def test_the_next_that_matches_is_asked_when_one_cannot_be_reached() -> None:
    inner = Seen("qwen", "claude")
    reply = await ask(routing(inner), CHAT, {"model": "shared-1"})
    assert reply.json()["upstream"] == "rest"
    assert inner.asked == ["qwen", "claude", "rest"]


async def test_the_last_one_s_error_is_the_client_s() -> None:
    reply = await ask(routing(Seen("qwen", "claude", "rest")), CHAT, {"model": "shared-1"})
    assert (reply.status, reply.json()["error"]["code"]) == (502, "upstream_unreachable")


@pytest.mark.parametrize("body", [{"model": "gpt"}, {}, {"model": None}, {"model": ""}])
@pytest.mark.parametrize(("path", "at"), [(CHAT, "error"), ("/v1/messages", "error")])
async def test_a_model_nobody_serves(path: str, at: str, body: Any) -> None:
    reply = await ask(routing(Seen(), upstreams=UPSTREAMS[:2]), path, body)
    assert reply.status == 404
    message = reply.json()[at]["message"]
    assert "shared-1" in message
    assert "qwen/qwen*" in message
    if path == "/v1/messages":
        assert reply.json()["type"] == "error"
        assert reply.json()["error"]["type"] == "not_found_error"
    else:
        assert reply.json()["error"]["param"] == "model"


async def test_a_model_of_a_wrong_type() -> None:
    reply = await ask(routing(Seen()), CHAT, {"model": 7})
    assert reply.status == 400
    assert "model must be a string, not an integer" in reply.json()["error"]["message"]


@pytest.mark.parametrize("decodes", [True, False])
async def test_a_body_that_is_no_json(decodes: bool) -> None:
    reply = await ask(routing(Seen(), decodes=decodes), CHAT, b'{"model": }')
    assert reply.status == 400
    assert "line 1, column 11" in reply.json()["error"]["message"]


async def test_other_paths_go_by_their_model_or_by_default() -> None:
    json_type = {"content-type": "application/json"}
    app = routing(Seen())
    for body, name in [({"model": "qwen-e"}, "qwen"), ({}, "rest"), ([1], "rest")]:
        reply = await ask(app, "/v1/embeddings", body, headers=json_type)
        assert reply.json()["upstream"] == name
        assert json.loads(reply.json()["body"]) == body
    reply = await ask(app, "/v1/files", method="GET")
    assert reply.json()["upstream"] == "rest"


@pytest.mark.parametrize(
    ("encoding", "said"), [("br", "'br' is not supported"), ("gzip", "the body is no gzip data")]
)
async def test_what_cannot_be_unpacked_is_refused_on_other_paths_too(
    encoding: str, said: str
) -> None:
    headers = {"content-type": "application/json", "content-encoding": encoding}
    async with asyncio.timeout(5):
        reply = await ask(routing(Seen()), "/v1/embeddings", b"{}", headers=headers)
    assert reply.status == 400
    assert said in reply.json()["error"]["message"]


async def test_forms_go_by_their_model() -> None:
    form = (
        b'--b\r\nContent-Disposition: form-data; name="model"\r\n\r\nclaude/whisper\r\n'
        b'--b\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\nDATA'
    )
    reply = await ask(
        routing(Seen()),
        "/v1/audio/transcriptions",
        pieces=[form, b"MORE\r\n--b--\r\n"],
        headers={"content-type": "multipart/form-data; boundary=b"},
    )
    assert reply.json()["upstream"] == "claude"
    assert "\r\n\r\nwhisper\r\n" in reply.json()["body"]
    assert "DATAMORE" in reply.json()["body"]


async def test_no_such_path() -> None:
    reply = await ask(routing(Seen()), "/", method="GET")
    assert reply.status == 404
    assert "/v1/" in reply.json()["error"]["message"]


async def test_models_are_listed_in_the_client_s_shape() -> None:
    app = ErrorReply(ModelList(Seen(), upstreams=UPSTREAMS))
    reply = await ask(app, "/v1/models", method="GET")
    names = [model["id"] for model in reply.json()["data"]]
    assert names == ["shared-1", "qwen/shared-1", "claude/shared-1"]
    assert reply.json()["data"][0] == {
        "id": "shared-1",
        "object": "model",
        "created": 0,
        "owned_by": "qwen",
    }
    headers = {"anthropic-version": "2023-06-01"}
    reply = await ask(app, "/v1/models", method="GET", headers=headers)
    assert [model["type"] for model in reply.json()["data"]] == ["model"] * 3
    assert reply.json()["has_more"] is False
    assert reply.json()["first_id"] == "shared-1"


async def test_one_model() -> None:
    app = ErrorReply(ModelList(Seen(), upstreams=UPSTREAMS[:2]))
    assert (await ask(app, "/v1/models/qwen-7", method="GET")).json()["owned_by"] == "qwen"
    missing = await ask(app, "/v1/models/gpt", method="GET")
    assert (missing.status, missing.json()["error"]["code"]) == (404, "model_not_found")
