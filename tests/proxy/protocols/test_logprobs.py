"""Log probabilities of an answer's tokens."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from msgspec import Raw

from toolwire.proxy.protocols.logprobs import add_tokens, read_tokens
from toolwire.proxy.protocols.neutral import Delta, PartStart, StreamEvent, Text

HI: dict[str, Any] = {"token": "Hi", "logprob": -1, "bytes": [72, 105], "top_logprobs": []}


def test_a_token_has_all_that_clients_demand() -> None:
    bare = {"token": "Hi", "logprob": -1}
    whole = {**bare, "bytes": [72, 105]}
    assert read_tokens([HI, bare, {**bare, "top_logprobs": [bare, 5, {}]}]) == [
        HI,
        {**whole, "top_logprobs": []},
        {**whole, "top_logprobs": [whole]},
    ]


def test_half_a_character_has_bytes_too() -> None:
    told = read_tokens([{"token": "\ud83d", "logprob": -1}])
    assert told is not None and told[0]["bytes"] == [0xED, 0xA0, 0xBD]


@pytest.mark.parametrize("entries", [None, "text", 5, {}, [None, 5, {}, {"token": 5}]])
def test_what_is_no_token(entries: Any) -> None:
    assert read_tokens(entries) is None


def test_tokens_stand_beside_their_text() -> None:
    events: list[StreamEvent] = [PartStart(3, Text("")), Delta(2, "x"), Delta(3, "Hi")]
    add_tokens([Raw(b'{"token":"Hi","logprob":-0.12345678901234567890}')], 3, events)
    assert isinstance(weighed := events[2], Delta)
    assert events == [PartStart(3, Text("")), Delta(2, "x"), Delta(3, "Hi", weighed.logprobs)]
    assert [token["logprob"] for token in weighed.logprobs or ()] == [
        Decimal("-0.12345678901234567890")
    ]


def test_tokens_of_no_text_yet_follow() -> None:
    events: list[StreamEvent] = [Delta(2, "x")]
    add_tokens([Raw(b'{"token":"Hi","logprob":-1}')], 3, events)
    assert events == [Delta(2, "x"), Delta(3, "", [HI])]


@pytest.mark.parametrize("token", [b"5", b'"text"', b"[1", b"\xff"])
def test_broken_tokens_are_none(token: bytes) -> None:
    events: list[StreamEvent] = []
    add_tokens([Raw(token)], 3, events)
    assert events == []
