"""``{}`` or null that some upstreams send before the true arguments of a call."""

from __future__ import annotations

from typing import Any

import pytest

from tests.proxy.protocols.responses.repairing import repair
from tests.proxy.protocols.responses.wire_events import completed, created, event, numbered, wire
from toolwire.proxy.protocols.responses import CODEC

ITEM = {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "f"}
TRUE = '{"a":1}'


def delta(text: str) -> dict[str, Any]:
    return event("response.function_call_arguments.delta", delta=text, **PLACE)


PLACE = {"item_id": "fc_1", "output_index": 0}


def stream(*pieces: str, whole: str) -> list[dict[str, Any]]:
    done = {**ITEM, "arguments": whole, "status": "completed"}
    begun = {**ITEM, "arguments": "", "status": "in_progress"}
    return numbered(
        [
            created(),
            event("response.output_item.added", output_index=0, item=begun),
            *map(delta, pieces),
            event("response.function_call_arguments.done", name="f", arguments=whole, **PLACE),
            event("response.output_item.done", output_index=0, item=done),
            completed([done]),
        ]
    )


def deltas(documents: list[dict[str, Any]]) -> list[str]:
    return [d["delta"] for d in documents if d["type"].endswith("arguments.delta")]


@pytest.mark.parametrize("placeholder", ["{}", "null"])
@pytest.mark.parametrize("pieces", [[TRUE], ['{"a"', ":1}"], []])
def test_a_placeholder_makes_way_for_the_true_arguments(
    placeholder: str, pieces: list[str]
) -> None:
    passed, repairs = repair(wire(stream(placeholder, *pieces, whole=TRUE)))
    assert deltas(passed) == ["", *(pieces or [TRUE])]
    assert repairs["arguments_placeholder"] == 1
    assert [d["sequence_number"] for d in passed] == list(range(len(passed)))


@pytest.mark.parametrize("text", ["{}", "null"])
def test_what_no_arguments_follow_passes_as_it_came(text: str) -> None:
    sent = wire(stream(text, whole=text))
    repair = CODEC.stream_repair()
    assert all(one is other for one, other in zip(repair.feed(sent), sent, strict=True))
    assert repair.repairs == {}


def test_it_waits_for_one_event_alone_and_goes_out_where_none_comes() -> None:
    sent = wire(stream("{}", TRUE, whole=TRUE))
    repair = CODEC.stream_repair()
    assert repair.feed(sent[:3]) == sent[:2]
    held, failed = repair.close()
    assert held is sent[2]
    assert failed.name == "response.failed"
