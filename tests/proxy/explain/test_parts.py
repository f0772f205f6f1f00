"""Parts of an explanation, alone or together, and their very bytes."""

from __future__ import annotations

import json

import pytest

from tests.proxy.explain.samples import (
    ANSWERS,
    PAIRS,
    REQUESTS,
    explained,
    settings_for,
)
from tests.proxy.explain.streams import STREAMS
from toolwire.proxy.explain.explanation import Explanation
from toolwire.proxy.explain.given import InputError
from toolwire.proxy.explain.paint import Paint
from toolwire.proxy.explain.shown import PARTS, Shown, shown
from toolwire.proxy.explain.text import as_text

REQUEST = {**REQUESTS["messages"], "top_k": 3}


def text_of(told: Explanation, *only: str, raw: bool = False, colour: bool = False) -> str:
    return as_text(told, Shown(frozenset(only), raw), Paint(colour)).decode()


def headings(text: str) -> list[str]:
    return [line[3:] for line in text.splitlines() if line.startswith("== ")]


@pytest.mark.parametrize(("client", "upstream"), PAIRS)
async def test_the_body_alone_is_the_very_bytes(client: str, upstream: str) -> None:
    told = await explained(REQUESTS[client], settings_for(upstream), upstream="upstream")
    raw = as_text(told, Shown(frozenset({"body"}), raw=True), Paint(True))
    assert raw == told.sent[0].body
    laid_out = text_of(told, "body")
    assert json.loads(laid_out) == json.loads(told.sent[0].body)
    assert len(laid_out.splitlines()) > 10


async def test_the_answer_alone_can_be_the_very_bytes() -> None:
    told = await explained({**REQUESTS["chat"], "stream": True}, None, STREAMS["chat"])
    assert told.answer is not None
    raw = as_text(told, Shown(frozenset({"answer"}), raw=True), Paint(False))
    assert raw == told.answer.body


async def test_a_layer_can_be_shown_alone() -> None:
    told = await explained(REQUEST, None, ANSWERS["chat"])
    assert headings(text_of(told, "key_canonicalization")) == ["key_canonicalization"]
    assert headings(text_of(told, "tool_schema_conversion")) == [
        "tool_schema_conversion",
        "the answer through tool_schema_conversion",
    ]


async def test_parts_can_be_chosen() -> None:
    told = await explained(REQUEST, None, ANSWERS["chat"])
    assert headings(text_of(told, "losses", "answer")) == ["losses", "the client gets 200"]
    assert text_of(told, "request").startswith("POST https://")
    assert text_of(told, "routing").splitlines()[-1].startswith("why ")


def test_the_parts_of_the_command_line() -> None:
    chosen = shown(["body,losses", "routing"], ["routing", "theirs"])
    assert chosen.only == {"body", "losses", "routing"}
    assert (chosen.part("answer"), chosen.layer("theirs"), chosen.alone) == (False, False, False)
    everything = shown([], [])
    assert all(everything.part(name) for name in PARTS) and everything.layer("theirs")
    assert shown(["theirs"], ["theirs"]).layer("theirs")
    with pytest.raises(InputError, match='got "bdy"; did you mean "body"'):
        shown(["bdy"], [])
