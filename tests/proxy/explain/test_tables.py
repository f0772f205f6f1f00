"""What a layer makes of a stream: which events went in, and which came out for them."""

from __future__ import annotations

import pytest

from tests.proxy.explain.samples import ANSWERS, PAIRS, REQUESTS, explained, settings_for
from tests.proxy.explain.streams import CALLS, STREAMS, call, chunk, stream_of
from toolwire.proxy.explain.recognition import events_in
from toolwire.proxy.explain.steps import Step


async def steps_for(client: str, upstream: str, stream: bytes) -> dict[str, Step]:
    request = {**REQUESTS[client], "stream": True}
    told = await explained(request, settings_for(upstream), stream, upstream="upstream")
    assert told.answer is not None
    return {step.layer: step for step in told.answer.steps}


async def test_a_repair_is_shown_with_the_events_before_and_after() -> None:
    empty_name = [CALLS[0], chunk(call(0, "{", id="a", name="get")), chunk(call(0, "}", id="a"))]
    steps = await steps_for("chat", "chat", stream_of([*empty_name, chunk({}, "stop")]))
    table = steps["sse_rechunking"].table
    assert table is not None
    assert (table.taken, table.given, table.last) == (4, 5, 5)
    first, begun, repeated, finish, end = table.rows
    assert (first.same, begun.same) == (True, True)
    assert repeated.taken == ['chunk, tool_calls[0] None a, tool_calls[0].arguments "}"']
    assert repeated.given == ['chunk, tool_calls[0].arguments "}"']
    assert '"id": "a"' in repeated.before[0]
    assert '"id":"a"' not in repeated.after[0]
    assert finish.given == ["chunk, finish_reason tool_calls"]
    assert (end.first, end.taken, end.given) == (table.last, [], ["[DONE]"])
    counted = steps["sse_rechunking"].changes
    assert counted["finish_reason_corrected"] == 1


async def test_events_of_one_kind_are_one_row() -> None:
    pieces = [chunk({"content": f"{n} "}) for n in range(40)]
    steps = await steps_for("messages", "chat", stream_of([CALLS[0], *pieces, chunk({}, "stop")]))
    table = steps["tool_schema_conversion"].table
    assert table is not None
    counts = [(row.count, row.taken) for row in table.rows]
    assert (39, ['chunk, content "1 "']) in counts
    assert sum(row.count for row in table.rows) == 43


@pytest.mark.parametrize(("client", "upstream"), PAIRS)
async def test_each_event_comes_out_for_those_that_went_in(client: str, upstream: str) -> None:
    steps = await steps_for(client, upstream, STREAMS[upstream])
    if client == upstream:
        assert "tool_schema_conversion" not in steps
        return
    table = steps["tool_schema_conversion"].table
    assert table is not None
    first = next(row for row in table.rows if any('"Take ' in text for text in row.taken))
    assert any('"Take ' in text for text in first.given)
    assert not any(row.before or row.after for row in table.rows)
    assert table.given == len(events_in(await _client_bytes(client, upstream)))


async def _client_bytes(client: str, upstream: str) -> bytes:
    request = {**REQUESTS[client], "stream": True}
    told = await explained(request, settings_for(upstream), STREAMS[upstream], upstream="upstream")
    assert told.answer is not None
    return told.answer.body


async def test_a_stream_that_nobody_asked_for_is_put_together() -> None:
    as_bytes = "[upstreams.middlewares.sse_rechunking]\nenabled = false"
    settings = settings_for("chat", more=as_bytes)
    told = await explained(REQUESTS["messages"], settings, STREAMS["chat"], upstream="upstream")
    assert told.answer is not None
    (step,) = [s for s in told.answer.steps if s.layer == "answer_repair"]
    assert step.told.startswith("puts the stream together")
    assert not told.answer.is_stream
    assert told.answer.seen["content"] == [{"type": "text", "text": "Take an umbrella."}]


async def test_a_whole_answer_to_a_request_for_a_stream_is_spelled_out() -> None:
    request = {**REQUESTS["messages"], "stream": True}
    told = await explained(request, settings_for("chat"), ANSWERS["chat"], upstream="upstream")
    assert told.answer is not None
    (step,) = [s for s in told.answer.steps if s.layer == "answer_repair"]
    assert step.told.startswith("spells the whole answer out")
    assert told.answer.is_stream
    assert told.answer.seen["content"][0]["text"] == "Take an umbrella."
