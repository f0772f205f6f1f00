"""Colours, long lines, and what no terminal may get."""

from __future__ import annotations

import re

import pytest

from tests.proxy.explain.samples import (
    ANSWERS,
    REQUESTS,
    explained,
)
from toolwire.proxy.explain.explanation import Explanation
from toolwire.proxy.explain.paint import CUT_CHARACTERS, Paint, shortened, wants_colour
from toolwire.proxy.explain.shown import Shown
from toolwire.proxy.explain.text import as_text

REQUEST = {**REQUESTS["messages"], "top_k": 3}


def text_of(told: Explanation, *only: str, raw: bool = False, colour: bool = False) -> str:
    return as_text(told, Shown(frozenset(only), raw), Paint(colour)).decode()


def headings(text: str) -> list[str]:
    return [line[3:] for line in text.splitlines() if line.startswith("== ")]


async def test_colours_mark_the_diff_and_nothing_else() -> None:
    told = await explained(REQUEST, None, ANSWERS["chat"])
    plain, coloured = text_of(told), text_of(told, colour=True)
    assert "\x1b" not in plain
    assert re.sub(r"\x1b\[[0-9]+m", "", coloured) == plain
    assert "\x1b[32m+  " in coloured and "\x1b[31m-  " in coloured and "\x1b[36m@@" in coloured


@pytest.mark.parametrize(
    ("choice", "environ", "terminal", "wanted"),
    [
        ("auto", {}, True, True),
        ("auto", {}, False, False),
        ("auto", {"NO_COLOR": "1"}, True, False),
        ("auto", {"NO_COLOR": ""}, True, True),
        ("auto", {"TERM": "dumb"}, True, False),
        ("always", {"NO_COLOR": "1"}, False, True),
        ("never", {}, True, False),
    ],
)
def test_who_gets_colours(
    choice: str, environ: dict[str, str], terminal: bool, wanted: bool
) -> None:
    assert wants_colour(choice, environ, terminal=terminal) is wanted


async def test_nobody_elses_control_characters_reach_the_terminal() -> None:
    hostile = "\x9b2J\u202e"
    request = {**REQUESTS["chat"], "model": hostile, "user": hostile}
    told = await explained(request, None, b"<html>\x1b[2J" + hostile.encode(), status=500)
    for text in (text_of(told), text_of(told, colour=True)):
        plain = re.sub(r"\x1b\[[0-9]+m", "", text)
        assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", plain)
        assert "\\u009b2J\\u202e" in plain


async def test_lone_surrogates_are_printed_as_they_came() -> None:
    told = await explained({**REQUESTS["chat"], "user": "\ud83d"})
    assert '"user": "\\ud83d"' in text_of(told, "body")


# --------------------------------------------------------------------------------- long lines
def test_a_long_line_shows_where_it_differs() -> None:
    before, after = "-" + "x" * 900 + "a" + "y" * 900, "+" + "x" * 900 + "b" + "y" * 900
    removed, added = shortened([before, after])
    for line, letter in ((removed, "a"), (added, "b")):
        assert f"xx{letter}yy" in line
        assert len(line) < CUT_CHARACTERS + 60
        assert re.search(r"…\d+ characters… ", line) and line.endswith(" more characters")
    assert (removed[0], added[0]) == ("-", "+")


def test_what_is_cut_is_counted() -> None:
    (line,) = shortened(["+" + "x" * 1000])
    kept = line.count("x")
    assert line == f"+{'x' * kept} …{1000 - kept} more characters"


@pytest.mark.parametrize("lines", [[], ["-a", "+b"], [" " + "c" * (CUT_CHARACTERS - 1)]])
def test_short_lines_stay(lines: list[str]) -> None:
    assert shortened(lines) == lines
