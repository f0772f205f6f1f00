"""Two requests that differ only in the order of keys give the same bytes upstream."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.asgi import Upstream, ask
from toolwire.middlewares.key_canonicalization import KeyCanonicalization, Options, canonical

CHAT = "/v1/chat/completions"


async def sent(path: str, body: bytes, options: Options | None = None) -> bytes:
    upstream = Upstream()
    await ask(KeyCanonicalization(upstream, options), path, body)
    return upstream.bodies[-1]


@pytest.mark.parametrize("path", [CHAT, "/v1/messages", "/v1/responses", "/llm/v1/messages"])
async def test_every_object_is_sorted_and_arrays_are_not(path: str) -> None:
    body = b'{"model": "m", "b": [{"z": 1, "a": 2}, 3, 1], "a": {"d": 1, "c": 2}}'
    assert await sent(path, body) == b'{"a":{"c":2,"d":1},"b":[{"a":2,"z":1},3,1],"model":"m"}'


async def test_other_requests_pass_byte_for_byte() -> None:
    body = b'{"model": "m", "a": 1}'
    assert await sent("/v1/embeddings", body) == body


async def test_numbers_and_text_stay() -> None:
    body = b'{"b":1.0,"a":1E+400,"c":12345678901234567890123,"d":"\\ud83d","e":"\xc3\xa9"}'
    assert await sent(CHAT, body) == (
        b'{"a":1E+400,"b":1.0,"c":12345678901234567890123,"d":"\\ud83d","e":"\xc3\xa9"}'
    )


@pytest.mark.parametrize(
    ("arguments", "upstream"),
    [
        ('{"b": 1, "a": {"d": [2, 1], "c": 3}}', '{"a":{"c":3,"d":[2,1]},"b":1}'),
        ('{"b": 1.0, "a": "é"}', '{"a":"é","b":1.0}'),
        ('{"b": 123456789012345, "a": 1}', None),  # 15 digits in a row
        ('{"b": "x123456789012345", "a": 1}', None),
        ('{"b": 12345678901234, "a": 1}', '{"a":1,"b":12345678901234}'),
        ("", None),
        ("not json { ", None),
        ('["b", "a"]', None),
        ('"text"', None),
    ],
)
async def test_arguments_strings(arguments: str, upstream: str | None) -> None:
    function = {"name": "f", "arguments": arguments}
    chat = {"messages": [{"role": "assistant", "tool_calls": [{"function": function}]}]}
    found = json.loads(await sent(CHAT, json.dumps(chat).encode()))
    kept = found["messages"][0]["tool_calls"][0]["function"]["arguments"]
    assert kept == (arguments if upstream is None else upstream)
    item = {"type": "function_call", "arguments": arguments}
    found = json.loads(await sent("/v1/responses", json.dumps({"input": [item]}).encode()))
    assert found["input"][0]["arguments"] == kept


async def test_the_input_of_a_free_form_call_is_no_json() -> None:
    item = {"type": "custom_tool_call", "input": '{"b": 1, "a": 2}'}
    found = json.loads(await sent("/v1/responses", json.dumps({"input": [item]}).encode()))
    assert found["input"][0]["input"] == item["input"]


@pytest.mark.parametrize(
    ("path", "holder"),
    [
        (CHAT, ["response_format", "json_schema", "schema"]),
        ("/v1/messages", ["output_config", "format", "schema"]),
        ("/v1/responses", ["text", "format", "schema"]),
    ],
)
async def test_the_order_of_structured_output_can_be_kept(path: str, holder: list[str]) -> None:
    schema: Any = {"type": "object", "properties": {"z": {"type": "string", "a": 1}, "b": {}}}
    document = schema
    for key in reversed(holder):
        document = {key: document}
    body = json.dumps({"z": 1, **document}).encode()
    kept = b'{"properties":{"z":{"a":1,"type":"string"},"b":{}},"type":"object"}'
    assert kept in await sent(path, body, Options(keep_schema_order=True))
    both = b'{"properties":{"b":{},"z":{"a":1,"type":"string"}},"type":"object"}'
    assert both in await sent(path, body)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**13), 10**13) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=15,
)


@given(st.dictionaries(st.text(), JSON))
def test_arguments_keep_their_meaning(arguments: dict[str, Any]) -> None:
    given_text = json.dumps(arguments)
    text = canonical(given_text)
    assert json.loads(text) == arguments
    assert canonical(text) == text
    turned = json.dumps({key: arguments[key] for key in reversed(arguments)})
    if text != given_text:  # else a long number may have kept it as it was
        assert canonical(turned) == text


@pytest.mark.parametrize("path", [CHAT, "/v1/responses"])
@given(body=st.dictionaries(st.sampled_from(["messages", "input", "tools", "model"]), JSON))
async def test_no_body_breaks_it(path: str, body: dict[str, Any]) -> None:
    found = await sent(path, json.dumps(body).encode())
    assert json.loads(found) == body
