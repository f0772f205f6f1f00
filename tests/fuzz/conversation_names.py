"""Names and ids that had to change on the way, and all others, which had not."""

from __future__ import annotations

import re

from tests.fuzz.conversation import Conversation, Piece

_LEGAL_NAME = re.compile("[a-zA-Z0-9_-]{1,64}")
_LEGAL_ID = re.compile("[a-zA-Z0-9_-]+")


def renamed(said: Conversation, found: Conversation) -> Conversation:
    """``said`` with the names of ``found``, where these had to be others: each legal, no two alike,
    and the same one wherever it is named."""
    names: dict[str, str] = {}
    calls = [(_calls(said)), _calls(found)]
    pairs = [*zip(said.tools, found.tools, strict=False), *zip(*calls, strict=False)]
    for mine, theirs in pairs:
        if not _LEGAL_NAME.fullmatch(mine.name) and _LEGAL_NAME.fullmatch(theirs.name):
            names.setdefault(mine.name, theirs.name)
    assert len(set(names.values())) == len(names)
    for tool in said.tools:
        tool.name = names.get(tool.name, tool.name)
    for call in calls[0]:
        call.name = names.get(call.name, call.name)
    for name in ("choice", "allowed"):
        if (fact := said.facts.get(name)) is not None and isinstance(fact.value, list):
            fact.value = [names.get(one, one) for one in fact.value]
        elif fact is not None and fact.value[0] == ":":
            fact.value = ":" + names.get(fact.value[1:], fact.value[1:])
    return said


def check_ids(said: Conversation, found: Conversation, upstream: str) -> None:
    """Ids stay as they are, but for those that Messages refuses, or would see twice."""
    mine, theirs = ([call.id for call in _calls(one)] for one in (said, found))
    for place, (before, after) in enumerate(zip(mine, theirs, strict=True)):
        if upstream == "messages" and (not _LEGAL_ID.fullmatch(before) or before in mine[:place]):
            assert _LEGAL_ID.fullmatch(after) and after not in theirs[:place]
        else:
            assert after == before


def _calls(said: Conversation) -> list[Piece]:
    kinds = ("call", "freeform")
    return [piece for turn in said.turns for piece in turn.pieces if piece.kind in kinds]
