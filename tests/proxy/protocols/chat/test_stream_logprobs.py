"""Log probabilities of the tokens of a chat stream."""

from __future__ import annotations

from typing import Any

import pytest

from tests.proxy.protocols.chat.chunks import DONE, call, chunk
from tests.proxy.protocols.chat.test_stream_reader import read
from tests.proxy.protocols.chat.test_stream_writer import START, write
from toolwire.proxy.protocols.neutral import (
    Delta,
    End,
    Finish,
    PartEnd,
    PartStart,
    Stop,
    StreamEvent,
    Text,
)

HI: dict[str, Any] = {"token": "Hi", "logprob": -1, "bytes": [72, 105], "top_logprobs": []}
OH: dict[str, Any] = {"token": "Oh", "logprob": -2, "bytes": [79, 104], "top_logprobs": []}
CALL: dict[str, Any] = call(0, id="c", name="f", arguments="{}")["choices"][0]["delta"]


def weighed(delta: dict[str, Any], *tokens: Any) -> dict[str, Any]:
    document = chunk(delta)
    document["choices"][0]["logprobs"] = {"content": list(tokens), "refusal": None}
    return document


def said(*documents: dict[str, Any]) -> list[StreamEvent]:
    events = read(*documents, chunk({}, "stop"), DONE)
    return [event for event in events if isinstance(event, Delta | PartEnd)]


# -------------------------------------------------------------------------------------- read
def test_tokens_stand_beside_their_text() -> None:
    assert said(weighed({"content": "Hi"}, HI), weighed({"content": ""}, OH)) == [
        Delta(0, "Hi", [HI]),
        Delta(0, "", [OH]),
        PartEnd(0),
    ]


def test_tokens_of_no_text_yet_wait_for_it() -> None:
    """Of a character that is several tokens, such as many that answers begin with."""
    assert said(weighed({"role": "assistant", "content": ""}, HI), weighed({"content": "x"}, OH))[
        :1
    ] == [Delta(0, "x", [HI, OH])]


@pytest.mark.parametrize("delta", [{"reasoning_content": "h"}, {"refusal": "h"}, CALL])
def test_tokens_of_what_is_no_text_are_left_out(delta: dict[str, Any]) -> None:
    """Also those that were told before."""
    events = said(weighed({}, OH), weighed(delta, OH), weighed({}, OH), chunk({"content": "x"}))
    assert all(event.logprobs is None for event in events if isinstance(event, Delta))


def test_tokens_of_odd_types() -> None:
    odd = chunk({"content": "a"})
    odd["choices"][0]["logprobs"] = 5
    misfit = weighed({"content": "b\ud83d"}, HI, 7, {"token": 1})
    assert said(odd, misfit)[:2] == [Delta(0, "a"), Delta(0, "b\ud83d", [HI])]


# ------------------------------------------------------------------------------------- write
def told(*events: StreamEvent) -> list[Any]:
    """The deltas, but those of the role and of the finish, and what is told beside them."""
    return [
        (choice["delta"], choice.get("logprobs"))
        for document in write(START, *events, Finish(Stop.DONE), End())
        if isinstance(document, dict)
        for choice in document["choices"]
    ][1:-1]


BESIDE = {"content": [HI], "refusal": None}


def test_tokens_are_told_with_their_text() -> None:
    text = [PartStart(0, Text("")), Delta(0, "Hi", [HI]), Delta(0, "", [HI]), Delta(0, "x")]
    assert told(*text, PartEnd(0, Text("Hix", logprobs=[HI, HI]))) == [
        ({"content": "Hi"}, BESIDE),
        ({"content": ""}, BESIDE),
        ({"content": "x"}, None),
    ]


def test_tokens_that_only_the_whole_text_has_are_told_at_its_end() -> None:
    text = [PartStart(0, Text("")), Delta(0, "Hi"), PartEnd(0, Text("Hi", logprobs=[HI]))]
    assert told(*text) == [({"content": "Hi"}, None), ({"content": ""}, BESIDE)]
