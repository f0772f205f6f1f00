"""The other routes, and what is refused whatever the protocol."""

from __future__ import annotations

import ast
import json
import math
import sys
from pathlib import Path
from typing import Any

import pytest
from anthropic import AsyncAnthropic
from openai import AsyncOpenAI
from starlette.testclient import TestClient

from tests.proxy.demo.wire import HEADERS, PATHS, SCHEMA, body
from toolwire.proxy import demo
from toolwire.proxy.demo import QUIRKS, create_demo

CLIENT = TestClient(create_demo(), headers=HEADERS)


async def test_models_as_openai_lists_them(openai: AsyncOpenAI) -> None:
    models = [model async for model in openai.models.list()]
    assert [model.id for model in models] == ["demo", *(f"demo+{name}" for name in QUIRKS)]
    assert (await openai.models.retrieve("any/other")).id == "any/other"


async def test_models_as_anthropic_lists_them(anthropic: AsyncAnthropic) -> None:
    models = [model async for model in anthropic.models.list()]
    assert models[0].id == "demo" and models[0].type == "model"
    assert len(models) == len(QUIRKS) + 1
    assert (await anthropic.models.retrieve("demo")).display_name == "demo"


async def test_counting_tokens(anthropic: AsyncAnthropic) -> None:
    few = await anthropic.messages.count_tokens(
        model="demo", messages=[{"role": "user", "content": "hi"}]
    )
    many = await anthropic.messages.count_tokens(
        model="demo", messages=[{"role": "user", "content": "hi " * 100}]
    )
    assert 0 < few.input_tokens < many.input_tokens


async def test_embeddings(openai: AsyncOpenAI) -> None:
    made = await openai.embeddings.create(model="demo", input=["one", "two", "one"])
    one, two, again = (item.embedding for item in made.data)
    assert one == again != two
    assert len(one) == 8 and math.isclose(math.hypot(*one), 1, rel_tol=1e-6)
    plain = await openai.embeddings.create(
        model="demo", input="one", encoding_format="float", dimensions=3
    )
    assert len(plain.data[0].embedding) == 3
    assert plain.usage.total_tokens > 0


@pytest.mark.parametrize(
    ("change", "param"),
    [
        ({"input": None}, "input"),
        ({"input": []}, "input"),
        ({"input": [""]}, "input"),
        ({"input": [{}]}, "input"),
        ({"dimensions": 0}, "dimensions"),
        ({"encoding_format": "hex"}, "encoding_format"),
        ({"model": None}, "model"),
    ],
)
def test_embeddings_refused(change: dict[str, Any], param: str) -> None:
    answer = CLIENT.post("/v1/embeddings", json={"model": "demo", "input": "hi", **change})
    assert answer.status_code == 400
    assert answer.json()["error"]["param"] == param


def test_tokens_are_embedded_too() -> None:
    answer = CLIENT.post("/v1/embeddings", json={"model": "demo", "input": [1, 2, 3]})
    assert len(answer.json()["data"]) == 1
    answer = CLIENT.post("/v1/embeddings", json={"model": "demo", "input": [[1, 2], [3]]})
    assert len(answer.json()["data"]) == 2


def test_healthz() -> None:
    assert CLIENT.get("/healthz").json() == {"status": "ok"}


def test_unknown_routes() -> None:
    answer = CLIENT.get("/v1/nothing")
    assert answer.status_code == 404
    assert answer.json()["error"]["message"] == "Unknown request URL: GET /v1/nothing."
    assert answer.json()["type"] == "error"  # the client speaks Anthropic's protocol
    other = TestClient(create_demo()).get("/v1/chat/completions")
    assert other.status_code == 405
    assert other.json()["error"]["code"] == "unknown_url"


def test_the_bad_key_finds_no_models_either() -> None:
    answer = CLIENT.get("/v1/models", headers={"x-api-key": "bad-key"})
    assert answer.status_code == 401


@pytest.mark.parametrize("levels", [100, 300, 900, 980, 5000])
def test_deep_nesting_is_answered_or_refused(levels: int) -> None:
    deep = "[" * levels + "]" * levels
    raw = json.dumps(body("responses", metadata={"a": "deep"})).replace('"deep"', deep)
    answer = CLIENT.post(PATHS["responses"], content=raw)
    assert answer.status_code in (200, 400)
    assert (answer.status_code == 400) is ("nested too deep" in answer.text)


def test_it_needs_starlette_and_msgspec_only() -> None:
    """So that what the demo says of a request is not said by the code that it tries."""
    folder = Path(demo.__file__).parent
    trees = [ast.parse(file.read_text()) for file in folder.rglob("*.py")]
    nodes = [node for tree in trees for node in ast.walk(tree)]
    names = {node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)}
    names |= {a.name for node in nodes if isinstance(node, ast.Import) for a in node.names}
    roots = {name.split(".")[0] for name in names} - sys.stdlib_module_names
    assert roots == {"starlette", "msgspec", "toolwire"}
    own = {name for name in names if name.startswith("toolwire")}
    assert all(f"{name}.".startswith("toolwire.proxy.demo.") for name in own)


BROKEN = [
    b"",
    b"{",
    b"nonsense",
    b"[]",
    b'"text"',
    b"null",
    b'{"model": NaN}',
    b"\xff\xfe",
    b"[" * 100_000,
    b'{"model": ' + b"9" * 5000 + b"}",
]


@pytest.mark.parametrize("protocol", PATHS)
@pytest.mark.parametrize("raw", BROKEN, ids=range(len(BROKEN)))
def test_bodies_that_are_no_json_object(protocol: str, raw: bytes) -> None:
    answer = CLIENT.post(PATHS[protocol], content=raw)
    assert answer.status_code == 400
    assert answer.json()["error"]["type"] == "invalid_request_error"


@pytest.mark.parametrize("protocol", PATHS)
@pytest.mark.parametrize("headers", [{"authorization": "Bearer bad-key"}, {"x-api-key": "bad-key"}])
def test_the_bad_key(protocol: str, headers: dict[str, str]) -> None:
    answer = CLIENT.post(PATHS[protocol], json=body(protocol), headers=headers)
    assert answer.status_code == 401


@pytest.mark.parametrize("protocol", PATHS)
def test_legal_json_of_every_kind_is_answered(protocol: str) -> None:
    """Lone surrogates, numbers that no float holds, NUL: legal JSON, so no failure."""
    extreme = [1e300, 10**400, "\ud83d", "\x00", -0.0]
    schema = {**SCHEMA, "properties": {"city": {"enum": ["\ud83d"], "x-other": extreme}}}
    tool = {
        "chat": {"type": "function", "function": {"name": "f", "parameters": schema}},
        "messages": {"name": "f", "input_schema": schema},
        "responses": {"type": "function", "name": "f", "parameters": schema},
    }[protocol]
    raw = json.dumps(body(protocol, "cut \ud83d", tools=[tool])).replace("1e+300", "1e400")
    answer = CLIENT.post(PATHS[protocol], content=raw.encode())
    assert answer.status_code == 200, answer.text
    document = json.loads(answer.content)
    arguments = {
        "chat": lambda: document["choices"][0]["message"]["tool_calls"][0]["function"]["arguments"],
        "messages": lambda: json.dumps(document["content"][0]["input"]),
        "responses": lambda: document["output"][0]["arguments"],
    }[protocol]()
    assert json.loads(arguments) == {"city": "\ud83d"}


def test_the_oldest_responses_are_forgotten() -> None:
    client = TestClient(create_demo(kept_responses=2))
    made = [
        client.post("/v1/responses", json=body("responses", text)).json()["id"]
        for text in ("one", "two", "three")
    ]
    found = [client.get(f"/v1/responses/{response_id}").status_code for response_id in made]
    assert found == [404, 200, 200]
