"""Whose a response is."""

from __future__ import annotations

import pytest

from tests.asgi import Upstream as Inner
from tests.asgi import ask
from tests.middlewares.response_store.gateway import (
    CHAT,
    Gateway,
    answer,
    text_message,
)


@pytest.mark.parametrize("other", ["eve", ""])
async def test_nobody_else_finds_it(gateway: Gateway, other: str) -> None:
    gateway.build([CHAT])
    await gateway.answers(answer("resp_1", text_message("msg_1")))
    for method in ("GET", "DELETE"):
        assert (await gateway.get("resp_1", method=method, by=other)).status == 404
    assert (await gateway.get("resp_1/input_items", by=other)).status == 404
    gateway.inner = Inner()
    await gateway.create("more", previous_response_id="resp_1", by=other)
    assert gateway.sent["previous_response_id"] == "resp_1"
    assert gateway.sent["input"] == "more"
    reference = [{"type": "item_reference", "id": "msg_1"}]
    await gateway.create(reference, by=other)
    assert gateway.sent["input"] == reference


async def test_the_header_of_the_key_does_not_matter(gateway: Gateway) -> None:
    await gateway.answers(answer("resp_1"))
    path = "/v1/responses/resp_1"
    gateway.build([CHAT])
    for headers in ({"x-api-key": "ada"}, {"authorization": "bearer ada", "x-api-key": "ada"}):
        assert (await ask(gateway.app, path, method="GET", headers=headers)).status == 200
    # a client with a key of its own that shows another's name beside it is still not the other
    both = {"authorization": "Bearer ada", "x-api-key": "eve"}
    assert (await ask(gateway.app, path, method="GET", headers=both)).status == 404
