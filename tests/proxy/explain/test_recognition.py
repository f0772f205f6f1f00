"""Which protocol a request or an answer is of."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.proxy.explain.samples import ANSWERS, PROTOCOLS, REQUESTS
from tests.proxy.explain.streams import STREAMS
from toolwire.proxy.explain import recognition
from toolwire.proxy.explain.given import Source, given

PLAIN = {"model": "m", "messages": [{"role": "user", "content": "hi"}]}


def source(document: Any, name: str = "file.json") -> Source:
    data = document if isinstance(document, bytes) else json.dumps(document).encode()
    return Source(name, data)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_request_is_recognised(protocol: str) -> None:
    assert recognition.of_request(REQUESTS[protocol]).protocol == protocol
    assert given(source(REQUESTS[protocol])).protocol == protocol


@pytest.mark.parametrize(
    ("more", "protocol", "by"),
    [
        ({}, "chat", "without the max_tokens"),
        ({"max_tokens": 9}, "messages", "max_tokens, and nothing that only chat has"),
        ({"max_tokens": 9, "stop": ["x"]}, "chat", "stop"),
        ({"stop_sequences": ["x"]}, "messages", "stop_sequences"),
        ({"thinking": {"type": "enabled", "budget_tokens": 2000}}, "messages", "thinking"),
        ({"thinking": {"type": "disabled"}}, "chat", "without the max_tokens"),
        ({"tool_choice": {"type": "any"}}, "messages", "tool_choice"),
        ({"tools": [{"type": "web_search_20250305", "name": "w"}]}, "messages", "tools[0]"),
        ({"tools": [{"type": "function", "function": {}}]}, "chat", "tools[0].function"),
        ({"messages": [{"role": "system", "content": "x"}]}, "chat", "messages[0].role"),
        (
            {"messages": [{"role": "system", "content": "x"}], "system": "y"},
            "messages",
            "system",
        ),
        (
            {"messages": [{"role": "user", "content": [{"type": "image", "source": {}}]}]},
            "messages",
            "a block of type image",
        ),
        (
            {"messages": [{"role": "user", "content": [{"type": "image_url"}]}], "max_tokens": 1},
            "chat",
            "messages[0].content",
        ),
        ({"messages": "nonsense", "tools": 3}, "chat", "without the max_tokens"),
    ],
)
def test_a_request_is_recognised_by_what_only_one_protocol_has(
    more: dict[str, Any], protocol: str, by: str
) -> None:
    found = recognition.of_request({**PLAIN, **more})
    assert found.protocol == protocol
    assert by in found.by


def test_a_header_of_anthropics_sdks_tells_more_than_a_plain_body() -> None:
    what = given(source(PLAIN), headers=["anthropic-version: 2023-06-01"])
    assert (what.protocol, what.recognised_by) == ("messages", "the header anthropic-version")


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_an_answer_and_a_stream_are_recognised(protocol: str) -> None:
    assert recognition.of_answer(json.dumps(ANSWERS[protocol]).encode()) == protocol
    assert recognition.of_answer(STREAMS[protocol]) == protocol
    assert recognition.model_of(STREAMS[protocol]) == "m"


@pytest.mark.parametrize(
    "body", [b"", b"<html>", b'{"error": {}}', b"[1]", b"data: nonsense\n\n", b": ping\n\n"]
)
def test_an_answer_that_does_not_tell_is_of_no_protocol(body: bytes) -> None:
    assert recognition.of_answer(body) is None
    assert recognition.model_of(body) is None


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (b"data: {}\n\n", b"text/event-stream"),
        (b"\xef\xbb\xbfdata:{}\r\n\r\n", b"text/event-stream"),
        (b"\n: comment\n\n", b"text/event-stream"),
        (b"event: x\ndata: {}\n\n", b"text/event-stream"),
        (b' {"a": 1}', b"application/json"),
        (b"[{}]", b"application/json"),
        (b"<html>", b"text/html"),
        (b"upstream overloaded", b"text/plain"),
    ],
)
def test_the_content_type_of_an_answer_is_recognised(body: bytes, kind: bytes) -> None:
    answer = given(None, answer=source(body)).answer
    assert answer is not None
    assert answer.headers == [(b"content-type", kind)]
