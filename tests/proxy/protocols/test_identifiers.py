"""Ids and names that a target refuses."""

from __future__ import annotations

import re

import pytest

from toolwire.proxy.protocols.identifiers import legal_id

MESSAGES = "[a-zA-Z0-9_-]+"
OPENAI = ".{1,40}"
MISTRAL = "[a-zA-Z0-9]{9}"


@pytest.mark.parametrize(
    ("original", "pattern"),
    [("toolu_01-a", MESSAGES), ("call:1/é", OPENAI), ("x" * 40, OPENAI), ("abc123XYZ", MISTRAL)],
)
def test_a_legal_id_stays(original: str, pattern: str) -> None:
    assert legal_id(original, re.compile(pattern)) == original


@pytest.mark.parametrize("pattern", [MESSAGES, OPENAI, MISTRAL])
@pytest.mark.parametrize("original", ["", "call:1\n" * 9, "é" * 50, "\ud83d" * 41])
def test_another_one_is_made_legal_always_in_the_same_way(original: str, pattern: str) -> None:
    made = legal_id(original, re.compile(pattern))
    assert re.fullmatch(pattern, made)
    assert made == legal_id(original, re.compile(pattern))
    assert made != legal_id(original + "!", re.compile(pattern))


def test_what_no_made_id_matches_stays() -> None:
    assert legal_id("call:1", re.compile("z+")) == "call:1"
