"""Schemas of tools for upstreams that take no union at the root.

Anthropic and OpenAI refuse ``oneOf``, ``anyOf`` and ``allOf`` at the top level (nested ones are
fine): https://github.com/anthropics/claude-code/issues/40075,
https://github.com/langchain-ai/langchainjs/issues/9804
"""

from __future__ import annotations

from typing import Any

from toolwire.proxy.protocols import json
from toolwire.proxy.protocols.neutral import Losses

Schema = dict[str, Any]

_ALTERNATIVES = ("anyOf", "oneOf")
_UNIONS = frozenset((*_ALTERNATIVES, "allOf"))


def without_unions(schema: Schema, at: str, losses: Losses) -> Schema:
    """``schema`` itself where it has no union at its root, else one that allows at least as much.

    The branches are merged: the properties of all, of which those are required that each
    alternative requires.  ``at`` is the path of the tool.
    """
    if _UNIONS.isdisjoint(schema):
        return schema
    losses.coerce(at, "a schema may have no anyOf, oneOf or allOf at its root: merged")
    try:
        merged = _Merger(schema).merged(schema) or {}
    except (RecursionError, ValueError):  # nested deeper than can be followed
        merged = {}
    return {"properties": {}, **merged, "type": "object"}


class _Merger:
    """Merges unions; each definition once, as references may branch out or go round in circles."""

    def __init__(self, root: Schema) -> None:
        self._root = root
        self._definitions: dict[str, Schema | None] = {}

    def merged(self, schema: Schema) -> Schema | None:
        """``schema`` without unions at its top; None where it is no object at all."""
        if isinstance(schema.get("$ref"), str):
            schema = {**(self._definition(schema["$ref"]) or {}), **schema}
        if not _may_be_object(schema):
            return None
        merged = {name: v for name, v in schema.items() if name not in (*_UNIONS, "$ref")}
        demands = self._branches(schema, "allOf")
        for union in _ALTERNATIVES:
            if branches := self._branches(schema, union):
                demands.append(_either(branches))
        _add(merged, demands)
        return merged

    def _branches(self, schema: Schema, union: str) -> list[Schema]:
        found = schema.get(union)
        branches = found if isinstance(found, list) else []
        merged = [self.merged(branch) for branch in branches if isinstance(branch, dict)]
        return [branch for branch in merged if branch is not None]

    def _definition(self, reference: str) -> Schema | None:
        """What a reference into the schema itself means, merged."""
        if reference not in self._definitions:
            self._definitions[reference] = None
            target: Any = self._root if reference.startswith("#/") else None
            for step in reference[2:].split("/"):
                target = target.get(step) if isinstance(target, dict) else None
            if isinstance(target, dict):
                self._definitions[reference] = self.merged(target)
        return self._definitions[reference]


def _may_be_object(schema: Schema) -> bool:
    kind = schema.get("type", "object")
    return kind == "object" or (isinstance(kind, list) and "object" in kind)


def _either(branches: list[Schema]) -> Schema:
    """One object that each of the alternatives is an instance of."""
    variants: dict[str, dict[bytes, Any]] = {}
    for branch in branches:
        for name, value in _properties(branch).items():
            variants.setdefault(name, {})[json.encode(value, sort_keys=True)] = value
    requirements = [set(_required(branch)) for branch in branches]
    shared = set.intersection(*requirements)
    either: Schema = {
        "properties": {name: _any_of(list(values.values())) for name, values in variants.items()},
        "required": [name for name in _required(branches[0]) if name in shared],
    }
    if all(branch.get("additionalProperties") is False for branch in branches):
        either["additionalProperties"] = False
    return either


def _any_of(variants: list[Any]) -> Any:
    return variants[0] if len(variants) == 1 else {"anyOf": variants}


def _add(merged: Schema, demands: list[Schema]) -> None:
    """Adds to ``merged`` what each of ``demands`` wants beside it."""
    properties = dict(_properties(merged))
    required = dict.fromkeys(_required(merged))
    for demand in demands:
        for name, value in _properties(demand).items():
            known = properties.get(name, value)
            properties[name] = value if known == value else {"allOf": [known, value]}
        required.update(dict.fromkeys(_required(demand)))
        for name in ("title", "description", "additionalProperties"):
            if name in demand:
                merged.setdefault(name, demand[name])
    if properties:
        merged["properties"] = properties
    if required:
        merged["required"] = list(required)


def _properties(schema: Schema) -> dict[str, Any]:
    properties = schema.get("properties")
    return properties if isinstance(properties, dict) else {}


def _required(schema: Schema) -> list[str]:
    required = schema.get("required")
    return [n for n in required if isinstance(n, str)] if isinstance(required, list) else []
