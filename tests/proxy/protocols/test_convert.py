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


def lost(client: str, upstream: str, document: dict[str, Any]) -> list[str]:
    """The paths that were left out."""
    codecs = CODECS[client], CODECS[upstream]
    losses = convert_request(*codecs, document, Profile(), "vendor").losses.entries
    return [loss.path for loss in losses if loss.kind == "dropped"]


def called(*result: dict[str, Any], failed: bool = False) -> dict[str, Any]:
    """A Messages request with a call, and the blocks of its result."""
    call = {"type": "tool_use", "id": "c", "name": "f", "input": {}}
    content = {"content": list(result), "is_error": failed}
    answer = {"type": "tool_result", "tool_use_id": "c", **content}
    history = [{"role": "assistant", "content": [call]}, {"role": "user", "content": [answer]}]
    return {
        "model": "m",
        "max_tokens": 9,
        "messages": [{"role": "user", "content": "hi"}, *history],
    }


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


PAPER = {"type": "document", "source": {"type": "url", "url": "https://x/a.pdf"}, "title": "a"}
STORED = {"type": "image", "source": {"type": "file", "file_id": "file_1"}}


def test_a_document_of_a_result_that_is_written_as_text_stays_in_it() -> None:
    assert converted("messages", "chat", called(PAPER))["messages"][2:] == [
        {"role": "tool", "tool_call_id": "c", "content": "[Document: https://x/a.pdf]"}
    ]


def test_a_mark_of_failure_stands_before_documents() -> None:
    document = called(PAPER, {"type": "text", "text": "no"}, failed=True)
    result = converted("messages", "chat", document)["messages"][2]
    assert result["content"] == "Error\n[Document: https://x/a.pdf]\nno"


def test_nothing_is_announced_that_cannot_follow_a_result() -> None:
    assert converted("messages", "chat", called(STORED))["messages"][2:] == [
        {"role": "tool", "tool_call_id": "c", "content": ""}
    ]
    assert lost("messages", "chat", called(STORED)) == ["messages[2].content[0].content[0]"]


def test_a_file_at_a_url_has_no_name_in_responses() -> None:
    assert lost("messages", "responses", called(PAPER)) == [
        "messages[2].content[0].content[0].title"
    ]


def test_fields_of_a_call_that_only_its_vendor_knows() -> None:
    call = {"id": "c", "type": "function", "function": {"name": "f"}, "extra_content": {"a": 1}}
    history = [{"role": "user", "content": "hi"}, {"role": "assistant", "tool_calls": [call]}]
    document = {"model": "m", "messages": history}
    for upstream in ("messages", "responses"):
        assert lost("chat", upstream, document) == ["messages[1].tool_calls[0].extra_content"]


def test_tools_of_another_vendor_are_named_by_their_place() -> None:
    hosted = {"type": "web_search", "web_search": None}
    document = {"model": "m", "messages": [{"role": "user", "content": "hi"}], "tools": [hosted]}
    for upstream in ("messages", "responses"):
        assert lost("chat", upstream, document) == ["tools[0]"]


def test_fields_of_the_text_of_responses() -> None:
    document = {"model": "m", "input": "hi", "text": {"verbosity": "low", "new": 1}}
    assert converted("responses", "chat", document)["verbosity"] == "low"
    assert lost("responses", "chat", document) == ["text.new"]
    assert lost("responses", "messages", document) == ["text.verbosity", "text.new"]
