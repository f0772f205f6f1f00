"""Makes a value that a JSON Schema allows, with what the user's text offers.

Takes `const`, `enum`, `default` and `examples` where they are given; follows `$ref`, `allOf`,
`anyOf` and `oneOf`; keeps bounds, lengths and formats. `pattern` is not looked at.
https://json-schema.org/draft/2020-12/json-schema-validation
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

from toolwire.proxy.demo import hints
from toolwire.proxy.demo.neutral import Json

_DEEPEST = 24  # levels; a schema may require itself
_MOST_VALUES = 2_000  # in all; one that requires itself twice doubles at each level
_LONGEST_ARRAY = 100  # items; a larger minItems is not kept
_LONGEST_STRING = 10_000  # characters; a larger minLength is not kept
_TEXT_LENGTH = 80  # characters taken from the user's text
_TEXT_WORDS = ("query", "question", "text", "prompt", "message", "content", "input", "note", "task")
_FORMATS = {
    "date-time": "2026-01-01T12:00:00Z",
    "date": "2026-01-01",
    "time": "12:00:00Z",
    "duration": "PT1H",
    "email": "demo@example.com",
    "hostname": "example.com",
    "ipv4": "192.0.2.1",
    "ipv6": "2001:db8::1",
    "uri": "https://example.com/demo",
    "url": "https://example.com/demo",
    "uri-reference": "/demo",
    "uuid": "00000000-0000-4000-8000-000000000001",
    "json-pointer": "/demo",
    "regex": "^demo$",
}


def sample(schema: Any, text: str, turn: int = 0) -> Any:
    """A value for the schema; `turn` counts the calls of one answer: each takes its own place."""
    return _Sampler(schema, text, turn).value(schema)


class _Sampler:
    def __init__(self, root: Any, text: str, turn: int) -> None:
        self._root = root
        self._text = text.strip()
        places = hints.places(text) or ["Paris"]
        self._place = places[min(turn, len(places) - 1)]
        self._left = _MOST_VALUES
        self._numbers: Iterator[int | float] = iter(hints.numbers(text))
        self._kinds: dict[str, Callable[[Json, str, int], Any]] = {
            "object": self._object,
            "array": self._array,
            "string": self._string,
            "integer": self._integer,
            "number": self._number,
            "boolean": lambda schema, name, depth: True,
            "null": lambda schema, name, depth: None,
        }

    def value(self, schema: Any, name: str = "", depth: int = 0) -> Any:
        self._left -= 1
        if depth > _DEEPEST or self._left < 0 or schema is False:
            return None
        if not isinstance(schema, dict):
            schema = {}
        if "$ref" in schema:
            rest = {key: value for key, value in schema.items() if key != "$ref"}
            return self.value(_merged(self._target(schema["$ref"]), rest), name, depth + 1)
        if schema.get("allOf"):
            rest = {key: value for key, value in schema.items() if key != "allOf"}
            branches = (self._resolved(branch) for branch in schema["allOf"])
            return self.value(_merged(rest, *branches), name, depth + 1)
        if branch := _first_branch(schema):
            rest = {key: value for key, value in schema.items() if key not in ("anyOf", "oneOf")}
            return self.value(_merged(rest, self._resolved(branch)), name, depth + 1)
        given = self._given(schema, name)
        return given[0] if given else self._kinds[_kind(schema)](schema, name, depth)

    def _given(self, schema: Json, name: str) -> list[Any]:
        """The value that the schema itself gives, in a list; an empty list when it gives none."""
        if "const" in schema:
            return [schema["const"]]
        if schema.get("enum"):
            low = self._text.lower()
            said = [v for v in schema["enum"] if isinstance(v, str) and v and v.lower() in low]
            if "default" in schema and not said:
                return [schema["default"]]
            return (said or schema["enum"])[:1]
        if hints.is_place(name) and _kind(schema) == "string" and hints.places(self._text):
            return []  # the user's own words go before an example
        if schema.get("default") is not None:
            return [schema["default"]]
        return list(schema.get("examples") or ())[:1]

    def _resolved(self, schema: Any, hops: int = 0) -> Json:
        if isinstance(schema, dict) and "$ref" in schema and hops < _DEEPEST:
            rest = {key: value for key, value in schema.items() if key != "$ref"}
            return _merged(self._resolved(self._target(schema["$ref"]), hops + 1), rest)
        return schema if isinstance(schema, dict) else {}

    def _target(self, ref: Any) -> Json:
        """What a reference into the same document points at: nothing is an empty schema."""
        target = self._root
        for part in str(ref).removeprefix("#").split("/")[1:]:
            key = part.replace("~1", "/").replace("~0", "~")
            target = target.get(key) if isinstance(target, dict) else None
        return target if isinstance(target, dict) else {}

    def _object(self, schema: Json, name: str, depth: int) -> Json:
        properties = schema.get("properties") or {}
        required = [str(key) for key in schema.get("required") or ()]
        others = [key for key in properties if key not in required]
        chosen = required or others[: max(1, schema.get("minProperties", 1))]
        rest = schema.get("additionalProperties", {})
        return {key: self.value(properties.get(key, rest), key, depth + 1) for key in chosen}

    def _array(self, schema: Json, name: str, depth: int) -> list[Any]:
        ahead = schema.get("prefixItems") or []
        items = schema.get("items", {})
        if isinstance(items, dict) and schema.get("uniqueItems") and items.get("enum"):
            return list(items["enum"][: max(1, schema.get("minItems", 1))])
        count = min(max(1, schema.get("minItems", 1), len(ahead)), schema.get("maxItems", math.inf))
        count = int(min(count, _LONGEST_ARRAY))
        schemas = [ahead[i] if i < len(ahead) else items for i in range(count)]
        return [self.value(item, name, depth + 1) for item in schemas]

    def _string(self, schema: Json, name: str, depth: int) -> str:
        if (form := schema.get("format")) in _FORMATS:
            return _FORMATS[form]
        text = self._words_for(name.lower())
        text = text.ljust(int(min(schema.get("minLength", 0), _LONGEST_STRING)), "x")
        return text[: int(schema.get("maxLength", len(text)))]

    def _words_for(self, name: str) -> str:
        if hints.is_place(name):
            return self._place
        if any(word in name for word in _TEXT_WORDS) and self._text:
            return self._text[:_TEXT_LENGTH]
        if "path" in name or "file" in name:
            return "demo.txt"
        if "url" in name or "uri" in name:
            return _FORMATS["uri"]
        return f"demo {name}".strip()

    def _integer(self, schema: Json, name: str, depth: int) -> int:
        return int(self._bounded(schema, whole=True))

    def _number(self, schema: Json, name: str, depth: int) -> int | float:
        return self._bounded(schema, whole=False)

    def _bounded(self, schema: Json, whole: bool) -> int | float:
        """The next number of the text where it fits, otherwise what is nearest to 1 and fits."""
        low, high = _bounds(schema, whole)
        step = schema.get("multipleOf") or (1 if whole else 0)
        said = next(self._numbers, None)
        if said is not None and low <= said <= high and (not step or said % step == 0):
            return said
        value = low if low > 1 else min(1, high)
        if not step:
            return value
        value_up = math.ceil(value / step) * step
        return value_up if value_up <= high else math.floor(high / step) * step


def _merged(*schemas: Json) -> Json:
    """All that the schemas say at once; their properties and required names are joined."""
    out: Json = {}
    for schema in schemas:
        properties = {**(out.get("properties") or {}), **(schema.get("properties") or {})}
        required = [*(out.get("required") or ()), *(schema.get("required") or ())]
        out = {**out, **schema}
        if properties:
            out["properties"] = properties
        if required:
            out["required"] = list(dict.fromkeys(required))
    return out


def _first_branch(schema: Json) -> Any:
    """The first alternative that is more than null."""
    branches = schema.get("anyOf") or schema.get("oneOf") or []
    return next((b for b in branches if b != {"type": "null"}), None)


def _kind(schema: Json) -> str:
    kind = schema.get("type")
    if isinstance(kind, list):
        kind = next((k for k in kind if k != "null"), "null")
    if kind is None:
        kind = "object" if "properties" in schema else "array" if "items" in schema else "string"
    return kind if kind in ("object", "array", "integer", "number", "boolean", "null") else "string"


def _bounds(schema: Json, whole: bool) -> tuple[float, float]:
    """(lowest, highest) value, both allowed themselves."""
    low, high = schema.get("minimum", -math.inf), schema.get("maximum", math.inf)
    above, below = schema.get("exclusiveMinimum", False), schema.get("exclusiveMaximum", False)
    # Draft 4 spelled them as flags beside minimum and maximum.
    above = low if above is True else -math.inf if above is False else above
    below = high if below is True else math.inf if below is False else below
    margin = min(0.5, (min(high, below) - max(low, above)) / 4)
    if math.isfinite(above):
        low = max(low, math.floor(above) + 1 if whole else above + margin)
    if math.isfinite(below):
        high = min(high, math.ceil(below) - 1 if whole else below - margin)
    return low, high
