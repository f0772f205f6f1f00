"""Numbers and text survive; what is no JSON is told with its place."""

from __future__ import annotations

import json as stdlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolwire.proxy.errors import InvalidRequest
from toolwire.proxy.protocols import json

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(codec="utf-8")),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(st.characters(codec="utf-8")), inner),
    max_leaves=20,
)


@pytest.mark.parametrize(
    "number",
    ["1.0", "1.10", "-0.0", "9" * 19, "9" * 400, "9" * 5000, "0.12345678901234567890", "1E-7"],
)
def test_numbers_keep_every_digit(number: str) -> None:
    assert json.encode(json.decode(f'{{"n":{number}}}')) == f'{{"n":{number}}}'.encode()


@pytest.mark.parametrize(
    ("number", "same"), [("1e400", b"1E+400"), ("1e5", b"1E+5"), ("0.0000001", b"1E-7")]
)
def test_exponents_stay_the_same_number(number: str, same: bytes) -> None:
    assert json.encode(json.decode(number)) == same


def test_an_exponent_beyond_all_limits_passes_as_it_came() -> None:
    assert json.encode(json.decode("[1e99999999999999999999]")) == b"[1e99999999999999999999]"


@pytest.mark.parametrize("text", [r"\ud83d", r"a\udc00b", r"\u0000", r"\ud83d\ude00"])
def test_text_survives(text: str) -> None:
    written = json.encode(json.decode(f'{{"t":"{text}"}}'))
    assert stdlib.loads(written)["t"] == stdlib.loads(f'"{text}"')
    written.decode("utf-8")  # it is legal UTF-8


def test_duplicate_keys_the_last_one_counts() -> None:
    assert json.decode('{"a":1,"a":2}') == {"a": 2}
    assert json.decode('{"a":"\\ud83d","b":1,"b":2}') == {"a": "\ud83d", "b": 2}


@given(VALUES)
def test_round_trip(value: object) -> None:
    assert stdlib.loads(json.encode(json.decode(stdlib.dumps(value)))) == value


@given(VALUES)
def test_sorting_is_blind_to_the_order_of_keys(value: object) -> None:
    text = stdlib.dumps(value)
    turned = stdlib.dumps(_turned(value))
    one = json.encode(json.decode(text), sort_keys=True)
    assert json.encode(json.decode(turned), sort_keys=True) == one
    assert json.encode(json.decode(one), sort_keys=True) == one
    assert stdlib.loads(one) == value


def _turned(value: object) -> object:
    """The same value, the keys of its objects in the opposite order."""
    if isinstance(value, dict):
        return {key: _turned(value[key]) for key in reversed(value)}
    return [_turned(item) for item in value] if isinstance(value, list) else value


@pytest.mark.parametrize(
    ("body", "told"),
    [
        (b'{"a":}', "line 1, column 6"),
        (b'{\n "a": 1,\n}', "line 3, column 1"),
        (b"", "line 1, column 1"),
        (b"NaN", "NaN is no JSON value"),
        (b'{"a":Infinity}', "Infinity is no JSON value"),
        (b'"\xff"', "no UTF-8"),
        (b"[" * 100_000, "nested too deeply"),
        (b"[1]", "must be a JSON object, not an array"),
        (b"null", "must be a JSON object, not null"),
        (b"1.5", "must be a JSON object, not a number"),
    ],
)
def test_what_is_no_object_is_told(body: bytes, told: str) -> None:
    with pytest.raises(InvalidRequest) as caught:
        json.decode_object(body)
    assert told in caught.value.message


@given(st.binary())
def test_nothing_else_is_raised(body: bytes) -> None:
    try:
        json.decode_object(body)
    except InvalidRequest:
        pass


@pytest.mark.parametrize("sort_keys", [False, True])
@pytest.mark.parametrize(
    "text",
    [
        r'{"\ud83d":1,"a":"\udc00"}',
        r'{"a":{"\ud83d":[{"b":"\ud83d"}],"x":1.50},"b":2}',
        r'[{"\ud83dx":{"\udc00":null}}]',
    ],
)
def test_half_a_pair_in_a_key(text: str, sort_keys: bool) -> None:
    found = json.encode(json.decode(text), sort_keys=sort_keys).decode()
    assert json.decode(found) == json.decode(text)
    assert found.count("\\ud83d") == text.count("\\ud83d")


def test_keys_with_half_a_pair_are_sorted() -> None:
    text = r'{"b":1,"\ud83d":{"d":1,"c":2},"a":3}'
    assert json.encode(json.decode(text), sort_keys=True) == (
        rb'{"a":3,"b":1,"\ud83d":{"c":2,"d":1}}'
    )


def test_what_is_too_deep_is_said() -> None:
    value: object = "\ud83d"
    for _ in range(5000):
        value = [value]
    with pytest.raises(json.NestedTooDeeply, match="nested too deeply"):
        json.encode(value)
