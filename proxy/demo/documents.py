"""JSON as it is on the wire, and what is derived from a request as a whole."""

from __future__ import annotations

import hashlib
import json
import sys
from typing import Any

from toolwire.proxy.demo.neutral import Json

CREATED = 1_767_225_600
"""2026-01-01, in seconds since the epoch: equal requests give equal answers."""

_ASKED_ABOUT_DELIVERY = frozenset({"stream", "stream_options"})
_BYTES_PER_TOKEN = 4
_CACHED_FROM = 1024
_CACHE_STEP = 128


def parse(raw: bytes | str) -> Any:
    """The document; lone surrogate escapes and long integers survive.

    Raises ValueError when it is not JSON (RFC 8259), RecursionError when it is nested too deep.
    """
    return json.loads(raw, parse_float=_finite, parse_constant=_refuse_constant)


def _finite(digits: str) -> float:
    """`1e400` is legal JSON and more than a float holds: the largest float stands for it."""
    return max(-sys.float_info.max, min(sys.float_info.max, float(digits)))


def _refuse_constant(word: str) -> None:
    raise ValueError(f"{word} is not JSON")


def text_of(value: Any) -> str:
    """Compact JSON, characters as they are, keys in the order given."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def bytes_of(value: Any) -> bytes:
    """Compact JSON in UTF-8; a lone surrogate becomes the escape that it came as."""
    return text_of(value).encode("utf-8", "backslashreplace")


def fingerprint(body: Json) -> tuple[str, int]:
    """(hexadecimal digest, estimated input tokens) of a request, the same streamed or not."""
    said = {key: value for key, value in body.items() if key not in _ASKED_ABOUT_DELIVERY}
    canonical = json.dumps(said, sort_keys=True, separators=(",", ":")).encode()
    return hashlib.sha256(canonical).hexdigest(), max(1, len(canonical) // _BYTES_PER_TOKEN)


def cached_part(input_tokens: int) -> int:
    """Prompts from 1,024 tokens on are cached in steps of 128; half of such a one counts as seen.

    https://platform.openai.com/docs/guides/prompt-caching
    """
    if input_tokens < _CACHED_FROM:
        return 0
    return input_tokens // 2 // _CACHE_STEP * _CACHE_STEP


def derived(seed: str, *what: object, digits: int = 24) -> str:
    """Hexadecimal digits that are a function of the request and of what they name."""
    return hashlib.sha256(":".join([seed, *map(str, what)]).encode()).hexdigest()[:digits]
