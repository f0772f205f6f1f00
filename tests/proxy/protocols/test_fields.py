"""What a client is told of a field that is not what it must be."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import msgspec
import pytest

from toolwire.proxy.errors import InvalidRequest
from toolwire.proxy.protocols.fields import (
    invalid,
    objects,
    of_type,
    one_of,
    optional,
    optional_number,
    required,
    unknown,
)

DOCUMENT: dict[str, Any] = {
    "text": "",
    "whole": 0,
    "flag": False,
    "list": [],
    "object": {},
    "null": None,
    "fraction": Decimal("0.5"),
    "outsized": msgspec.Raw(b"1e99999999999999999999"),
}
KINDS = {"text": str, "whole": int, "flag": bool, "list": list, "object": dict}


def told(call: Any, *arguments: Any) -> tuple[str | None, str]:
    with pytest.raises(InvalidRequest) as caught:
        call(*arguments)
    return caught.value.param, caught.value.message


@pytest.mark.parametrize(("name", "kind"), KINDS.items())
def test_a_value_of_its_type_is_given_as_it_is(name: str, kind: type) -> None:
    assert required(DOCUMENT, name, kind) is DOCUMENT[name]
    assert optional(DOCUMENT, name, kind) is DOCUMENT[name]
    assert of_type(DOCUMENT[name], kind, "x") is DOCUMENT[name]


@pytest.mark.parametrize("kind", KINDS.values())
def test_what_may_be_absent_may_be_null(kind: type) -> None:
    assert optional(DOCUMENT, "null", kind) is None
    assert optional(DOCUMENT, "absent", kind) is None
    assert objects(DOCUMENT, "null") == objects(DOCUMENT, "absent") == []


@pytest.mark.parametrize(
    ("name", "kind", "fault"),
    [
        ("absent", str, "is missing; it must be a string"),
        ("null", int, "must be an integer, not null"),
        ("flag", int, "must be an integer, not a boolean"),
        ("whole", bool, "must be a boolean, not an integer"),
        ("fraction", int, "must be an integer, not a number"),
        ("outsized", str, "must be a string, not a number"),
        ("object", list, "must be an array, not an object"),
        ("list", dict, "must be an object, not an array"),
    ],
)
def test_a_field_of_another_type(name: str, kind: type, fault: str) -> None:
    assert told(required, DOCUMENT, name, kind) == (name, f"{name} {fault}")
    path = f"messages[2].tool_calls[0].{name}"
    assert told(required, DOCUMENT, name, kind, path.rpartition(".")[0]) == (
        path,
        f"{path} {fault}",
    )
    if DOCUMENT.get(name) is not None:
        assert told(optional, DOCUMENT, name, kind) == (name, f"{name} {fault}")


def test_numbers_are_whole_or_not_or_beyond_all_bounds() -> None:
    for name in ("whole", "fraction", "outsized", "null", "absent"):
        assert optional_number(DOCUMENT, name) is DOCUMENT.get(name)
    assert told(optional_number, DOCUMENT, "flag") == (
        "flag",
        "flag must be a number, not a boolean",
    )


def test_objects_come_with_their_paths() -> None:
    inner: dict[str, Any] = {"calls": [{"id": 1}, {}]}
    assert objects(inner, "calls", "messages[1]") == [
        ("messages[1].calls[0]", {"id": 1}),
        ("messages[1].calls[1]", {}),
    ]
    assert told(objects, {"calls": [{}, 1]}, "calls") == (
        "calls[1]",
        "calls[1] must be an object, not an integer",
    )
    assert told(objects, DOCUMENT, "text")[1] == "text must be an array, not a string"


def test_a_word_that_is_none_of_the_few() -> None:
    word = {"mode": "a"}
    assert one_of(word, "mode", ("a", "b")) == "a"
    assert told(one_of, word, "mode", ("c", "d"), "x") == (
        "x.mode",
        "x.mode must be one of c, d, not 'a'",
    )
    assert told(one_of, {}, "mode", ("a",))[1] == "mode is missing; it must be a string"


def test_unknown_fields_that_say_something() -> None:
    known = frozenset({"id"})
    assert unknown({"id": 1}, known) == {}
    assert unknown({"id": 1, "x": 0, "y": [1], "z": None, "w": ""}, known) == {"y": [1]}


def test_a_fault_follows_the_path() -> None:
    error = invalid("n", "must be 1")
    assert (error.param, error.message, error.status) == ("n", "n must be 1", 400)
