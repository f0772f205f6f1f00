"""Chunks that say several things at once."""

from __future__ import annotations

from tests.proxy.protocols.chat.chunks import chunk
from toolwire.proxy.protocols.chat.split import split


def test_log_probabilities_are_said_once() -> None:
    calls = [{"index": place, "id": f"c{place}"} for place in range(2)]
    whole = chunk({"content": "a", "tool_calls": calls}, "tool_calls")
    whole["choices"][0]["logprobs"] = {"content": [{"token": "a"}]}
    told = [piece["choices"][0]["logprobs"] for piece in split(whole)]
    assert told == [{"content": [{"token": "a"}]}, None, None]
