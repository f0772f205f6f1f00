"""Objects of structured output are closed."""

from __future__ import annotations

from typing import Any

import pytest

from toolwire.config.profile import Profile
from toolwire.proxy.protocols.messages import CODEC
from toolwire.proxy.protocols.messages.output_schema import closed
from toolwire.proxy.protocols.neutral import Losses, Request, Structured

OBJECT: dict[str, Any] = {"type": "object"}
CLOSED = {"type": "object", "additionalProperties": False}


@pytest.mark.parametrize(
    ("schema", "sent"),
    [
        (OBJECT, CLOSED),
        ({"type": ["object", "null"]}, {"type": ["object", "null"], "additionalProperties": False}),
        ({"type": "array", "items": OBJECT}, {"type": "array", "items": CLOSED}),
        ({"anyOf": [OBJECT, {"type": "null"}]}, {"anyOf": [CLOSED, {"type": "null"}]}),
        (
            {"$ref": "#/$defs/a", "$defs": {"a": OBJECT}},
            {"$ref": "#/$defs/a", "$defs": {"a": CLOSED}},
        ),
        (
            {**CLOSED, "properties": {"a": OBJECT, "type": OBJECT}},
            {**CLOSED, "properties": {"a": CLOSED, "type": CLOSED}},
        ),
    ],
)
def test_objects_are_closed(schema: dict[str, Any], sent: dict[str, Any]) -> None:
    assert closed(schema) == sent


@pytest.mark.parametrize(
    "schema",
    [
        {},
        CLOSED,
        {"type": "object", "additionalProperties": True},
        {"properties": 7, "anyOf": {}, "items": [OBJECT]},
        {"enum": ["object"]},
    ],
)
def test_what_is_right_or_odd_is_the_very_same(schema: dict[str, Any]) -> None:
    assert closed(schema) is schema


def test_a_schema_that_is_nested_too_deep_is_left_to_the_upstream() -> None:
    schema = OBJECT
    for _ in range(2000):
        schema = {"items": schema}
    assert closed(schema) is schema


def test_it_is_reported() -> None:
    losses = Losses()
    wish = Structured(OBJECT, at="response_format")
    request = Request("m", [], "chat", structured=wish, max_tokens=9)
    document = CODEC.write_request(request, Profile(), losses)
    assert document["output_config"]["format"]["schema"] == CLOSED
    assert [(loss.kind, loss.path) for loss in losses.entries if loss.kind != "invented"] == [
        ("coerced", "response_format")
    ]
