"""From a provider's name and a model's name to a profile: rules that apply one after the other."""

from __future__ import annotations

import re
from collections.abc import Mapping
from fnmatch import translate
from functools import lru_cache
from typing import NamedTuple

from msgspec.structs import replace

from toolwire.config.profile import Profile

REMEMBERED_MODELS = 256
"""Profiles kept per upstream. Clients choose the names of models, so it has to be bounded."""


class Rule(NamedTuple):
    """What differs from the rules before it."""

    models: str
    """A glob, compared with the model's name in lower case."""

    changes: Mapping[str, object]
    """Some of `Profile`'s fields, already validated."""


class ProfileRules:
    """The rules of one upstream, first to last; without any, every model is `generic`."""

    def __init__(self, rules: tuple[Rule, ...] = ()) -> None:
        self.rules = rules
        self._patterns = [re.compile(translate(rule.models.lower())) for rule in rules]
        self.for_model = lru_cache(REMEMBERED_MODELS)(self._resolve)

    def _resolve(self, model: str) -> Profile:
        name = model.lower()
        changes: dict[str, object] = {}
        for rule, pattern in zip(self.rules, self._patterns, strict=True):
            if pattern.match(name):
                changes.update(rule.changes)
        return replace(Profile(), **changes)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ProfileRules) and self.rules == other.rules

    def __hash__(self) -> int:
        return hash(tuple(rule.models for rule in self.rules))

    def __repr__(self) -> str:
        return f"ProfileRules({self.rules!r})"

    def __reduce__(self) -> tuple[type[ProfileRules], tuple[tuple[Rule, ...]]]:
        """The cache cannot be pickled, and need not be."""
        return (ProfileRules, (self.rules,))
