"""JSON in and out without loss.

msgspec does the work; what it cannot carry takes a slower way through the standard library:

- fractions and exponents are kept as ``decimal.Decimal``, so ``1.0``, ``1e400`` and a fraction of
  20 digits reach the other side as the same number, and still compare with ``<``;
- integers have any length; over 4300 digits (CPython's limit) they stay text, as ``msgspec.Raw``;
- lone surrogate escapes (``"\\ud83d"``, a truncated emoji) are legal by RFC 8259 section 8.2 and
  are written back as the same escape.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from decimal import Decimal, InvalidOperation
from typing import Any, NoReturn

import msgspec

from toolwire.proxy.errors import InvalidRequest

Document = Any
"""A parsed JSON value: dict, list, str, int, Decimal, bool, None (or Raw: an outsized number)."""

_SURROGATE = re.compile("[\ud800-\udfff]")
_MAX_INT_DIGITS = 4300


class NestedTooDeeply(ValueError):
    """More levels than the interpreter's stack has; some 900."""

    def __str__(self) -> str:
        return "nested too deeply"


def _fraction(text: str) -> Decimal | msgspec.Raw:
    try:
        return Decimal(text)
    except InvalidOperation:  # an exponent beyond the decimal module's own limit
        return msgspec.Raw(text.encode())


def _integer(text: str) -> int | msgspec.Raw:
    return int(text) if len(text) <= _MAX_INT_DIGITS else msgspec.Raw(text.encode())


_decoder = msgspec.json.Decoder(float_hook=_fraction)
_encoder = msgspec.json.Encoder(decimal_format="number")
_sorting_encoder = msgspec.json.Encoder(decimal_format="number", order="sorted")


def decode(data: bytes | str) -> Document:
    """The document in ``data``.  Raises ``ValueError``, with line and column, where it is none."""
    try:
        return _decoder.decode(data)
    except RecursionError:
        raise NestedTooDeeply from None
    except (msgspec.DecodeError, UnicodeError):
        return _decode_slowly(data)


def _decode_slowly(data: bytes | str) -> Document:
    try:
        text = data if isinstance(data, str) else data.decode("utf-8-sig", "surrogatepass")
        return json.loads(
            text, parse_float=_fraction, parse_int=_integer, parse_constant=_refuse_constant
        )
    except RecursionError:
        raise NestedTooDeeply from None


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON value")


def encode(document: Document, *, sort_keys: bool = False) -> bytes:
    """Compact UTF-8 JSON, non-ASCII as is; ``sort_keys`` sorts the keys of every object.

    Raises ``NestedTooDeeply``: what could just be decoded may be too deep where it is encoded.
    """
    encoder = _sorting_encoder if sort_keys else _encoder
    try:
        try:
            return encoder.encode(document)
        except UnicodeEncodeError:  # lone surrogates: write each as the escape that it came as
            return encoder.encode(_escaped(document, encoder))
    except RecursionError:
        raise NestedTooDeeply from None


def encode_text(document: Document, *, sort_keys: bool = False) -> str:
    """As ``encode``, for JSON that stands inside a string."""
    return encode(document, sort_keys=sort_keys).decode()


def _escaped(value: Document, encoder: msgspec.json.Encoder) -> Document:
    """The document with every string that holds a lone surrogate replaced by its raw JSON, and
    every object that has one in a key."""
    if isinstance(value, str):
        return msgspec.Raw(_quoted(value)) if _SURROGATE.search(value) else value
    if isinstance(value, dict):
        escaped = {key: _escaped(inner, encoder) for key, inner in value.items()}
        if not any(map(_SURROGATE.search, escaped)):
            return escaped
        # msgspec takes no Raw as a key: the object is put together here
        keys = sorted(escaped) if encoder is _sorting_encoder else escaped
        pairs = [b"%b:%b" % (_quoted(key), encoder.encode(escaped[key])) for key in keys]
        return msgspec.Raw(b"{%b}" % b",".join(pairs))
    if isinstance(value, list):
        return [_escaped(inner, encoder) for inner in value]
    return value


def _quoted(text: str) -> bytes:
    """``text`` as JSON, each lone surrogate as the escape that it came as."""
    quoted = json.dumps(text, ensure_ascii=False)
    return _SURROGATE.sub(lambda half: f"\\u{ord(half[0]):04x}", quoted).encode()


def decode_object(
    data: bytes,
    *,
    what: str = "the request body",
    decode: Callable[[bytes], Document] = decode,
) -> dict[str, Document]:
    """The object in ``data``; ``InvalidRequest`` says where it is no JSON, or what else it is."""
    try:
        document = decode(data)
    except ValueError as error:
        raise InvalidRequest(
            f"{what} is not valid JSON: {_where(error)}", code="invalid_json"
        ) from None
    if not isinstance(document, dict):
        raise InvalidRequest(f"{what} must be a JSON object, not {type_name(document)}")
    return document


def _where(error: ValueError) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"{error.msg} at line {error.lineno}, column {error.colno}"
    if isinstance(error, UnicodeDecodeError):
        return f"byte {error.start} is no UTF-8"
    return str(error)


_TYPE_NAMES = {
    dict: "an object",
    list: "an array",
    str: "a string",
    bool: "a boolean",
    int: "an integer",
}


def type_name(value: Document) -> str:
    """The JSON name of a value's type, with its article, for error messages."""
    if value is None:
        return "null"
    return _TYPE_NAMES.get(type(value), "a number")
