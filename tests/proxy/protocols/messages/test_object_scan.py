"""When a JSON object that comes in pieces is whole."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolwire.proxy.protocols.messages.object_scan import ObjectScan


def scanned(*pieces: str) -> bool:
    scan = ObjectScan()
    complete = False
    for piece in pieces:
        scan.feed(piece)
        complete = scan.complete()
    return complete


@pytest.mark.parametrize(
    "pieces",
    [["{}"], [' {"a":', "1}"], ['{"a":"\\', '"}"}'], ['{"a":{"b":[{}]}', "}"], ['{"a":"}{', '"}']],
)
def test_whole(pieces: list[str]) -> None:
    assert scanned(*pieces)
    assert not scanned(*pieces[:-1], pieces[-1][:-1])


@pytest.mark.parametrize("text", ["", " ", "[{}]", '"{}"', '{"a":"}"', '{"a":"\\"}', "}{"])
def test_not_whole(text: str) -> None:
    assert not scanned(text)


VALUES = st.recursive(
    st.one_of(st.none(), st.integers(), st.text()),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=6,
)


@given(st.dictionaries(st.text(), VALUES), st.booleans(), st.data())
def test_whole_at_its_last_character_alone(
    document: dict[str, object], ascii_only: bool, data: st.DataObject
) -> None:
    text = json.dumps(document, ensure_ascii=ascii_only)
    cut = data.draw(st.integers(0, len(text) - 1))
    scan = ObjectScan()
    scan.feed(text[:cut])
    assert not scan.complete()
    scan.feed(text[cut:])
    assert scan.complete()
