"""Values of every type that options may have, and documents of every shape."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Meta, Struct, field

from tests.config.conftest import OPTIONS
from toolwire.config.kinds import Glob, HeaderName
from toolwire.config.load import from_dict
from toolwire.config.model import Profile, Secret, Server, Settings, Upstream
from toolwire.config.problems import ConfigError
from toolwire.config.reading import Reading


class Inner(Struct, forbid_unknown_fields=True):
    size: Annotated[int, Meta(ge=1)]
    words: tuple[str, ...] = ()


class Outer(Struct, forbid_unknown_fields=True, rename={"other_name": "other-name"}):
    one: Inner | None = None
    many: list[Inner] = field(default_factory=list)
    named: dict[HeaderName, Inner] = field(default_factory=dict)
    either: int | str | None = None
    word: Literal["a", "b"] | None = None
    plain: dict[str, object] = field(default_factory=dict)
    anything: Any = None
    odd: frozenset[int] = frozenset()
    key: Secret | None = None
    other_name: Glob = "*"


def read(table: dict[str, object], **environ: str) -> tuple[Outer | None, list[str]]:
    reading = Reading("f", Path(), environ)
    found = reading.struct(table, Outer, "o")
    return found, [f"{problem.key_path}: {problem.message}" for problem in reading.problems]


def test_all_types_are_read() -> None:
    found, problems = read(
        {
            "one": {"size": 1, "words": ["a", "${B}"]},
            "many": [{"size": 2}, {"size": "${N}"}],
            "named": {"x-a": {"size": 3}},
            "either": "${B}",
            "word": "b",
            "plain": {"a": ["${B}", {"b": "${B}"}], "n": 1},
            "anything": ["${B}"],
            "odd": [1, 1],
            "key": "${B}",
            "other-name": "q*",
        },
        B="bee",
        N="7",
    )
    assert problems == []
    assert found == Outer(
        one=Inner(1, ("a", "bee")),
        many=[Inner(2), Inner(7)],
        named={"x-a": Inner(3)},
        either="bee",
        word="b",
        plain={"a": ["bee", {"b": "bee"}], "n": 1},
        anything=["bee"],
        odd=frozenset({1}),
        key=Secret("bee"),
        other_name="q*",
    )


UNSET = "expected the environment variable X to be set (or ${X:-default})"


@pytest.mark.parametrize(
    ("table", "problem"),
    [
        ({"one": 1}, "o.one: expected a table, got 1"),
        ({"one": {}}, "o.one.size: expected a whole number of at least 1, the key is missing"),
        ({"one": {"size": 0}}, "o.one.size: expected a whole number of at least 1, got 0"),
        ({"many": {}}, "o.many: expected a list of tables, got a table"),
        ({"many": [{"size": 1}, 1]}, "o.many[1]: expected a table, got 1"),
        ({"many": [{"size": "${X}"}]}, f"o.many[0].size: {UNSET}"),
        ({"named": {"a b": {"size": 1}}},
         'o.named."a b": expected the name of a header, got "a b"'),
        ({"named": {"a": {"size": 0}}},
         "o.named.a.size: expected a whole number of at least 1, got 0"),
        ({"either": 1.5}, "o.either: expected a whole number or a string, got 1.5"),
        ({"word": "c"}, 'o.word: expected one of "a" or "b", got "c"'),
        ({"plain": 1}, "o.plain: expected a table, got 1"),
        ({"plain": {"a": ["${X}"]}}, f"o.plain.a[0]: {UNSET}"),
        ({"odd": ["a"]}, "o.odd: Expected `int`, got `str` - at `$[0]`"),
        ({"key": 5}, "o.key: expected a string, got a whole number"),
        ({"other_name": "q"}, 'o.other_name: unknown key; did you mean "other-name"?'),
        ({"other-name": "x" * 70 + " "},
         'o.other-name: expected a glob such as qwen*, got "' + "x" * 56 + "..."),
    ],
)  # fmt: skip
def test_all_types_are_checked(table: dict[str, object], problem: str) -> None:
    assert read(table) == (None, [problem])


SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=8)
    | st.sampled_from(["chat", "http://x", "a", "${A}", "${", "$${A}", "*", "[", "keep", "auto"])
)
KEYS = st.text(max_size=3) | st.sampled_from(
    [
        *Settings.__struct_fields__,
        *Server.__struct_fields__,
        *Upstream.__struct_fields__,
        *Profile.__struct_fields__,
        *OPTIONS,
        *("use", "before", "after", "options", "like", "providers", "models", "size", "limits"),
    ]
)
DOCUMENTS = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=5)
)


@given(st.dictionaries(KEYS, DOCUMENTS, max_size=6))
def test_any_document_is_settings_or_told_what_is_wrong(document: dict[str, object]) -> None:
    upstream = {"name": "a", "protocol": "chat", "base_url": "http://x"}
    for upstreams in ([upstream], [{**upstream, **document}]):
        whole = {**document, "upstreams": upstreams}
        try:
            settings = from_dict(whole, environ={}, options=OPTIONS)
        except ConfigError as error:
            assert error.problems
            assert all(problem.message for problem in error.problems)
        else:
            assert settings.upstreams[0].profile_for("some-model").tool_choices


@given(DOCUMENTS)
def test_any_upstreams(document: object) -> None:
    with pytest.raises(ConfigError):
        from_dict({"upstreams": document, "nonsense": 1}, environ={}, options=OPTIONS)
