"""No request is too strange: it is answered, or refused with a reason; never with a 500."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.fuzz.altered import JUNK, altered, every_alteration
from tests.fuzz.inside import INSIDE, PAIRS, PATHS, Inside
from tests.fuzz.requests import REQUESTS

ANSWERS = {
    "chat": {"choices": [{"index": 0, "message": {"content": "ok"}, "finish_reason": "stop"}]},
    "messages": {"role": "assistant", "content": [{"type": "text", "text": "ok"}]},
    "responses": {"object": "response", "status": "completed", "output": []},
}
OTHER_PATHS = [
    "/v1/messages/count_tokens",
    "/v1/embeddings",
    "/v1/models",
    "/v1/models/x",
    "/v1/responses/r1",
    "/v1/responses/r1/input_items",
    "/v1/files",
    "/healthz",
    "/",
]


async def answered(client: str, upstream: str, body: bytes, **more: Any) -> int:
    """The status that a client gets; an upstream that was asked was asked with JSON."""
    inside = INSIDE[upstream]
    inside.upstream.answer(200, "application/json", [json.dumps(ANSWERS[upstream]).encode()])
    inside.upstream.body = None
    reply = await inside.ask(PATHS[client], body, **more)
    assert reply.complete
    assert reply.status in (200, 400, 404, 413), reply.body
    if reply.status != 200:
        error = json.loads(reply.body)["error"]
        assert isinstance(error["message"], str) and error["message"]
    if (sent := inside.upstream.body) is not None:
        assert isinstance(json.loads(sent), dict)
    return reply.status


@pytest.mark.parametrize(("client", "upstream"), PAIRS)
async def test_the_rich_requests_are_right(client: str, upstream: str) -> None:
    for document in REQUESTS[client]:
        assert await answered(client, upstream, json.dumps(document).encode()) == 200


@pytest.mark.parametrize(("client", "upstream"), PAIRS)
async def test_every_value_of_a_request_may_be_anything(client: str, upstream: str) -> None:
    for rich in REQUESTS[client]:
        for document in every_alteration(rich):
            await answered(client, upstream, json.dumps(document).encode())


@pytest.mark.parametrize(("client", "upstream"), PAIRS)
@settings(max_examples=150, deadline=None)
@given(st.data())
async def test_altered_requests(client: str, upstream: str, data: st.DataObject) -> None:
    document = data.draw(altered(REQUESTS[client]))
    await answered(client, upstream, json.dumps(document).encode())


@pytest.mark.parametrize("innermost", ["1", r'"\ud83d"'])
@pytest.mark.parametrize(("client", "upstream"), PAIRS)
async def test_any_depth(client: str, upstream: str, innermost: str) -> None:
    """Up to what the stack of the interpreter holds, and beyond."""
    schema = {"chat": "parameters", "messages": "input_schema", "responses": "parameters"}[client]
    for depth in [*range(50, 950, 100), *range(940, 1000, 5), 2000, 20_000]:
        deep = '{"a":' * depth + innermost + "}" * depth
        tool = f'{{"name": "f", "{schema}": {deep}}}'
        if client != "messages":
            tool = f'{{"type": "function", "function": {tool}, {tool[1:]}'
        rest = json.dumps(REQUESTS[client][0] | {"tools": 0})
        await answered(client, upstream, rest.replace('"tools": 0', f'"tools": [{tool}]').encode())


ANY_JSON = st.recursive(
    st.sampled_from(JUNK),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["model", "messages", "input", "system", "tools", "content", "\ud800"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=10,
)


@pytest.mark.parametrize(("client", "upstream"), PAIRS)
@settings(max_examples=60, deadline=None)
@given(document=ANY_JSON, model=st.sampled_from(["m", "up/m", "\ud83d"]))
async def test_any_json(client: str, upstream: str, document: Any, model: str) -> None:
    if isinstance(document, dict):
        document["model"] = model
    await answered(client, upstream, json.dumps(document).encode())


@pytest.mark.parametrize(("client", "upstream"), PAIRS)
@settings(max_examples=40, deadline=None)
@given(body=st.binary(max_size=60), cut=st.integers(0, 900))
async def test_any_bytes(client: str, upstream: str, body: bytes, cut: int) -> None:
    await answered(client, upstream, body)
    whole = json.dumps(REQUESTS[client][0]).encode()
    await answered(client, upstream, whole[:cut] + body + whole[cut:])


HEADERS = st.dictionaries(
    st.sampled_from(
        [
            "accept",
            "content-encoding",
            "content-type",
            "connection",
            "anthropic-version",
            "anthropic-beta",
            "x-request-id",
            "authorization",
            "x-api-key",
            "content-length",
            "x-any",
        ]
    ),
    st.text(st.characters(min_codepoint=32, max_codepoint=255, exclude_characters="\x7f"))
    | st.sampled_from(["gzip", "br", "deflate", "application/json", "multipart/form-data", "9"]),
)


@pytest.mark.parametrize(("client", "upstream"), PAIRS)
@settings(max_examples=60, deadline=None)
@given(headers=HEADERS, query=st.binary(max_size=20))
async def test_any_headers(
    client: str, upstream: str, headers: dict[str, str], query: bytes
) -> None:
    body = json.dumps(REQUESTS[client][0]).encode()
    await answered(client, upstream, body, headers=headers, query_string=query)


@pytest.mark.parametrize("path", OTHER_PATHS)
@settings(max_examples=60, deadline=None)
@given(
    body=st.binary(max_size=40) | ANY_JSON.map(lambda value: json.dumps(value).encode()),
    method=st.sampled_from(["GET", "POST", "DELETE", "PUT", "HEAD", "PATCH", "OPTIONS"]),
    headers=HEADERS,
    upstream=st.sampled_from(list(PATHS)),
)
async def test_other_paths(
    path: str, body: bytes, method: str, headers: dict[str, str], upstream: str
) -> None:
    inside = INSIDE[upstream]
    inside.upstream.answer(200, "application/json", [b"{}"])
    reply = await inside.ask(path, body, method=method, headers=headers)
    assert reply.complete
    assert reply.status in (200, 400, 404, 413, 502), reply.body


@settings(max_examples=150, deadline=None)
@given(document=altered(REQUESTS["messages"]))
async def test_tokens_are_counted_or_the_fault_is_named(document: Any) -> None:
    reply = await INSIDE["chat"].ask("/v1/messages/count_tokens", json.dumps(document).encode())
    assert reply.status in (200, 400, 404), reply.body
    if reply.status == 200 and "x-toolwire-estimate" in reply.headers:
        assert isinstance(json.loads(reply.body)["input_tokens"], int)


@pytest.mark.parametrize("provider", ["bailian", "deepseek"])
@pytest.mark.parametrize("client", PATHS)
async def test_every_value_where_a_choice_is_relaxed(client: str, provider: str) -> None:
    """Models that always think, and then take no forced choice."""
    inside = Inside("chat", provider=provider)
    rich = {**REQUESTS[client][1], "model": "qwen3-235b-thinking"}
    for document in every_alteration(rich):
        reply = await inside.ask(PATHS[client], json.dumps(document).encode())
        assert reply.status in (200, 400, 404, 502), reply.body  # what is answered is nothing


PROVIDERS = "openai anthropic bailian deepseek moonshot zhipu openrouter vllm".split()
NAMED = {"type": "function", "function": {"name": "f"}}
MODELS = [
    "m",
    "qwen3-max",
    "qwen3-235b-thinking",
    "deepseek-reasoner",
    "kimi-k2-thinking",
    "gpt-5-mini",
    "claude-opus-4-6",
    "claude-2",
    "glm-4.6",
]


@pytest.mark.parametrize("upstream", PATHS)
@pytest.mark.parametrize("provider", PROVIDERS)
@settings(max_examples=80, deadline=None)
@given(
    client=st.sampled_from(list(PATHS)),
    model=st.sampled_from(MODELS),
    choice=st.sampled_from(["required", {"type": "any"}, NAMED, None]),
    tools=st.sampled_from([*JUNK, None, None, None]),
    data=st.data(),
)
async def test_every_provider_s_quirks(
    provider: str,
    upstream: str,
    client: str,
    model: str,
    choice: Any,
    tools: Any,
    data: st.DataObject,
) -> None:
    document = data.draw(altered(REQUESTS[client]))
    if isinstance(document, dict):
        document["model"] = model
        if choice is not None:
            document["tool_choice"] = choice
        if tools is not None:
            document["tools"] = tools
    inside = Inside(upstream, provider=provider)
    inside.upstream.answer(200, "application/json", [json.dumps(ANSWERS[upstream]).encode()])
    reply = await inside.ask(PATHS[client], json.dumps(document).encode())
    assert reply.status in (200, 400, 404), reply.body
