"""``GET`` and ``DELETE /v1/responses/{id}``, and what belongs to it."""

from __future__ import annotations

from typing import Any

import pytest
from openai.types.responses import Response, ResponseItem
from openai.types.responses.response_item_list import ResponseItemList
from pydantic import TypeAdapter

from tests.asgi import Upstream as Inner
from tests.asgi import ask
from tests.middlewares.response_store.gateway import (
    CHAT,
    NATIVE,
    USER,
    Gateway,
    answer,
    key,
)
from toolwire.middlewares.response_store import ResponseStore
from toolwire.proxy.asgi import Receive, Scope, Send
from toolwire.proxy.store import MemoryStore


async def test_a_response_is_answered_as_it_was(gateway: Gateway) -> None:
    created = await gateway.answers(answer("resp_1"))
    reply = await gateway.get("resp_1")
    assert reply.status == 200
    assert reply.body == created.body
    assert Response.model_validate_json(reply.body, strict=True).output_text == "hello"


async def test_a_streamed_response_is_answered_whole(gateway: Gateway) -> None:
    await gateway.answers(answer("resp_1"))
    await gateway.answers(answer("resp_2"), stream=True, previous_response_id="resp_1")
    reply = await gateway.get("resp_2")
    assert reply.json() == answer("resp_2", previous_response_id="resp_1")


async def test_a_deleted_response_is_gone(gateway: Gateway) -> None:
    gateway.build([CHAT])
    await gateway.answers(answer("resp_1"))
    reply = await gateway.get("resp_1", method="DELETE")
    assert reply.json() == {"id": "resp_1", "object": "response", "deleted": True}
    for method in ("DELETE", "GET"):
        reply = await gateway.get("resp_1", method=method)
        assert reply.status == 404
        assert reply.json()["error"]["message"] == "Response with id 'resp_1' not found."


async def test_the_input_items_are_listed(gateway: Gateway) -> None:
    call = {"type": "function_call", "call_id": "c", "name": "now", "arguments": "{}"}
    result = {"type": "function_call_output", "call_id": "c", "output": "noon"}
    said = {"type": "message", "role": "assistant", "content": "hello"}
    await gateway.answers(answer("resp_1"), [USER, said, call, result])
    reply = await gateway.get("resp_1/input_items", query="order=asc")
    page = reply.json()
    ResponseItemList.model_validate_json(reply.body)
    for item in page["data"]:
        TypeAdapter(ResponseItem).validate_python(item)
    assert [item["type"] for item in page["data"]] == [
        "message",
        "message",
        "function_call",
        "function_call_output",
    ]
    assert page["data"][0]["content"] == [{"type": "input_text", "text": "hi"}]
    assert page["data"][1]["content"][0]["type"] == "output_text"
    assert (page["first_id"], page["last_id"]) == (page["data"][0]["id"], page["data"][3]["id"])
    assert page["has_more"] is False
    again = await gateway.get("resp_1/input_items")
    assert again.json()["data"] == page["data"][::-1]


async def test_the_list_has_pages(gateway: Gateway) -> None:
    await gateway.answers(
        answer("resp_1"), [{"role": "user", "content": str(n)} for n in range(45)]
    )
    seen: list[str] = []
    query, more = "", True
    while more:
        page = (await gateway.get("resp_1/input_items", query=query)).json()
        seen += [item["content"][0]["text"] for item in page["data"]]
        query, more = f"after={page['last_id']}", page["has_more"]
    assert seen == [str(n) for n in reversed(range(45))]
    short = await gateway.get("resp_1/input_items", query="limit=2&order=asc&include[]=x")
    assert [item["content"][0]["text"] for item in short.json()["data"]] == ["0", "1"]


async def test_an_empty_list(gateway: Gateway) -> None:
    await gateway.answers(answer("resp_1"), [])
    page = (await gateway.get("resp_1/input_items")).json()
    assert page == {
        "object": "list",
        "data": [],
        "first_id": None,
        "last_id": None,
        "has_more": False,
    }


@pytest.mark.parametrize(
    ("path", "query", "param"),
    [
        ("resp_1/input_items", "limit=0", "limit"),
        ("resp_1/input_items", "limit=101", "limit"),
        ("resp_1/input_items", "limit=all", "limit"),
        ("resp_1/input_items", "limit=99999999999999999999", "limit"),
        ("resp_1/input_items", "order=up", "order"),
        ("resp_1/input_items", "after=msg_nobody", "after"),
        ("resp_1", "stream=true", "stream"),
    ],
)
async def test_parameters_that_are_wrong_are_named(
    gateway: Gateway, path: str, query: str, param: str
) -> None:
    await gateway.answers(answer("resp_1"))
    reply = await gateway.get(path, query=query)
    assert reply.status == 400
    assert reply.json()["error"]["param"] == param


async def test_nothing_is_under_way_that_could_be_cancelled(gateway: Gateway) -> None:
    await gateway.answers(answer("resp_1"))
    reply = await gateway.get("resp_1/cancel", method="POST")
    assert reply.status == 400
    assert "background" in reply.json()["error"]["message"]


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "resp_x"),
        ("DELETE", "resp_x"),
        ("GET", "resp_x/input_items"),
        ("POST", "resp_x/cancel"),
    ],
)
async def test_an_unknown_id_is_asked_of_the_native_upstream(
    gateway: Gateway, method: str, path: str
) -> None:
    gateway.inner = Inner(b'{"id":"resp_x"}')
    reply = await gateway.get(path, method=method)
    assert reply.json() == {"id": "resp_x"}
    assert gateway.exchange.upstream is NATIVE
    gateway.build([CHAT])
    reply = await gateway.get(path, method=method)
    assert reply.status == 404
    assert "resp_x" in reply.json()["error"]["message"]


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/v1/responses"),
        ("POST", "/v1/responses/compact"),
        ("POST", "/v1/responses/input_tokens"),
        ("PUT", "/v1/responses/resp_1"),
        ("GET", "/v1/responses/resp_1/else"),
        ("POST", "/v1/chat/completions"),
    ],
)
async def test_other_paths_pass(gateway: Gateway, method: str, path: str) -> None:
    gateway.build([CHAT])
    gateway.inner = Inner(b"passed")
    reply = await ask(gateway.app, path, b'{"input":"hi"}', method=method)
    assert reply.body == b"passed"


async def test_it_works_where_it_is_mounted(gateway: Gateway) -> None:
    await gateway.answers(answer("resp_1"))
    reply = await ask(
        gateway.app,
        "/llm/v1/responses/resp_1",
        method="GET",
        headers=key("ada"),
        root_path="/llm",
    )
    assert reply.json()["id"] == "resp_1"


async def test_other_scopes_pass() -> None:
    seen = []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        seen.append(scope["type"])

    async def nothing(*_: Any) -> Any:
        return None

    await ResponseStore(app, store=MemoryStore())({"type": "lifespan"}, nothing, nothing)
    assert seen == ["lifespan"]
