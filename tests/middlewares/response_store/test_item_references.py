"""Requests that refer to items by their ids."""

from __future__ import annotations

from tests.middlewares.response_store.gateway import (
    USER,
    Gateway,
    answer,
    text_message,
)


async def test_an_item_reference_is_replaced_by_the_item(gateway: Gateway) -> None:
    """The way @ai-sdk/openai sends its history."""
    await gateway.answers(answer("resp_1", text_message("msg_1", "one")))
    await gateway.answers(answer("resp_2", text_message("msg_2", "two")), stream=True)
    references = [{"type": "item_reference", "id": f"msg_{n}"} for n in (1, 2)]
    await gateway.answers(answer("resp_3"), [USER, references[0], USER, references[1], USER])
    assert gateway.sent["input"] == [
        USER,
        text_message("msg_1", "one"),
        USER,
        text_message("msg_2", "two"),
        USER,
    ]
    # what was referred to is a part of the conversation from then on
    await gateway.answers(answer("resp_4"), previous_response_id="resp_3")
    assert len(gateway.sent["input"]) == 7


async def test_a_reference_that_is_not_here_goes_inwards(gateway: Gateway) -> None:
    await gateway.answers(answer("resp_1", text_message("msg_1")))
    other = {"type": "item_reference", "id": "msg_of_somebody_else"}
    await gateway.answers(answer("resp_2"), [{"type": "item_reference", "id": "msg_1"}, other])
    assert gateway.sent["input"] == [text_message("msg_1"), other]


async def test_a_text_that_speaks_of_references_is_none(gateway: Gateway) -> None:
    said = [{"role": "user", "content": '{"type":"item_reference","id":"msg_of_resp_1"}'}]
    await gateway.answers(answer("resp_1"))
    await gateway.answers(answer("resp_2"), said)
    assert gateway.sent["input"] == said
