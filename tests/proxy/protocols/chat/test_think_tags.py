"""``<think>…</think>`` comes out the same however the text is cut."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolwire.proxy.protocols.chat.think_tags import ThinkTags, split


@pytest.mark.parametrize(
    ("text", "thinking", "visible"),
    [
        ("Hello", "", "Hello"),
        ("<think>hm</think>Hello", "hm", "Hello"),
        ("\n <think>\nhm\n</think>\n\n Hello ", "\nhm\n", "Hello "),
        ("<think></think>Hello", "", "Hello"),
        ("<think>only", "only", ""),
        ("<think>a</thin", "a</thin", ""),
        ("<think>a</thin b</think>c", "a</thin b", "c"),
        ("<thinking>", "", "<thinking>"),
        ("Hello <think>hm</think>", "", "Hello <think>hm</think>"),
        ("<think>a</think>b<think>c</think>", "a", "b<think>c</think>"),
        ("  ", "", "  "),
        ("", "", ""),
    ],
)
def test_tags(text: str, thinking: str, visible: str) -> None:
    assert split(text) == (thinking, visible)


PIECES = st.sampled_from(["<think>", "</think>", "<", "/", "think>", " ", "\n", "a", "<thi"])


@given(st.lists(PIECES, max_size=12), st.integers(1, 5))
def test_the_cut_does_not_matter(pieces: list[str], size: int) -> None:
    text = "".join(pieces)
    tags = ThinkTags()
    told = [tags.feed(text[at : at + size]) for at in range(0, len(text), size)]
    told.append(tags.flush())
    joined = "".join(thinking for thinking, _ in told), "".join(visible for _, visible in told)
    assert joined == split(text)
