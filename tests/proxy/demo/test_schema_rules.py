"""Which schemas are none, and which ones `strict` refuses."""

from __future__ import annotations

from typing import Any

import pytest

from toolwire.proxy.demo.schema_rules import fault, strict_fault

CLOSED = {"type": "object", "additionalProperties": False}


@pytest.mark.parametrize(
    "schema",
    [
        {},
        True,
        {"type": ["string", "null"], "x-own": 5},
        {"properties": {"required": {"type": "string"}, "items": True}},
        {"items": [{"type": "string"}]},
        {"additionalProperties": False, "exclusiveMinimum": True, "minimum": 1.5},
    ],
)
def test_schemas(schema: Any) -> None:
    assert fault(schema) is None


@pytest.mark.parametrize(
    ("schema", "said"),
    [
        (None, "#: null is not a schema"),
        ([], "#: an array is not a schema"),
        ({"properties": []}, "#/properties: an array is not allowed here"),
        ({"properties": {"a": 5}}, "#/properties/a: a number is not a schema"),
        ({"anyOf": [{}, "x"]}, "#/anyOf/1: a string is not a schema"),
        ({"items": {"required": True}}, "#/items/required: a boolean is not allowed here"),
        ({"$defs": {"a": {"minimum": True}}}, "#/$defs/a/minimum: a boolean is not allowed here"),
        ({"multipleOf": 0}, "#/multipleOf: must be greater than 0"),
        ({"additionalProperties": {"enum": {}}}, "/enum: an object is not allowed here"),
    ],
)
def test_what_is_no_schema(schema: Any, said: str) -> None:
    found = fault(schema)
    assert found is not None and said in found


def test_endless_nesting() -> None:
    schema: Any = {}
    for _ in range(150):
        schema = {"items": schema}
    assert "nested deeper" in (fault(schema) or "")


@pytest.mark.parametrize(
    ("schema", "said"),
    [
        ({"type": "object"}, "In context=(), 'additionalProperties' is required"),
        (
            {**CLOSED, "properties": {"a": {}, "b": {}}, "required": ["a"]},
            "to be an array including every key in properties. Missing 'b'.",
        ),
        (
            {**CLOSED, "properties": {"a": {"properties": {}}}, "required": ["a"]},
            "In context=('properties', 'a'), 'additionalProperties' is required",
        ),
    ],
)
def test_what_strict_refuses(schema: Any, said: str) -> None:
    found = strict_fault(schema)
    assert found is not None and said in found


def test_what_strict_accepts() -> None:
    inner = {**CLOSED, "properties": {}}
    assert strict_fault({**CLOSED, "properties": {"a": inner}, "required": ["a"]}) is None
