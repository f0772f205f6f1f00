"""Which upstream serves a model: the one place that reads the ``models`` globs."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fnmatch import translate
from functools import lru_cache

from toolwire.config.model import Upstream

REMEMBERED_MODELS = 1024
"""Lookups kept; clients choose the names, so it has to be bounded."""


class Catalog:
    """The upstreams in the order of the configuration."""

    def __init__(self, upstreams: Sequence[Upstream]) -> None:
        self._upstreams = tuple(upstreams)
        self._by_name = {upstream.name: upstream for upstream in upstreams}
        self._globs = [
            (upstream, re.compile("|".join(translate(glob) for glob in upstream.models)))
            for upstream in upstreams
            if upstream.models
        ]
        self.candidates = lru_cache(REMEMBERED_MODELS)(self._candidates)

    def _candidates(self, model: str) -> list[tuple[Upstream, str]]:
        """Who can be asked for ``model``, first to last, and under which name.

        ``upstream/model`` asks that upstream alone; the prefix is taken off only where it is the
        name of an upstream, for models of some vendors have a slash in their own name.
        """
        prefix, slash, rest = model.partition("/")
        if slash and prefix in self._by_name:
            return [(self._by_name[prefix], rest)]
        return [(upstream, model) for upstream, globs in self._globs if globs.match(model)]

    def listed(self) -> list[tuple[str, str]]:
        """(model, upstream) of each model that the configuration names, globs left out."""
        named = [
            (model, upstream.name)
            for upstream in self._upstreams
            for model in upstream.models
            if not set(model) & set("*?[")
        ]
        plain = dict(reversed(named))  # the first upstream that names a model is the one asked
        twice = {model for model, owner in named if plain[model] != owner}
        return list(dict.fromkeys((model, plain[model]) for model, _ in named)) + [
            (f"{owner}/{model}", owner) for model, owner in named if model in twice
        ]

    def missing(self, model: str | None) -> str:
        """What to tell a client whose model nobody serves: it names what exists."""
        known = [name for name, _ in self.listed()]
        globs = [f"{u.name}/{glob}" for u in self._upstreams for glob in u.models if "*" in glob]
        exists = ", ".join([*known, *globs][:50]) or "none"
        what = "the request names no model" if not model else f"no upstream serves {model!r}"
        return f"{what}; models that exist: {exists}"
