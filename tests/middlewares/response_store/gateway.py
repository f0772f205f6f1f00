"""The middleware between a client and a fake upstream, and what they say."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.asgi import Reply, ask
from tests.asgi import Upstream as Inner
from toolwire.config.model import Upstream
from toolwire.middlewares.error_reply import ErrorReply
from toolwire.middlewares.response_store import ResponseStore
from toolwire.proxy.asgi import ASGIApp, Receive, Scope, Send
from toolwire.proxy.exchange import Exchange
from toolwire.proxy.store import Store

CHAT = Upstream(name="chat", protocol="chat", base_url="http://127.0.0.1:1", models=("qwen*",))
NATIVE = Upstream(name="native", protocol="responses", base_url="http://127.0.0.1:2")
USER = {"role": "user", "content": "hi"}
SEALED = {"id": "rs_1", "type": "reasoning", "summary": [], "encrypted_content": "toolwire:x"}


def text_message(name: str, text: str = "hello") -> dict[str, Any]:
    content = [{"type": "output_text", "text": text, "annotations": [], "logprobs": []}]
    return {
        "id": name,
        "type": "message",
        "role": "assistant",
        "status": "completed",
        "content": content,
    }


def answer(name: str, *output: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A response object with what the SDK's types demand."""
    return {
        "id": name,
        "object": "response",
        "created_at": 1700000000,
        "status": "completed",
        "model": "qwen3",
        "output": list(output) or [text_message(f"msg_of_{name}")],
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "previous_response_id": None,
        **more,
    }


def stream(response: dict[str, Any], last: str = "response.completed") -> list[bytes]:
    """The events of a streamed answer, each in one write but for the last three."""
    begun = {**response, "status": "in_progress", "output": []}
    delta = {"item_id": "msg_1", "output_index": 0, "content_index": 0, "delta": "hel"}
    events: list[tuple[str, dict[str, Any]]] = [
        ("response.created", {"response": begun}),
        ("response.in_progress", {"response": begun}),
        *[("response.output_text.delta", delta)] * 3,
        (last, {"response": response}),
    ]
    writes = [
        b"event: %b\ndata: %b\n\n"
        % (
            name.encode(),
            json.dumps({"type": name, "sequence_number": number, **data}).encode(),
        )
        for number, (name, data) in enumerate(events)
    ]
    return [*writes[:-2], b"".join(writes[-2:])]


def events_of(reply: Reply) -> list[dict[str, Any]]:
    lines = [line for line in reply.body.decode().splitlines() if line.startswith("data: ")]
    return [json.loads(line.removeprefix("data: ")) for line in lines]


class Gateway:
    """The middleware between the error reply and an upstream that is chosen inside of it."""

    def __init__(self, store: Store, chosen: Upstream = CHAT) -> None:
        self.store = store
        self.chosen = chosen
        self.inner: Any = Inner()
        self.build([CHAT, NATIVE])

    def build(self, upstreams: list[Upstream]) -> None:
        self.app: ASGIApp = ErrorReply(
            ResponseStore(self.upstream, store=self.store, upstreams=upstreams)
        )

    async def upstream(self, scope: Scope, receive: Receive, send: Send) -> None:
        exchange = Exchange.of(scope)
        self.exchange = exchange
        exchange.upstream = exchange.upstream or self.chosen
        await self.inner(scope, receive, send)

    async def create(self, given: Any, *, by: str = "ada", **more: Any) -> Reply:
        body = {"model": "qwen3", "input": given, **more}
        return await ask(self.app, "/v1/responses", body, headers=key(by))

    async def answers(self, response: dict[str, Any], given: Any = "hi", **more: Any) -> Reply:
        """Asks for ``response``, streamed where the request says so."""
        if more.get("stream"):
            last = f"response.{response['status']}"
            self.inner = Inner(stream(response, last), content_type="text/event-stream")
        else:
            self.inner = Inner(json.dumps(response).encode())
        reply = await self.create(given, **more)
        assert reply.status == 200, reply.body
        return reply

    async def get(
        self, path: str, *, method: str = "GET", by: str = "ada", query: str = ""
    ) -> Reply:
        return await ask(
            self.app,
            f"/v1/responses/{path}",
            method=method,
            headers=key(by),
            query_string=query.encode(),
        )

    @property
    def sent(self) -> Any:
        """The request that went inwards last."""
        return self.inner.document


def key(client: str) -> dict[str, str]:
    return {"authorization": f"Bearer {client}"} if client else {}


streamed = pytest.mark.parametrize("streamed", [False, True], ids=["whole", "stream"])
