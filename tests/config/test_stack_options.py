"""Middlewares that are switched and tuned, for all upstreams and for one, and those of others."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from msgspec import Struct

from tests.config.conftest import OPTIONS, UPSTREAM, Problems, Read, Tuned
from toolwire.config.model import ThirdParty

HERE = __name__
App = Callable[[Any, Any, Any], Awaitable[None]]


class Plain:
    """A foreign middleware, configured by keyword arguments."""

    def __init__(self, app: App, size: int = 1, *, name: str = "") -> None:
        self.app, self.size, self.name = app, size, name


class Strict:
    """A foreign middleware with options of its own."""

    class Options(Struct, forbid_unknown_fields=True):
        level: int = 1
        words: list[str] = []

    def __init__(self, app: App, options: Options) -> None:
        self.app, self.options = app, options


NOT_A_CLASS = 1


def third(more: str, name: str = "mine", use: str = "Plain") -> str:
    return f'[middlewares.{name}]\nuse = "{HERE}:{use}"\n{more}\n'


def test_options_come_in_the_order_of_the_stack(read: Read) -> None:
    settings = read("[middlewares.last]\n[middlewares.auth]\n" + UPSTREAM)
    assert list(settings.middlewares) == list(OPTIONS)
    assert settings.upstreams[0].middlewares == settings.middlewares


def test_what_an_upstream_says_is_laid_over_what_all_have(read: Read) -> None:
    text = """
        [middlewares.tuned]
        size = 9
        limits = { a = 1, b = 2 }
    """ + UPSTREAM.replace('"a"', '"b"')
    own = '[upstreams.middlewares.tuned]\nsize = "${SIZE:-3}"\nlimits = { b = 3 }\n'
    settings = read(text + UPSTREAM + own)
    common, tuned = (upstream.middlewares["tuned"] for upstream in settings.upstreams)
    assert common == settings.middlewares["tuned"] == Tuned(size=9, limits={"a": 1, "b": 2})
    assert tuned == Tuned(size=3, limits={"a": 1, "b": 3})


def test_options_that_do_not_fit_each_other_only_for_one_upstream(problems: Problems) -> None:
    text = '[middlewares.tuned]\nflush = "budget"\n' + UPSTREAM
    assert problems(text + "[upstreams.middlewares.tuned]\nsize = 9\n") == [
        "upstreams[0].middlewares.tuned: expected size of at most 8 with flush = budget"
    ]


@pytest.mark.parametrize(
    ("place", "order"),
    [
        ('before = "auth"', ["mine", "auth", "routing", "tuned", "last"]),
        ('after = "auth"', ["auth", "mine", "routing", "tuned", "last"]),
        ('before = "last"', ["auth", "routing", "tuned", "mine", "last"]),
        ('after = "last"', ["auth", "routing", "tuned", "last", "mine"]),
    ],
)
def test_a_third_party_stands_where_it_asks_to(read: Read, place: str, order: list[str]) -> None:
    assert list(read(third(place) + UPSTREAM).middlewares) == order


def test_third_parties_find_each_other(read: Read) -> None:
    text = third('after = "auth"', "one") + third('before = "one"', "two")
    assert list(read(text + UPSTREAM).middlewares)[:3] == ["auth", "two", "one"]
    text = third('after = "auth"', "one") + third('after = "auth"', "two")
    assert list(read(text + UPSTREAM).middlewares)[:3] == ["auth", "two", "one"]


def test_a_third_party_gets_keyword_arguments(read: Read) -> None:
    more = 'after = "auth"\noptions = { size = 3, name = "${NAME}" }'
    mine = read(third(more) + UPSTREAM, {"NAME": "x"}).middlewares["mine"]
    assert isinstance(mine, ThirdParty)
    assert mine.factory is Plain
    assert mine.arguments() == {"size": 3, "name": "x"}


def test_a_third_party_gets_its_own_options(read: Read) -> None:
    more = 'after = "auth"\noptions = { level = 2, words = ["${A:-a}"] }'
    mine = read(third(more, use="Strict") + UPSTREAM).middlewares["mine"]
    assert isinstance(mine, ThirdParty)
    assert mine.arguments() == {"options": Strict.Options(level=2, words=["a"])}


def test_a_third_party_is_tuned_for_an_upstream(read: Read) -> None:
    text = third('after = "tuned"\noptions = { level = 2, words = ["a"] }', use="Strict")
    own = "[upstreams.middlewares.mine.options]\nlevel = 3\n"
    mine = read(text + UPSTREAM + own).upstreams[0].middlewares["mine"]
    assert isinstance(mine, ThirdParty)
    assert mine.arguments() == {"options": Strict.Options(level=3, words=["a"])}


def test_a_third_party_before_routing_is_everybodys(problems: Problems) -> None:
    own = "[upstreams.middlewares.mine]\nenabled = false\n"
    assert problems(third('after = "auth"') + UPSTREAM + own) == [
        (
            "upstreams[0].middlewares.mine: expected in [middlewares.mine] only: it acts before an "
            "upstream is chosen"
        )
    ]


def test_a_third_party_has_one_place(problems: Problems) -> None:
    own = '[upstreams.middlewares.mine]\nbefore = "last"\n'
    assert problems(third('after = "routing"') + UPSTREAM + own) == [
        "upstreams[0].middlewares.mine.before: expected in [middlewares.mine] only"
    ]


def test_what_is_switched_off_need_not_be_there(read: Read) -> None:
    text = '[middlewares.mine]\nuse = "not_installed:App"\nafter = "auth"\nenabled = false\n'
    assert not read(text + UPSTREAM).middlewares["mine"].enabled


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (third(""), "mine: expected either before or after, with the name of a middleware"),
        (
            third('before = "auth"\nafter = "auth"'),
            "mine: expected either before or after, with the name of a middleware",
        ),
        (
            third('before = "atuh"'),
            (
                "mine.before: expected the name of a middleware, or of one of your own further up, "
                'got "atuh"; did you mean "auth"?'
            ),
        ),
        (
            third('after = "auth"', use="Missing"),
            f'mine.use: expected "package.module:Class", but {HERE} has no class Missing',
        ),
        (
            third('after = "auth"', use="NOT_A_CLASS"),
            f'mine.use: expected "package.module:Class", but {HERE} has no class NOT_A_CLASS',
        ),
        (
            '[middlewares.mine]\nuse = "os.path"\nafter = "auth"\n',
            'mine.use: expected "package.module:Class", got "os.path"',
        ),
        (
            '[middlewares.mine]\nuse = "not_installed:App"\nafter = "auth"\n',
            (
                'mine.use: expected a module that can be imported, got "not_installed:App": '
                "No module named 'not_installed'"
            ),
        ),
        (
            third('after = "auth"\noptions = { sice = 3 }'),
            (
                "mine.options: expected the arguments of Plain(app, ...): got an unexpected "
                "keyword argument 'sice'"
            ),
        ),
        (
            third('after = "auth"\noptions = { level = "a" }', use="Strict"),
            'mine.options.level: expected a whole number, got "a"',
        ),
        (
            third('after = "auth"\noptions = { size = "${NONE}" }'),
            (
                "mine.options.size: expected the environment variable NONE to be set "
                "(or ${NONE:-default})"
            ),
        ),
        (
            third('after = "auth"\nopitons = 1'),
            'mine.opitons: unknown key; did you mean "options"?',
        ),
    ],
)
def test_mistakes_about_third_parties(problems: Problems, text: str, message: str) -> None:
    assert problems(text + UPSTREAM) == [f"middlewares.{message}"]


def test_our_own_cannot_be_replaced(problems: Problems) -> None:
    assert problems(third("", name="tuned") + UPSTREAM) == ["middlewares.tuned.use: unknown key"]
