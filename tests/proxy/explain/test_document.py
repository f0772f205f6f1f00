"""An explanation for programs."""

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
from toolwire.proxy.explain.document import as_document
from toolwire.proxy.explain.shown import Shown
from toolwire.proxy.protocols import json as our_json

KEY = 'api_key = "sk-of-the-upstream"'
REQUEST = {**REQUESTS["messages"], "top_k": 3}


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(("client", "upstream"), PAIRS)
async def test_the_document_says_the_same(client: str, upstream: str, stream: bool) -> None:
    request = {**REQUESTS[client], **({"stream": True} if stream else {})}
    answer = STREAMS[upstream] if stream else ANSWERS[upstream]
    settings = settings_for(upstream, more=KEY)
    told = await explained(request, settings, answer, upstream="upstream")
    encoded = our_json.encode(as_document(told, Shown()))
    assert b"sk-of-the-upstream" not in encoded
    document = json.loads(encoded)
    assert document["client"]["protocol"] == client
    assert document["upstream"]["upstream"] == "upstream"
    assert [step["layer"] for step in document["layers"]] == [step.layer for step in told.steps]
    assert document["body"]["json"] == json.loads(told.sent[0].body)
    assert document["request"]["url"] == told.sent[0].url
    assert ["authorization", "Bearer ***"] in document["request"]["headers"] or [
        "x-api-key",
        "***",
    ] in document["request"]["headers"]
    got = document["answer"]
    assert (got["status"], got["stream"], got["complete"]) == (200, stream, True)
    assert got["seen"] is not None
    body = got["body"]["text"].encode() if stream else json.dumps(got["body"]["json"]).encode()
    assert told.answer is not None
    assert body == told.answer.body or json.loads(body) == json.loads(told.answer.body)


async def test_the_document_has_the_parts_that_are_chosen() -> None:
    told = await explained(REQUEST, None, ANSWERS["chat"])
    document = as_document(told, Shown(frozenset({"body", "key_canonicalization"}), raw=True))
    assert list(document) == ["layers", "body", "answer"]
    assert [step["layer"] for step in document["layers"]] == ["key_canonicalization"]
    assert document["body"] == {"text": told.sent[0].body.decode()}
    assert document["answer"] == {"layers": []}


async def test_the_document_of_a_refusal() -> None:
    document = as_document(await explained({"model": "m"}), Shown())
    reply = document["reply"]
    assert (reply["by"], reply["refuses"], reply["status"]) == (
        "tool_schema_conversion",
        True,
        400,
    )
    assert "error" in reply["body"]["json"]
    assert "request" not in document and "body" not in document
