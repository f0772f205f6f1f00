"""Pages of input items, where the items are odd."""

from __future__ import annotations

from typing import Any

import pytest

from toolwire.proxy.store import StoredResponse
from toolwire.proxy.store.listing import input_items_page


def page(items: bytes, query: bytes = b"order=asc") -> list[dict[str, Any]]:
    data = input_items_page(StoredResponse("ada", "resp_1", b"{}", items), query)["data"]
    assert isinstance(data, list)
    return data


@pytest.mark.parametrize(
    ("item", "begins"),
    [
        (b'{"role":"user","content":"hi"}', "msg_"),
        (b'{"type":"function_call"}', "fc_"),
        (b'{"type":"reasoning","id":null}', "rs_"),
        (b'{"type":"computer_call"}', "item_"),
        (b'"a text"', "msg_"),
    ],
)
def test_items_without_an_id_have_one(item: bytes, begins: str) -> None:
    (listed,) = page(b"[%b]" % item)
    assert listed["id"].startswith(begins)
    assert page(b"[%b]" % item) == [listed]  # the same every time


def test_ids_differ_where_items_do_not() -> None:
    first, second = page(b'[{"role":"user","content":"hi"},{"role":"user","content":"hi"}]')
    assert first["id"] != second["id"]


def test_what_the_client_said_stays() -> None:
    item = b'{"id":"msg_x","type":"message","role":"user","status":"incomplete","content":[]}'
    (listed,) = page(b"[%b]" % item)
    assert listed == {
        "id": "msg_x",
        "type": "message",
        "role": "user",
        "status": "incomplete",
        "content": [],
    }
