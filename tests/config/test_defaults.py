"""`defaults.toml` says every key with its default: nothing of it is hidden, nothing is outdated."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection
from pathlib import Path
from typing import Any

import pytest
from msgspec import NODEFAULT, Struct
from msgspec.structs import FieldInfo, fields

import toolwire.config.model as model
from toolwire.config.load import loads
from toolwire.config.options import Options
from toolwire.config.profile import Profile
from toolwire.config.providers import known_providers
from toolwire.proxy.stack import OPTIONS

FILE = Path(model.__file__).with_name("defaults.toml")
TEXT = FILE.read_text("utf-8")
WHOLE: dict[str, Any] = tomllib.loads(re.sub(r"(?m)^#(?=\S)", "", TEXT))
"""The file with its examples: a key or a table directly after # is an example, text has a space."""

UPSTREAM = WHOLE["upstreams"][0]
EXAMPLES = {"name", "protocol", "base_url"}


def default(field: FieldInfo) -> object:
    """A field's default as TOML has it."""
    value = field.default if field.default is not NODEFAULT else field.default_factory()
    if isinstance(value, model.Secret):
        return value.reveal()
    return list(value) if isinstance(value, tuple) else value


def differences(
    table: dict[str, Any], struct: type[Struct], but: Collection[str] = ()
) -> list[str]:
    """The keys of a table that are missing, unknown, or have another value than the default."""
    known = {field.encode_name: field for field in fields(struct) if field.name not in but}
    wrong = [key for key in known if key not in table or table[key] != default(known[key])]
    return wrong + [key for key in table if key not in known and key not in but]


@pytest.mark.parametrize(
    ("key", "struct"),
    [
        ("server", model.Server),
        ("responses_store", model.ResponsesStore),
        ("thinking_store", model.ThinkingStore),
    ],
)
def test_each_section_is_whole(key: str, struct: type[Struct]) -> None:
    assert differences(WHOLE[key], struct) == []


def test_the_top_is_whole() -> None:
    sections = {"server", "responses_store", "thinking_store", "upstreams", "middlewares"}
    assert differences(WHOLE, model.Settings, sections | {"providers", "models"}) == []


def test_an_upstream_is_whole() -> None:
    elsewhere = EXAMPLES | {"middlewares", "profile", "on_loss"}
    assert differences(UPSTREAM, model.Upstream, elsewhere) == []
    assert UPSTREAM.keys() >= elsewhere


def test_a_provider_is_whole() -> None:
    assert differences(WHOLE["providers"]["mine"], Profile, {"like", "models"}) == []


def test_all_providers_are_named() -> None:
    line = TEXT[TEXT.index("# Its quirks") : TEXT.index("#provider")]
    assert set(known_providers().providers) <= set(re.findall(r"\w+", line))


@pytest.mark.parametrize("name", OPTIONS)
def test_each_middleware_is_whole(name: str) -> None:
    assert (
        differences(tomllib.loads(TEXT)["middlewares"][name], OPTIONS[name], optional(name)) == []
    )
    assert WHOLE["middlewares"][name].keys() >= optional(name)


def optional(name: str) -> set[str]:
    """The options that are not set by default, which TOML cannot say."""
    return {field.encode_name for field in fields(OPTIONS[name]) if field.default is None}


def test_the_stack_is_told_in_its_order() -> None:
    assert list(tomllib.loads(TEXT)["middlewares"]) == list(OPTIONS)


def test_nothing_changes_with_the_defaults_written_out() -> None:
    upstream = '[[upstreams]]\nname = "a"\nprotocol = "chat"\nbase_url = "http://x"\n'
    written = loads(TEXT + upstream, environ={}, options=OPTIONS)
    assert written == loads(upstream, environ={}, options=OPTIONS)


def test_the_examples_are_right() -> None:
    text = re.sub(r"(?m)^#(?=\S)", "", TEXT)
    settings = loads(text, environ={}, options=OPTIONS)
    assert settings.upstreams[0].name == "bailian"
    assert isinstance(settings.middlewares["compression"], model.ThirdParty)
    assert all(isinstance(options, Options) for options in settings.middlewares.values())
