"""A secret comes out as asterisks, wherever the reads are cut, and nothing else is touched."""

from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st

from toolwire.config.model import Upstream
from toolwire.config.secret import Secret
from toolwire.proxy.redaction import Redaction, redacted, secrets_of

SECRET = b"aabaab-1"


@given(
    st.lists(st.sampled_from([SECRET, b"aab", b"a", b"-1", b"aabaab", b"x\n\n"]), max_size=12),
    st.lists(st.integers(0, 60), max_size=6),
)
def test_wherever_it_is_cut(pieces: list[bytes], cuts: list[int]) -> None:
    text = b"".join(pieces)
    places = sorted({0, len(text), *(cut for cut in cuts if cut < len(text))})
    redaction, shown = Redaction((SECRET,)), b""
    for start, end in itertools.pairwise(places):
        shown += redaction.feed(text[start:end])
    assert shown + redaction.feed(b"", last=True) == text.replace(SECRET, b"*" * len(SECRET))


def test_what_can_be_shown_is_shown_at_once() -> None:
    redaction = Redaction((SECRET,))
    assert redaction.feed(b"data: {}\n\n") == b"data: {}\n\n"
    assert redaction.feed(b"see aabaa") == b"see "
    assert redaction.feed(b"c") == b"aabaac"


def test_what_is_secret() -> None:
    upstream = Upstream(
        name="u",
        protocol="chat",
        base_url="http://127.0.0.1",
        api_key=Secret("sk-0123456789"),
        headers={"API-Key": Secret("0123456789"), "x-region": Secret("eu-central-1")},
    )
    assert secrets_of(upstream) == (b"sk-0123456789", b"0123456789")


def test_short_words_are_no_secrets() -> None:
    upstream = Upstream(
        name="u", protocol="chat", base_url="http://127.0.0.1", api_key=Secret("EMPTY")
    )
    assert secrets_of(upstream) == ()
    assert redacted(b"EMPTY", ()) == b"EMPTY"
