"""What a client gets back of the names and forms that it used, and of characters cut in two."""

from __future__ import annotations

import pytest

from toolwire.proxy.protocols.convert import Renaming
from toolwire.proxy.protocols.neutral import (
    Call,
    Delta,
    Part,
    PartEnd,
    PartStart,
    Refusal,
    Text,
    Thinking,
)
from toolwire.proxy.protocols.restore import Restorer


def said(*texts: str, renaming: Renaming | None = None, call: bool = False) -> list[str]:
    """The deltas of a part that the upstream tells in ``texts``."""
    restorer = Restorer(renaming or Renaming(), "v")
    events = [PartStart(0, Call("c", "f") if call else Text(""))]
    told = [event for start in events for event in restorer.restore(start)]
    for text in texts:
        told += restorer.restore(Delta(0, text))
    told += restorer.restore(PartEnd(0))
    return [event.text for event in told if isinstance(event, Delta)]


@pytest.mark.parametrize(
    ("texts", "told"),
    [
        (["a", "b"], ["a", "b"]),
        (["\U0001f600", "b"], ["\U0001f600", "b"]),
        (["a\ud83d", "\ude00b"], ["a", "\U0001f600b"]),
        (["\ud83d", "\ude00"], ["\U0001f600"]),
        (["\ud83d", "\ude00\ud83d", "\ude01"], ["\U0001f600", "\U0001f601"]),
        (["\ud83d", "x"], ["\ud83dx"]),
        (["a\ud83d"], ["a", "\ud83d"]),
        (["\ude00"], ["\ude00"]),
    ],
)
def test_characters_cut_in_two_are_put_together(texts: list[str], told: list[str]) -> None:
    assert said(*texts) == told


def test_parts_side_by_side_have_their_own_halves() -> None:
    restorer = Restorer(Renaming(), "v")
    assert restorer.restore(Delta(0, "\ud83d")) == []
    assert restorer.restore(Delta(1, "\ude00")) == [Delta(1, "\ude00")]
    assert restorer.restore(Delta(0, "\ude00")) == [Delta(0, "\U0001f600")]


@pytest.mark.parametrize(
    ("whole", "told"),
    [
        (Text("a\ud83d\ude00b"), Text("a\U0001f600b")),
        (Thinking("\ud83d\ude00"), Thinking("\U0001f600", vendor="v")),
        (Refusal("\ud83d\ude00"), Refusal("\U0001f600")),
        (Call("c", "f", '"\ud83d\ude00"'), Call("c", "f", '"\U0001f600"')),
    ],
)
def test_a_whole_part_is_as_its_pieces_were_told(whole: Part, told: Part) -> None:
    """Or what goes out of it as missing would have been told already."""
    assert Restorer(Renaming(), "v").restore(PartEnd(0, whole)) == [PartEnd(0, told)]


def test_the_input_of_a_wrapped_call() -> None:
    renaming = Renaming(freeform={"f"})
    assert "".join(said('{"input":"a', 'b"}', renaming=renaming, call=True)) == "ab"
    assert (
        "".join(said('{"input":"\ud83d', '\ude00"}', renaming=renaming, call=True)) == "\U0001f600"
    )


def test_thinking_bears_the_name_of_who_signed_it() -> None:
    restorer = Restorer(Renaming(), "v")
    (end,) = restorer.restore(PartEnd(0, Thinking("hm", signature="s")))
    assert end == PartEnd(0, Thinking("hm", signature="s", vendor="v"))
