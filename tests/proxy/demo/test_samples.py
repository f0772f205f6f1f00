"""Values made from schemas."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolwire.proxy.demo.samples import sample

SAID = "Book 2 rooms in Oslo for 3 nights, budget 99.5"
MADE: list[tuple[Any, Any]] = [
    (None, "demo"),
    ({}, "demo"),
    (True, "demo"),
    (False, None),
    ({"type": "object"}, {}),
    ({"type": "object", "properties": {}}, {}),
    ({"const": {"a": 1}}, {"a": 1}),
    ({"enum": ["red", "green"]}, "red"),
    ({"enum": ["Bergen", "Oslo"]}, "Oslo"),
    ({"enum": [1, 2], "default": 2}, 2),
    ({"type": "string", "default": "x"}, "x"),
    ({"type": "string", "default": None, "examples": ["y"]}, "y"),
    ({"type": "boolean"}, True),
    ({"type": "null"}, None),
    ({"type": ["null", "string"], "format": "date"}, "2026-01-01"),
    ({"type": "string", "format": "email"}, "demo@example.com"),
    ({"type": "string", "maxLength": 2}, "de"),
    ({"type": "string", "minLength": 6}, "demoxx"),
    ({"type": "integer"}, 2),
    ({"type": "integer", "minimum": 5}, 5),
    ({"type": "integer", "exclusiveMinimum": 5}, 6),
    ({"type": "integer", "maximum": -3}, -3),
    ({"type": "integer", "exclusiveMaximum": -3, "multipleOf": 5}, -5),
    ({"type": "integer", "minimum": 7, "exclusiveMinimum": True}, 8),
    ({"type": "integer", "minimum": 11, "multipleOf": 10}, 20),
    ({"type": "number", "minimum": 50}, 50),
    ({"type": "array", "items": {"type": "integer"}}, [2]),
    ({"type": "array", "items": {"type": "integer"}, "minItems": 3}, [2, 3, 1]),
    ({"type": "array", "items": {"type": "boolean"}, "maxItems": 0}, []),
    ({"type": "array", "prefixItems": [{"const": 1}, {"const": 2}]}, [1, 2]),
    (
        {"type": "array", "items": {"enum": ["a", "b"]}, "uniqueItems": True, "minItems": 2},
        ["a", "b"],
    ),
    ({"anyOf": [{"type": "null"}, {"type": "integer"}]}, 2),
    ({"oneOf": [{"const": "x"}, {"const": "y"}]}, "x"),
    ({"type": "object", "properties": {"city": {}}}, {"city": "Oslo"}),
    ({"type": "object", "properties": {"a": {"const": 1}, "b": {"const": 2}}}, {"a": 1}),
    (
        {"properties": {"b": {"const": 2}, "a": {"const": 1}}, "required": ["a", "b"]},
        {"a": 1, "b": 2},
    ),
    (
        {"type": "object", "required": ["x"], "additionalProperties": {"const": 3}},
        {"x": 3},
    ),
    (
        {"type": "object", "properties": {"location": {"type": "string", "default": "Rome"}}},
        {"location": "Oslo"},
    ),
    ({"type": "object", "properties": {"query": {"type": "string"}}}, {"query": SAID}),
    ({"type": "object", "properties": {"file_path": {}}}, {"file_path": "demo.txt"}),
    ({"type": "object", "properties": {"base_url": {}}}, {"base_url": "https://example.com/demo"}),
    (
        {
            "allOf": [
                {"properties": {"a": {"const": 1}}, "required": ["a"]},
                {"properties": {"b": {"const": 2}}, "required": ["b"]},
            ]
        },
        {"a": 1, "b": 2},
    ),
    ({"$defs": {"n": {"const": 7}}, "$ref": "#/$defs/n"}, 7),
    ({"definitions": {"a/b~": {"const": 7}}, "$ref": "#/definitions/a~1b~0"}, 7),
    ({"$ref": "#/$defs/none"}, "demo"),
    (
        {"$defs": {"n": {"type": "integer"}}, "allOf": [{"$ref": "#/$defs/n"}], "minimum": 40},
        40,
    ),
]


@pytest.mark.parametrize(("schema", "value"), MADE, ids=lambda case: json.dumps(case)[:50])
def test_what_is_made(schema: Any, value: Any) -> None:
    assert sample(schema, SAID) == value


def test_each_call_takes_its_own_place() -> None:
    schema = {"type": "object", "properties": {"city": {"type": "string"}}}
    made = [sample(schema, "from Oslo to Rome", turn)["city"] for turn in range(3)]
    assert made == ["Oslo", "Rome", "Rome"]


def test_numbers_are_taken_in_their_order() -> None:
    number = {"type": "number"}
    schema = {"properties": {"a": number, "b": number, "c": number}, "required": ["a", "b", "c"]}
    assert sample(schema, SAID) == {"a": 2, "b": 3, "c": 99.5}


@pytest.mark.parametrize(
    "schema",
    [
        {"properties": {"next": {"$ref": "#"}}, "required": ["next"]},
        {"properties": {k: {"$ref": "#"} for k in "ab"}, "required": ["a", "b"]},
        {"$defs": {"a": {"$ref": "#/$defs/a"}}, "$ref": "#/$defs/a"},
        {"$defs": {"a": {"allOf": [{"$ref": "#/$defs/a"}]}}, "$ref": "#/$defs/a"},
        {"anyOf": [{"$ref": "#"}]},
        {"type": "array", "items": {"type": "string"}, "minItems": 10**9},
        {"type": "string", "minLength": 10**12},
    ],
)
def test_schemas_without_end_come_to_one(schema: Any) -> None:
    assert len(json.dumps(sample(schema, ""))) < 100_000


@settings(deadline=None)
@given(
    low=st.integers(-1000, 1000),
    width=st.integers(1, 50),
    whole=st.booleans(),
    exclusive=st.booleans(),
    said=st.integers(-1100, 1100),
)
def test_bounds_are_kept(low: int, width: int, whole: bool, exclusive: bool, said: int) -> None:
    high = low + width + (1 if whole and exclusive else 0)  # leaves an integer between
    names = ("exclusiveMinimum", "exclusiveMaximum") if exclusive else ("minimum", "maximum")
    schema = {"type": "integer" if whole else "number", names[0]: low, names[1]: high}
    value = sample(schema, f"take {said}")
    assert low < value < high if exclusive else low <= value <= high
    assert isinstance(value, int) or not whole


@settings(deadline=None)
@given(st.integers(1, 60), st.integers(-500, 500))
def test_multiples_are_kept(step: int, low: int) -> None:
    value = sample({"type": "integer", "multipleOf": step, "minimum": low}, "")
    assert value % step == 0 and value >= low
