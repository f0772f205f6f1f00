"""Log probabilities of the tokens of a Responses stream."""

from __future__ import annotations

from typing import Any

from tests.proxy.protocols.responses.streaming import stream, types, write
from tests.proxy.protocols.responses.wire_events import completed, created, event, read_all, wire
from toolwire.proxy.protocols.neutral import Delta, PartEnd, PartStart, Refusal, StreamEvent, Text

HI: dict[str, Any] = {"token": "Hi", "logprob": -1, "bytes": [72, 105], "top_logprobs": []}


def delta(text: str, **fields: Any) -> dict[str, Any]:
    name = "response.output_text.delta"
    return event(name, output_index=0, content_index=0, delta=text, **fields)


def said(*documents: dict[str, Any]) -> list[StreamEvent]:
    events = read_all(wire([created(), *documents]))
    return [event for event in events if isinstance(event, Delta | PartEnd)]


# -------------------------------------------------------------------------------------- read
def test_tokens_stand_beside_their_text() -> None:
    first = {"token": "H", "logprob": -1, "bytes": [72], "top_logprobs": []}
    assert said(
        delta("H", logprobs=[{"token": "H", "logprob": -1}]),
        delta("i", logprobs=[]),
        delta("", logprobs=[HI]),
        delta("!", logprobs="odd"),
        delta("\ud83d", logprobs=[HI]),
        completed([]),
    ) == [
        Delta(0, "H", [first]),
        Delta(0, "i"),
        Delta(0, "", [HI]),
        Delta(0, "!"),
        Delta(0, "\ud83d", [HI]),
        PartEnd(0),
    ]


def test_tokens_that_only_the_end_of_the_item_has() -> None:
    content = [{"type": "output_text", "text": "Hi", "annotations": [], "logprobs": [HI]}]
    item = {"id": "msg_1", "type": "message", "role": "assistant", "content": content}
    done = event("response.output_item.done", output_index=0, item=item)
    assert said(delta("Hi"), done, completed([item])) == [
        Delta(0, "Hi"),
        PartEnd(0, Text("Hi", logprobs=[HI])),
    ]


# ------------------------------------------------------------------------------------- write
def test_tokens_are_told_with_their_text_and_in_the_whole() -> None:
    text = [Delta(0, "Hi", [HI]), Delta(0, "x"), Delta(0, "", [HI])]
    documents = write(stream([PartStart(0, Text("")), *text, PartEnd(0)]))
    told = [(d["delta"], d["logprobs"]) for d in documents if d["type"].endswith("text.delta")]
    assert told == [("Hi", [HI]), ("x", []), ("", [HI])]
    done = next(d for d in documents if d["type"] == "response.output_text.done")
    content = documents[-1]["response"]["output"][0]["content"][0]
    assert (done["logprobs"], content["logprobs"]) == ([HI, HI], [HI, HI])
    assert [d["sequence_number"] for d in documents] == list(range(len(documents)))


def test_tokens_alone_are_no_item() -> None:
    documents = write(stream([PartStart(0, Text("")), Delta(0, "", [HI]), PartEnd(0)]))
    assert "response.output_item.added" not in types(documents)


def test_a_refusal_has_no_tokens() -> None:
    documents = write(stream([PartStart(0, Refusal("")), Delta(0, "no", [HI]), PartEnd(0)]))
    told = next(d for d in documents if d["type"] == "response.refusal.delta")
    assert told["delta"] == "no" and "logprobs" not in told
