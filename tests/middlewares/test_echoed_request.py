"""A response repeats some of its request, also where the upstream forgets to."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.asgi import Upstream, ask
from toolwire.middlewares.answer_repair import AnswerRepair
from toolwire.middlewares.key_canonicalization import KeyCanonicalization
from toolwire.middlewares.sse_rechunking import SSERechunking
from toolwire.proxy.asgi import ASGIApp

REQUEST = {"model": "m", "input": "hi", "tool_choice": "none"}
BARE = {"id": "resp_1", "object": "response", "created_at": 1, "status": "completed", "output": []}


def whole() -> ASGIApp:
    return AnswerRepair(Upstream(json.dumps(BARE).encode()))


def streamed() -> ASGIApp:
    event = {"type": "response.completed", "response": BARE}
    data = f"event: response.completed\ndata: {json.dumps(event)}\n\n".encode()
    return SSERechunking(Upstream(data, content_type="text/event-stream"))


async def response_to(app: ASGIApp, stream: bool) -> dict[str, Any]:
    reply = await ask(app, "/v1/responses", {**REQUEST, "stream": stream})
    data = reply.body.rpartition(b"data: ")[2]
    document: dict[str, Any] = json.loads(data)
    return document.get("response", document)


@pytest.mark.parametrize("app", [whole, streamed])
async def test_the_request_is_repeated_where_it_is_known(app: Any) -> None:
    response = await response_to(KeyCanonicalization(app()), app is streamed)
    assert (response["tool_choice"], response["model"], response["tools"]) == ("none", "m", [])


@pytest.mark.parametrize("app", [whole, streamed])
async def test_a_request_that_nobody_reads_is_not_read_for_it(app: Any) -> None:
    response = await response_to(app(), app is streamed)
    assert (response["tool_choice"], response["model"], response["tools"]) == ("auto", "", [])
