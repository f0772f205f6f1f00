"""Whatever JSON comes in: clients get a clear error, and what upstreams send never raises."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tests.proxy.protocols.responses.wire_events import CALL, MESSAGE, numbered, whole_stream
from toolwire.config.profile import Profile
from toolwire.proxy.errors import BadUpstreamAnswer, InvalidRequest
from toolwire.proxy.protocols import json
from toolwire.proxy.protocols.layout import arrange
from toolwire.proxy.protocols.neutral import End, Losses, StreamFailure
from toolwire.proxy.protocols.responses import CODEC
from toolwire.proxy.protocols.sse import Event

SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.just(Decimal("0.5")),
    st.text(max_size=4),
    st.sampled_from(["message", "function_call", "reasoning", "function", "user", "completed"]),
)
ANYTHING = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["type", "id", "role", "content", "text", "name", "tools", "summary"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=8,
)
REQUEST: dict[str, Any] = {
    "model": "m",
    "instructions": "Be brief.",
    "input": [
        {"role": "user", "content": [{"type": "input_text", "text": "hi"}]},
        {"role": "user", "content": [{"type": "input_image", "image_url": "data:,", "detail": ""}]},
        {"role": "user", "content": [{"type": "input_file", "file_data": "JVBE", "filename": "a"}]},
        {
            "type": "reasoning",
            "id": "rs_1",
            "summary": [{"type": "summary_text", "text": "s"}],
            "encrypted_content": "toolwire:eyJvcmlnaW4iOiJtZXNzYWdlcyJ9",
        },
        {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}", "namespace": "n"},
        {"type": "function_call_output", "call_id": "c", "output": "x"},
        {"type": "custom_tool_call", "call_id": "d", "name": "p", "input": "x"},
        {"type": "custom_tool_call_output", "call_id": "d", "output": []},
        {"type": "item_reference", "id": "x"},
    ],
    "tools": [
        {"type": "function", "name": "f", "parameters": {}, "strict": False},
        {"type": "custom", "name": "p", "format": {}},
        {"type": "namespace", "name": "n", "tools": [{"type": "function", "name": "f"}]},
    ],
    "tool_choice": {"type": "allowed_tools", "mode": "auto", "tools": [{"type": "function"}]},
    "text": {"format": {"type": "json_schema", "name": "n", "schema": {}}, "verbosity": "low"},
    "reasoning": {"effort": "low", "summary": "auto"},
    "include": ["reasoning.encrypted_content"],
    "temperature": 1,
    "metadata": {},
}


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The paths of all values inside a document."""
    entries = value.items() if isinstance(value, dict) else enumerate(value)
    found = []
    for key, inner in entries:
        found.append((*path, key))
        if isinstance(inner, dict | list):
            found += places(inner, (*path, key))
    return found


def with_value(document: Any, path: tuple[Any, ...], value: Any) -> Any:
    """A copy of the document with another value at one place."""
    copy = json.decode(json.encode(document))
    at = copy
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = value
    return copy


@given(st.sampled_from(places(REQUEST)), ANYTHING)
def test_requests(path: tuple[Any, ...], value: Any) -> None:
    try:
        request = CODEC.read_request(with_value(REQUEST, path, value))
    except InvalidRequest as error:
        assert error.param is not None
        assert error.message.startswith(error.param)
        return
    losses = Losses()
    request.turns = arrange(request.turns, losses)
    try:
        json.encode(CODEC.write_request(request, Profile(), losses))
    except InvalidRequest as error:
        assert error.param == "n"  # a field of chat, of which there can be but one here


ANSWER = {**whole_stream()[-1]["response"], "output": [MESSAGE, CALL]}


@given(st.sampled_from(places(ANSWER)), ANYTHING)
def test_answers(path: tuple[Any, ...], value: Any) -> None:
    document = with_value(ANSWER, path, value)
    CODEC.usage_of(document)
    CODEC.repair_answer(document)
    try:
        answer = CODEC.read_answer(document)
    except BadUpstreamAnswer:
        return
    request = CODEC.read_request({"model": "m", "input": "hi"})
    json.encode(CODEC.write_answer(answer, request, Losses()))


STREAM = numbered(whole_stream())


@given(st.data())
def test_streams(data: st.DataObject) -> None:
    documents = STREAM
    for _ in range(data.draw(st.integers(1, 3))):
        path = data.draw(st.sampled_from(places(documents)))
        documents = with_value(documents, path, data.draw(ANYTHING))
    events = [Event(json.encode(document)) for document in documents]
    cut = data.draw(st.integers(0, len(events)))
    repair, reader = CODEC.stream_repair(), CODEC.stream_reader()
    writer = CODEC.stream_writer(CODEC.read_request({"model": "m", "input": "hi"}))

    passed = [*repair.feed(events[:cut]), *repair.feed(events[cut:]), *repair.close()]
    read = [found for event in passed for found in reader.read(event)] + reader.close()
    written = [event for found in read for event in writer.write(found)]

    assert isinstance(read[-1], End | StreamFailure)
    assert written[-1].name in ("response.completed", "response.incomplete", "response.failed")


@given(st.lists(st.binary(max_size=12), max_size=4))
def test_bytes(datas: list[bytes]) -> None:
    repair, reader = CODEC.stream_repair(), CODEC.stream_reader()

    passed = [*repair.feed([Event(data) for data in datas]), *repair.close()]
    read = [found for event in passed for found in reader.read(event)] + reader.close()

    assert isinstance(read[-1], StreamFailure)
