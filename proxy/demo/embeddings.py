"""Small vectors that are a function of their text.

https://platform.openai.com/docs/api-reference/embeddings
"""

from __future__ import annotations

import base64
import hashlib
import math
import struct
from typing import Any

from toolwire.proxy.demo.documents import fingerprint
from toolwire.proxy.demo.neutral import Json
from toolwire.proxy.demo.openai_rules import given, invalid, one_of, within

_DIMENSIONS = 8
_MOST_DIMENSIONS = 3072


def embeddings(body: Json) -> Json:
    """The whole answer. Raises Refusal where the vendor would."""
    model = given(body, "model", "a string", required=True)
    texts = _texts(given(body, "input", "a string", "an array", required=True))
    dimensions = given(body, "dimensions", "an integer")
    within(dimensions, "an integer", 1, _MOST_DIMENSIONS, "dimensions")
    form = given(body, "encoding_format", "a string") or "float"
    one_of(form, ("float", "base64"), "encoding_format")
    vectors = [_vector(text, dimensions or _DIMENSIONS) for text in texts]
    _, size = fingerprint(body)
    return {
        "object": "list",
        "data": [
            {"object": "embedding", "index": i, "embedding": _written(vector, form)}
            for i, vector in enumerate(vectors)
        ],
        "model": model,
        "usage": {"prompt_tokens": size, "total_tokens": size},
    }


def _texts(said: Any) -> list[str]:
    """One string for each vector; tokens count as text."""
    if isinstance(said, str):
        said = [said]
    elif said and all(isinstance(token, int) for token in said):
        said = [said]
    if not said or any(not isinstance(text, str | list) or not text for text in said):
        raise invalid("'$.input' is invalid.", "input")
    return [str(text) for text in said]


def _vector(text: str, dimensions: int) -> list[float]:
    """A vector of length 1."""
    digests = (
        hashlib.sha256(f"{i}:{text}".encode("utf-8", "surrogatepass")).digest()
        for i in range(dimensions)
    )
    raw = [int.from_bytes(digest[:4], "big") / 2**31 - 1 for digest in digests]
    length = math.hypot(*raw)
    return [component / length for component in raw]


def _written(vector: list[float], form: str) -> list[float] | str:
    """Numbers, or Base64 of little-endian 32-bit floats."""
    if form == "float":
        return vector
    return base64.b64encode(struct.pack(f"<{len(vector)}f", *vector)).decode()
