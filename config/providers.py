"""The tables `[providers.NAME]` and `[models."GLOB"]`: which rules make up an upstream's profiles.

Rules apply one after the other, so that the later one wins:

1. those of the upstream's protocol;
2. from `providers.toml`: the provider, the model globs, the provider's own model globs;
3. from the user's file: the same three;
4. the upstream's `[upstreams.profile]` and its `models`.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from toolwire.config.kinds import Glob
from toolwire.config.problems import ConfigError, did_you_mean, key_path
from toolwire.config.profile import Profile
from toolwire.config.reading import BAD, Reading, Table
from toolwire.config.resolution import Rule

PROVIDERS_FILE = Path(__file__).with_name("providers.toml")

PROTOCOL_RULES: Mapping[object, tuple[Rule, ...]] = {
    "messages": (
        Rule(
            "*",
            {
                # With thinking only `auto` and `none` are taken:
                # https://platform.claude.com/docs/en/build-with-claude/extended-thinking
                "forced_choice_refused_while_thinking": True,
                # https://platform.claude.com/docs/en/api/versioning
                "headers": {"anthropic-version": "2023-06-01"},
                # "temperature: ranges from 0.0 to 1.0", and the pattern of `tool_use.id`:
                # https://platform.claude.com/docs/en/api/messages/create
                "temperature_max": 1.0,
                "tool_id_pattern": "[a-zA-Z0-9_-]+",
                # "input_schema does not support oneOf, allOf, or anyOf at the top level":
                # https://github.com/anthropics/claude-code/issues/5319
                "schema_unions": False,
            },
        ),
    ),
}
"""What an upstream's protocol says itself, of whatever provider it is."""


class Provider(NamedTuple):
    """One table of `[providers]`."""

    like: str
    """The provider whose rules come first; empty: none."""

    rules: tuple[Rule, ...]
    """What differs for all its models."""

    models: tuple[Rule, ...]
    """What differs for some of them."""


class Layer(NamedTuple):
    """What one file says about providers and models."""

    providers: Mapping[str, Provider]
    models: tuple[Rule, ...]


def read_layer(reading: Reading, document: Table) -> Layer:
    """The tables `providers` and `models` of a file; problems are noted."""
    providers = {}
    for name, raw in reading.table(document.get("providers", {}), "providers").items():
        path = key_path("providers", name)
        table = reading.table(raw, path)
        rules, models = read_profile(reading, table, path, elsewhere=("like",))
        like = reading.value(table.get("like", ""), str, key_path(path, "like"))
        providers[name] = Provider(str(like) if like is not BAD else "", rules, models)
    models = _read_models(reading, document.get("models", {}), "models")
    return Layer(providers, models)


def read_profile(
    reading: Reading, raw: object, path: str, elsewhere: tuple[str, ...] = ()
) -> tuple[tuple[Rule, ...], tuple[Rule, ...]]:
    """The rules of a table with the fields of `Profile` and, beside them, `models`."""
    table = reading.table(raw, path)
    changes = reading.fields(table, Profile, path, elsewhere=("models", *elsewhere))
    models = _read_models(reading, table.get("models", {}), key_path(path, "models"))
    return ((Rule("*", changes),) if changes else (), models)


def _read_models(reading: Reading, raw: object, path: str) -> tuple[Rule, ...]:
    rules = []
    for glob, changes in reading.table(raw, path).items():
        at = key_path(path, glob)
        reading.value(glob, Glob, at)
        rules.append(Rule(glob, reading.fields(changes, Profile, at)))
    return tuple(rules)


@lru_cache(1)
def known_providers() -> Layer:
    """What `providers.toml` says."""
    reading = Reading(PROVIDERS_FILE.name, PROVIDERS_FILE.parent, {})
    layer = read_layer(reading, tomllib.loads(PROVIDERS_FILE.read_text("utf-8")))
    if reading.problems:
        raise ConfigError(reading.problems)
    return layer


class Providers:
    """The known providers and those of the user's file."""

    def __init__(self, reading: Reading, document: Table) -> None:
        self._layers = (known_providers(), read_layer(reading, document))
        self.own_models = self._layers[1].models
        self.names = list(dict.fromkeys(name for layer in self._layers for name in layer.providers))
        self._check_likeness(reading)

    def rules(self, protocol: object, provider: str) -> tuple[Rule, ...]:
        """The rules of a provider's profiles on upstreams of a protocol, first to last."""
        family = list(self._family(provider))[::-1]
        named = (rule for layer in self._layers for rule in _rules(layer, family))
        return (*PROTOCOL_RULES.get(protocol, ()), *named)

    def _family(self, name: str) -> Iterator[str]:
        """The provider, the one it is like, the one that this is like, ..."""
        seen: set[str] = set()
        while name and name not in seen:
            seen.add(name)
            yield name
            name = next((p.like for layer in self._layers if (p := layer.providers.get(name))), "")

    def _check_likeness(self, reading: Reading) -> None:
        known, own = self._layers
        for name, provider in own.providers.items():
            path = key_path(key_path("providers", name), "like")
            if not provider.like:
                continue
            if name in known.providers:
                reading.problem(path, "expected no like, for the provider is known already")
            elif provider.like not in self.names:
                near = did_you_mean(provider.like, [known for known in self.names if known != name])
                reading.problem(path, f'expected a provider, got "{provider.like}"{near}')
            elif own.providers.get(list(self._family(name))[-1], Provider("", (), ())).like:
                reading.problem(path, f'expected another provider, but "{name}" is like itself')


def _rules(layer: Layer, family: list[str]) -> Iterator[Rule]:
    members = [layer.providers[name] for name in family if name in layer.providers]
    for member in members:
        yield from member.rules
    yield from layer.models
    for member in members:
        yield from member.models
