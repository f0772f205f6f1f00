"""What the texts list is what there is: each option, field, provider, command and middleware."""

from __future__ import annotations

import re
import tomllib
from typing import Any

import msgspec
import pytest
from msgspec import NODEFAULT, Struct

from tests.docs.markdown import ROOT, table, text_of, words
from toolwire.config import model
from toolwire.config.profile import Profile
from toolwire.config.providers import known_providers
from toolwire.config.resolution import ProfileRules
from toolwire.proxy.__main__ import COMMANDS, main
from toolwire.proxy.demo import QUIRKS
from toolwire.proxy.protocols import neutral
from toolwire.proxy.protocols.codec import Codec
from toolwire.proxy.protocols.registry import CODECS
from toolwire.proxy.stack import OPTIONS, OUTER

CONFIGURATION, MIDDLEWARES = "docs/configuration.md", "docs/middlewares.md"
PROVIDERS, PROTOCOLS = "docs/providers.md", "docs/protocols.md"


def toml_value(text: str) -> Any:
    return tomllib.loads(f"value = {text}")["value"]


def defaults(struct: type[Struct]) -> dict[str, Any]:
    """Field -> its default as TOML has it, "required" or "not set"."""
    return {field.encode_name: _default(field) for field in msgspec.structs.fields(struct)}


def _default(field: msgspec.structs.FieldInfo) -> Any:
    if field.required:
        return "required"
    value = field.default if field.default is not NODEFAULT else field.default_factory()
    if isinstance(value, model.Secret):
        return value.reveal()
    if isinstance(value, ProfileRules):
        return {}  # a table of its own
    if value is None:
        return "not set"
    return list(value) if isinstance(value, tuple) else value


def told(rows: list[list[str]]) -> dict[str, Any]:
    """Key -> default, of a table's first two columns."""
    return {
        words(key)[0]: toml_value(words(default)[0]) if words(default) else default
        for key, default, *_ in rows
    }


@pytest.mark.parametrize(
    ("heading", "struct"),
    [
        ("## `[server]`", model.Server),
        ("## `[[upstreams]]`", model.Upstream),
        ("## `[responses_store]`", model.ResponsesStore),
        ("## `[thinking_store]`", model.ThinkingStore),
    ],
)
def test_each_key_of_a_table_is_told_with_its_default(heading: str, struct: type[Struct]) -> None:
    assert told(table(CONFIGURATION, "key", heading)) == defaults(struct)


def test_each_key_at_the_top_is_told() -> None:
    tables = {"server", "upstreams", "middlewares", "responses_store", "thinking_store"}
    expected = {k: v for k, v in defaults(model.Settings).items() if k not in tables}
    assert told(table(CONFIGURATION, "key", "## Top level")) == expected
    assert [name for name in tables if f"[{name}" not in text_of(CONFIGURATION)] == []


def test_each_field_of_a_profile_is_told_with_its_default() -> None:
    assert told(table(PROVIDERS, "field")) == defaults(Profile)


def test_each_provider_is_told() -> None:
    named = [words(row[0])[0] for row in table(PROVIDERS, "provider")]
    assert named == list(known_providers().providers)


def test_each_middleware_is_told_in_its_order() -> None:
    for name in (MIDDLEWARES, "README.md"):
        cells = [words(row[0]) for row in table(name, "middleware")]
        assert [cell[0] for cell in cells if cell] == list(OPTIONS), name


def test_each_option_of_a_middleware_is_told_with_its_default() -> None:
    found: dict[str, dict[str, Any]] = {}
    name = ""
    for first, option, default, *_ in table(MIDDLEWARES, "middleware"):
        name = words(first)[0] if words(first) else name
        options = found.setdefault(name, {})
        if words(option):
            options |= told([[option, default]])
    expected = {name: defaults(options) for name, options in OPTIONS.items()}
    assert {options.pop("enabled") for options in expected.values()} == {True}
    assert found == expected


def test_the_ones_that_cannot_be_tuned_for_an_upstream_end_with_routing() -> None:
    assert "Up to `routing` they act before an upstream is chosen" in text_of(MIDDLEWARES)
    early = [name for name, options in OPTIONS.items() if not options.per_upstream]
    assert early == [step.name for step in OUTER]
    assert early[-1] == "routing"


def test_each_command_is_told() -> None:
    named = [words(row[0])[0] for row in table("README.md", "command")]
    assert sorted(named) == sorted(f"toolwire {name}" for name in COMMANDS)


def test_options_of_commands_exist(capsys: pytest.CaptureFixture[str]) -> None:
    texts = [text_of("README.md"), *(text_of(name) for name in (CONFIGURATION, PROVIDERS))]
    # not those of other programs: npm, pip and curl have none of two dashes here
    named = set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", "\n".join(texts)))
    for name in COMMANDS:
        with pytest.raises(SystemExit):
            main([name, "--help"])
    known = set(re.findall(r"--[a-z-]+", capsys.readouterr().out)) | {"--version"}
    assert len(named) >= 5
    assert named <= known


def test_each_protocol_is_told() -> None:
    rows = table(PROTOCOLS, "name")
    assert [words(row[0])[0] for row in rows] == list(CODECS)
    assert [words(row[2])[0] for row in rows] == [f"/v1{codec.path}" for codec in CODECS.values()]


def test_each_part_of_a_codec_is_told() -> None:
    named = {name for row in table(PROTOCOLS, "part") for name in words(row[0])}
    offered = {name for name in vars(Codec) if not name.startswith("_")}
    assert named == offered - {"name", "path"}


def test_each_struct_of_the_neutral_form_exists() -> None:
    cells = [row[1] for row in table(PROTOCOLS, "what")]
    named = {name for cell in cells for name in words(cell)}
    assert len(named) > 25
    assert [name for name in named if not hasattr(neutral, name)] == []


def test_files_of_the_protocols_exist() -> None:
    folder = ROOT / "proxy/protocols"
    named = set(re.findall(r"`(\w+\.py)`", text_of(PROTOCOLS))) - {"__init__.py", "wire.py"}
    assert len(named) >= 6
    assert [name for name in named if not (folder / name).exists()] == []


def test_faults_that_the_readme_names_exist() -> None:
    named = re.findall(r"/demo\+([\w-]+)", text_of("README.md"))
    assert len(named) >= 4
    assert [name for name in named if name not in QUIRKS] == []
