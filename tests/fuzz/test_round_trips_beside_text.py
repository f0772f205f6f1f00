"""What stands beside the text of an answer, its tokens and citations, means the same elsewhere.

Places are compared as those in all visible text, whichever protocol counts them from where.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fuzz.conversation import Json, dumps, loads
from tests.fuzz.conversation_drawn import VENDOR, WORDS
from tests.fuzz.test_round_trips import TRIPS
from tests.fuzz.test_round_trips_answers import asked, rich
from toolwire.proxy.convert_answer import AnswerConversion
from toolwire.proxy.protocols import json as lossless
from toolwire.proxy.protocols.registry import CODECS

Page = tuple[str, str, int, int]
"""URL, title, first character and the one after the last."""

OWN: dict[str, Json] = {
    "chat": {"type": "file", "file": {"hash": "h"}},
    "messages": {"type": "char_location", "cited_text": "w", "document_index": 0},
    "responses": {"type": "file_citation", "file_id": "f", "filename": "n", "index": 0},
}
"""Citations that only one protocol has."""

TOKENS = st.fixed_dictionaries(
    {"token": st.text("aé\U0001f600\ud83d", min_size=1, max_size=2)}
    | {"logprob": st.sampled_from([0, -1, Decimal("-0.123456789012345678901"), Decimal("-9999.0")])}
)


@dataclass
class Spoken:
    """A text; ``own``: it has a citation that nobody else knows."""

    text: str
    pages: list[Page]
    own: bool
    tokens: list[Json]


@st.composite
def spoken(draw: st.DrawFn, protocol: str) -> Spoken:
    text = draw(WORDS)
    ends = st.tuples(*[st.integers(0, len(text))] * 2).map(sorted)
    places = [(0, len(text))] if protocol == "messages" else draw(st.lists(ends, max_size=2))
    pages = [(f"https://x/{place}", draw(WORDS), *place) for place in places if draw(st.booleans())]
    tokens = [] if protocol == "messages" else draw(st.lists(TOKENS, max_size=2))
    return Spoken(text, pages, draw(st.booleans()), [_weighed(draw, one) for one in tokens])


def _weighed(draw: st.DrawFn, token: Json) -> Json:
    """With all that is demanded, or as little as some servers give."""
    if draw(st.booleans()):
        return token
    return _whole(token) | {"top_logprobs": [_whole(draw(TOKENS))]}


def _whole(token: Json) -> Json:
    return {"bytes": list(token["token"].encode("utf-8", "surrogatepass")), **token}


# ------------------------------------------------------------------------------------- write
def write(protocol: str, texts: list[Spoken]) -> Json:
    own = [OWN[protocol]]
    if protocol == "messages":
        content = [
            {"type": "text", "text": one.text, "citations": [_found(one.pages), own * one.own]}
            for one in texts
        ]
        for block in content:
            block["citations"] = [note for notes in block["citations"] for note in notes]
        return {"type": "message", "content": content, "stop_reason": "end_turn"}
    if protocol == "responses":
        parts = [
            {"type": "output_text", "text": one.text, "logprobs": one.tokens}
            | {"annotations": [*[_flat(page) for page in one.pages], *own * one.own]}
            for one in texts
        ]
        item = {"type": "message", "role": "assistant", "content": parts}
        return {"status": "completed", "output": [item]}
    notes = [{"type": "url_citation", "url_citation": _place(page)} for page in pages_of(texts)]
    message = {"content": "".join(one.text for one in texts)}
    message |= {"annotations": [*notes, *own * any(one.own for one in texts)]}  # type: ignore[dict-item]
    tokens = {"content": [token for one in texts for token in one.tokens]}
    return {"choices": [{"message": message, "logprobs": tokens, "finish_reason": "stop"}]}


def _found(pages: list[Page]) -> list[Json]:
    kind = "web_search_result_location"
    return [{"type": kind, "url": url, "title": title} for url, title, _, _ in pages]


def _flat(page: Page) -> Json:
    return {"type": "url_citation", **_place(page)}


def _place(page: Page) -> Json:
    return dict(zip(("url", "title", "start_index", "end_index"), page, strict=True))


def pages_of(texts: list[Spoken]) -> list[Page]:
    pages, start = [], 0
    for one in texts:
        pages += [(url, title, start + a, start + b) for url, title, a, b in one.pages]
        start += len(one.text)
    return pages


# -------------------------------------------------------------------------------------- read
def read(protocol: str, answer: Json) -> Spoken:
    """All as one text."""
    if protocol == "messages":
        assert all(block.keys() == {"type", "text"} for block in answer["content"])
        return Spoken("".join(block["text"] for block in answer["content"]), [], False, [])
    if protocol == "chat":
        (choice,) = answer["choices"]
        message, tokens = choice["message"], choice.get("logprobs") or {"content": []}
        notes = [note["url_citation"] for note in message.get("annotations", ())]
        return Spoken(message["content"], [_page(n, 0) for n in notes], False, tokens["content"])
    whole = Spoken("", [], False, [])
    for part in [part for item in answer["output"] for part in item["content"]]:
        assert all(note["type"] == "url_citation" for note in part["annotations"])
        whole.pages += [_page(note, len(whole.text)) for note in part["annotations"]]
        whole.text += part["text"]
        whole.tokens += part["logprobs"]
    return whole


def _page(note: Json, start: int) -> Page:
    return note["url"], note["title"], note["start_index"] + start, note["end_index"] + start


def carried(
    client: str, upstream: str, document: Json, *, stream: bool = False
) -> tuple[Json, set[str]]:
    """The client's answer, perhaps as its stream tells it, and what was reported."""
    conversion = AnswerConversion(
        CODECS[client],
        CODECS[upstream],
        asked(client, upstream),
        remember=lambda _: None,
        vendor=VENDOR,
    )
    said = lossless.decode(dumps(document))
    answer = CODECS[client].collected(conversion.spelled_out(said)) if stream else None
    answer = loads(lossless.encode(conversion.answer(said) if answer is None else answer))
    return answer, {loss.kind for loss in conversion.losses.entries}


# ------------------------------------------------------------------------------------- tests
@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(("client", "upstream"), TRIPS)
@rich
@given(st.data())
def test_tokens_and_citations_mean_the_same(
    client: str, upstream: str, stream: bool, data: st.DataObject
) -> None:
    texts: list[Spoken] = data.draw(st.lists(spoken(upstream), min_size=1, max_size=3))
    answer, reported = carried(client, upstream, write(upstream, texts), stream=stream)
    found = read(client, answer)
    cited, own = bool(pages_of(texts)), any(one.own for one in texts)
    assert found.text == "".join(one.text for one in texts)
    if client == "messages":
        assert reported == ({"dropped"} if cited or own else set())
        return
    assert found.pages == pages_of(texts)
    assert found.tokens == [{"top_logprobs": [], **_whole(t)} for one in texts for t in one.tokens]
    assert ("dropped" in reported) == own
    assert ("coerced" in reported) == (cited and upstream == "messages")


@pytest.mark.parametrize(("first", "second"), [("chat", "responses"), ("responses", "chat")])
@rich
@given(st.data())
def test_they_come_back_as_they_were(first: str, second: str, data: st.DataObject) -> None:
    """Over two gateways, one after the other."""
    texts: list[Spoken] = data.draw(st.lists(spoken(first), min_size=1, max_size=3))
    once, _ = carried(second, first, write(first, texts))
    twice, reported = carried(first, second, once)
    assert read(first, twice) == read(second, once)
    assert reported == set()


def test_what_is_compared_tells_apart() -> None:
    one: Any = Spoken("wxw", [("https://x/", "X", 0, 1)], False, [])
    assert read("chat", loads(dumps(write("chat", [one] * 2)))).pages == pages_of([one] * 2)
    assert pages_of([one] * 2) != [*one.pages, *one.pages]
