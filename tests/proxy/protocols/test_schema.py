"""Schemas without unions at their root."""

from __future__ import annotations

from typing import Any

import pytest

from toolwire.proxy.protocols.neutral import Losses
from toolwire.proxy.protocols.schema import without_unions


def schema_of(schema: dict[str, Any]) -> dict[str, Any]:
    return without_unions(schema, "tools[0]", Losses())


def test_a_schema_that_is_right_is_the_very_same() -> None:
    schema = {
        "type": "object",
        "properties": {"a": {"anyOf": [{"type": "string"}, {"$ref": "#/$defs/x"}]}},
        "$defs": {"x": {"type": "null"}},
    }
    assert schema_of(schema) is schema


def test_alternatives_are_merged() -> None:
    losses = Losses()
    schema = {
        "type": "object",
        "properties": {"a": {"type": "string"}},
        "required": ["a"],
        "oneOf": [
            {"properties": {"k": {"const": 1}, "b": {}}, "required": ["k", "b"]},
            {"properties": {"k": {"const": 2}, "c": {}}, "required": ["k"]},
            {"type": "string"},
        ],
    }
    assert without_unions(schema, "tools[0]", losses) == {
        "type": "object",
        "properties": {
            "a": {"type": "string"},
            "k": {"anyOf": [{"const": 1}, {"const": 2}]},
            "b": {},
            "c": {},
        },
        "required": ["a", "k"],
    }
    assert [(loss.kind, loss.path) for loss in losses.entries] == [("coerced", "tools[0]")]


def test_demands_are_added() -> None:
    assert schema_of(
        {
            "allOf": [
                {"$ref": "#/$defs/a"},
                {"properties": {"x": {"minLength": 1}, "y": {}}, "required": ["y"]},
            ],
            "$defs": {"a": {"properties": {"x": {"type": "string"}}, "required": ["x"]}},
        }
    ) == {
        "type": "object",
        "properties": {"x": {"allOf": [{"type": "string"}, {"minLength": 1}]}, "y": {}},
        "required": ["x", "y"],
        "$defs": {"a": {"properties": {"x": {"type": "string"}}, "required": ["x"]}},
    }


def test_alternatives_that_only_require_are_left_out() -> None:
    schema = {
        "type": "object",
        "properties": {"a": {}, "b": {}},
        "anyOf": [{"required": ["a"]}, {"required": ["b"]}],
    }
    assert schema_of(schema) == {"type": "object", "properties": {"a": {}, "b": {}}}


def deep(levels: int) -> dict[str, Any]:
    schema: dict[str, Any] = {}
    for _ in range(levels):
        schema = {"anyOf": [schema]}
    return schema


@pytest.mark.parametrize(
    "schema",
    [
        {
            "anyOf": [{"$ref": "#/$defs/a"}] * 9,
            "$defs": {"a": {"anyOf": [{"$ref": "#/$defs/a"}] * 9}},
        },
        {"anyOf": [{"$ref": "#"}, {"$ref": "#/gone/1"}, {"$ref": "https://example.org"}, 7]},
        {"oneOf": {"not": "a list"}},
        {"allOf": [], "required": [1, None], "properties": []},
        {"type": "string", "anyOf": [{"type": "string"}]},
        deep(2000),
    ],
)
def test_no_union_is_left_whatever_comes(schema: dict[str, Any]) -> None:
    sent = schema_of(schema)
    assert sent["type"] == "object"
    assert not {"anyOf", "oneOf", "allOf"} & sent.keys()
