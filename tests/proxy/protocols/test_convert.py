"""What is done to a request between its reader and its writer."""

from __future__ import annotations

from typing import Any

import pytest

from toolwire.config.profile import Profile
from toolwire.proxy.errors import InvalidRequest
from toolwire.proxy.protocols.convert import convert_request
from toolwire.proxy.protocols.registry import CODECS


def converted(
    client: str, upstream: str, document: dict[str, Any], **profile: Any
) -> dict[str, Any]:
    quirks = Profile(**profile)
    return convert_request(CODECS[client], CODECS[upstream], document, quirks, "vendor").document


@pytest.mark.parametrize(
    ("client", "upstream", "field"),
    [
        ("chat", "messages", "messages"),
        ("messages", "responses", "messages"),
        ("responses", "chat", "input"),
    ],
)
def test_a_conversation_in_which_nobody_says_anything(
    client: str, upstream: str, field: str
) -> None:
    with pytest.raises(InvalidRequest, match="must hold at least one message") as refused:
        converted(client, upstream, {"model": "m", "max_tokens": 9, field: []})
    assert refused.value.param == field


def test_ids_are_such_as_the_upstream_takes() -> None:
    history = [
        {"type": "function_call", "call_id": "a very long id" * 9, "name": "f", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "a very long id" * 9, "output": "5"},
    ]
    document = {"model": "m", "input": [{"role": "user", "content": "hi"}, *history]}

    as_it_is = converted("responses", "chat", document)["messages"]
    short = converted("responses", "chat", document, tool_id_pattern="[a-zA-Z0-9]{9}")["messages"]

    assert as_it_is[1]["tool_calls"][0]["id"] == "a very long id" * 9
    assert short[1]["tool_calls"][0]["id"] == short[2]["tool_call_id"]
    assert len(short[2]["tool_call_id"]) == 9
