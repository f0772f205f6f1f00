"""Streams of Messages upstreams whose blocks end late, or never."""

from __future__ import annotations

from tests.proxy.protocols.messages.streams import assembled, documents, event
from tests.proxy.protocols.messages.test_stream_repair import CALL, STOP, TEXT, fed, finish, start
from toolwire.proxy.protocols.sse import Event


def test_a_block_that_nobody_stopped_is_stopped() -> None:
    second = event("content_block_start", index=1, content_block={"type": "text", "text": ""})
    out, repairs = fed(start(), *TEXT[:2], second, finish(), STOP)
    assert len(assembled(out)["content"]) == 2
    assert repairs == {"block_stop_added": 2}


def test_llama_cpp_stops_all_its_blocks_in_the_end() -> None:
    def of(index: int, events: list[Event]) -> list[Event]:
        return [event(doc["type"], **{**doc, "index": index}) for doc in documents(events)]

    call = {"type": "tool_use", "id": "u", "name": "f", "input": {}}
    begun = event("content_block_start", index=1, content_block=call)
    first, second = of(0, CALL), [begun, *of(1, CALL)[1:]]
    late = [*first[:2], *second[:2], first[2], second[2]]
    out, repairs = fed(start(), *late, finish("tool_use"), STOP)
    whole = [start(), *first, *second, finish("tool_use"), STOP]
    assert documents(out) == documents(whole)
    assert repairs == {"block_stop_added": 1, "late_block_event_dropped": 1}


def test_an_empty_signature_of_a_block_that_is_over() -> None:
    """llama.cpp signs its thinking with nothing, after all else."""
    empty = {"type": "thinking", "thinking": "", "signature": ""}
    thinking = [
        event("content_block_start", index=0, content_block=empty),
        event("content_block_delta", index=0, delta={"type": "thinking_delta", "thinking": "hm"}),
    ]
    text = [event(doc["type"], **{**doc, "index": 1}) for doc in documents(TEXT)]
    signature = {"type": "signature_delta", "signature": ""}
    late = [event("content_block_delta", index=0, delta=signature), TEXT[2], text[2]]
    out, repairs = fed(start(), *thinking, *text[:2], *late, finish(), STOP)
    content = [{**empty, "thinking": "hm"}, {"type": "text", "text": "5 C"}]
    assert assembled(out)["content"] == content
    assert repairs == {"block_stop_added": 1, "late_block_event_dropped": 2}
