"""A store that is disabled, not installed, or fails."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.asgi import ask
from tests.middlewares.response_store.gateway import (
    CHAT,
    Gateway,
    answer,
    events_of,
    streamed,
)
from toolwire.config.model import ResponsesStore
from toolwire.middlewares.error_reply import ErrorReply
from toolwire.proxy.asgi import Receive, Scope, Send
from toolwire.proxy.exchange import open_body
from toolwire.proxy.store import MemoryStore, NoStore, Store, StoreUnavailable, open_store
from toolwire.proxy.store.unresolved import reference_error


class Failing(MemoryStore):
    """A database that cannot be reached."""

    failing = True

    async def save(self, response: Any) -> None:
        raise StoreUnavailable

    async def find(self, owner: str, response_id: str) -> None:
        raise StoreUnavailable

    async def delete(self, owner: str, response_id: str) -> bool:
        raise StoreUnavailable


@streamed
async def test_without_the_database_the_request_is_answered(streamed: bool) -> None:
    gateway = Gateway(Failing())
    reply = await gateway.answers(answer("resp_1"), stream=streamed)
    assert reply.complete
    assert reply.headers["x-toolwire-dropped"] == "store"
    assert [(loss.path, loss.kind) for loss in gateway.exchange.losses] == [("store", "dropped")]
    if streamed:
        assert events_of(reply)[-1]["response"] == answer("resp_1")
    else:
        assert reply.json() == answer("resp_1")


async def test_the_report_header_keeps_what_it_says() -> None:
    gateway = Gateway(Failing())

    async def inner(scope: Scope, receive: Receive, send: Send) -> None:
        headers = [(b"content-type", b"application/json"), (b"x-toolwire-dropped", b"seed")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": json.dumps(answer("resp_1")).encode()})

    gateway.inner = inner
    reply = await gateway.create("hi")
    assert reply.headers["x-toolwire-dropped"] == "seed, store"


@pytest.mark.parametrize(
    ("method", "path"),
    [("GET", "resp_1"), ("DELETE", "resp_1"), ("GET", "resp_1/input_items")],
)
async def test_without_the_database_nothing_can_be_asked_for(method: str, path: str) -> None:
    gateway = Gateway(Failing())
    reply = await gateway.get(path, method=method)
    assert reply.status == 503
    assert "response store" in reply.json()["error"]["message"]


async def refuse(scope: Scope, receive: Receive, send: Send) -> None:
    """What a conversion does that finds an id it cannot serve."""
    scope, body = open_body(scope, receive)
    document = await body.document()
    if "previous_response_id" in document:
        name = document["previous_response_id"]
        raise reference_error(scope, name, "previous_response_id")
    raise reference_error(scope, document["input"][0]["id"], "input[0].id")


REFERENCE = [{"type": "item_reference", "id": "msg_x"}]


@pytest.mark.parametrize(
    ("store", "status", "code", "says"),
    [
        (Failing(), 503, "response_store_unavailable", "try again"),
        (MemoryStore(), 400, "not_found", "not found."),
        (NoStore("the store is disabled"), 400, "not_found", "not found. The store is disabled."),
    ],
)
async def test_an_id_that_is_needed_and_not_there(
    store: Store, status: int, code: str, says: str
) -> None:
    gateway = Gateway(store)
    gateway.inner = refuse
    reply = await gateway.create("hi", previous_response_id="resp_x")
    assert reply.status == status
    error = reply.json()["error"]
    assert error["code"].endswith(code)
    assert error["message"].endswith(says) or says in error["message"]
    if status == 400:
        assert error["param"] == "previous_response_id"
        assert error["code"] == "previous_response_not_found"
        reply = await gateway.create(REFERENCE)
        assert reply.json()["error"]["param"] == "input[0].id"
        assert reply.json()["error"]["code"] == "item_not_found"
        assert "msg_x" in reply.json()["error"]["message"]


async def test_where_the_middleware_is_not_in_the_stack_that_is_what_is_said() -> None:
    body = {"model": "m", "input": "hi", "previous_response_id": "resp_x"}
    reply = await ask(ErrorReply(refuse), "/v1/responses", body)
    assert reply.status == 400
    assert "[middlewares.response_store]" in reply.json()["error"]["message"]


@streamed
@pytest.mark.parametrize("keep", [True, None, False])
async def test_a_store_that_was_asked_for_and_is_not_there_is_reported(
    streamed: bool, keep: bool | None
) -> None:
    gateway = Gateway(open_store(ResponsesStore(enabled=False)))
    more = {} if keep is None else {"store": keep}
    reply = await gateway.answers(answer("resp_1"), stream=streamed, **more)
    assert reply.headers.get("x-toolwire-dropped") == ("store" if keep else None)
    assert len(gateway.exchange.losses) == (1 if keep else 0)
    gateway.build([CHAT])
    missing = await gateway.get("resp_1")
    assert missing.status == 404
    assert "[responses_store]" in missing.json()["error"]["message"]
