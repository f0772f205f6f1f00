"""Same-protocol streams: what is right passes byte for byte, each oddity comes out as it should."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.proxy.protocols.chat.chunks import (
    DONE,
    call,
    chunk,
    deltas,
    finishes,
    pieces,
    repaired,
    repaired_events,
    role,
    told,
    wire,
)
from toolwire.proxy.protocols import sse
from toolwire.proxy.protocols.chat import StreamRepair
from toolwire.proxy.protocols.chat.wire import Chunk
from toolwire.proxy.protocols.neutral import Failure, Usage

FAULTLESS = wire(
    role(),
    chunk({"content": "Hel"}),
    chunk({"content": 'l"o\\ \u00e9\n'}),
    b": a comment\n\n",
    chunk({"content": " world"}),
    chunk({"reasoning_content": "hm"}, unknown={"kept": 1.50}),
    call(0, id="call_1", type="function", name="f", arguments=""),
    call(0, arguments='{"a":'),
    call(0, arguments="1}"),
    call(1, id="call_2", type="function", name="g", arguments=""),
    call(1, arguments="{}"),
    chunk({}, "tool_calls"),
    chunk(usage={"prompt_tokens": 5, "completion_tokens": 2, "total_tokens": 7}),
    DONE,
)


# --------------------------------------------------------------------------------- no fault
@given(size=st.integers(1, 400))
def test_a_faultless_stream_passes_byte_for_byte(size: int) -> None:
    repair = StreamRepair()
    events = repaired_events(FAULTLESS, repair, size)
    assert sse.encode(events) == FAULTLESS
    assert repair.repairs == {}
    assert repair.finished
    assert repair.usage == Usage(input=5, output=2)


def test_events_without_fault_are_the_very_objects() -> None:
    decoder, repair = sse.Decoder(), StreamRepair()
    events = decoder.feed(FAULTLESS)
    given_back = repair.feed(events)
    assert len(given_back) == len(events)
    assert all(back is event for back, event in zip(given_back, events, strict=True))


def test_decoded_chunks_travel_with_their_events() -> None:
    repair = StreamRepair()
    events = repair.feed(sse.Decoder().feed(wire(role(), chunk({"content": "x"}))))
    assert isinstance(events[1].parsed, Chunk)
    assert events[1].parsed.choices is not None


def test_a_read_of_plain_deltas_passes_as_the_very_list() -> None:
    repair, decoder = StreamRepair(), sse.Decoder()
    repair.feed(decoder.feed(wire(role(), chunk({"content": "first"}))))
    events = decoder.feed(wire(*[chunk({"content": f"word {n} \\n é"}) for n in range(5)]))
    assert repair.feed(events) is events


@pytest.mark.parametrize(
    "odd",
    [
        chunk({"content": "x", "role": "assistant"}),
        chunk({"content": ["x"]}),
        chunk({"content": "x"}, "stop"),
        {"error": {"message": "boom"}},
    ],
    ids=["role", "list", "finish", "error"],
)
def test_an_oddity_among_plain_deltas_is_seen(odd: dict[str, Any]) -> None:
    repair, decoder = StreamRepair(), sse.Decoder()
    repair.feed(decoder.feed(wire(role(), chunk({"content": "first"}))))
    events = decoder.feed(wire(chunk({"content": "a"}), odd, chunk({"content": "b"})))
    assert repair.feed(events) is not events


def test_text_that_ends_its_string_early_is_not_taken_for_a_plain_delta() -> None:
    """The string is closed by the first quote that is not escaped, wherever the bytes agree."""
    repair, decoder = StreamRepair(), sse.Decoder()
    repair.feed(decoder.feed(wire(role(), chunk({"content": "first"}))))
    plain = wire(chunk({"content": "TEXT"}))
    tricky = plain.replace(b"TEXT", b'x","role":"assistant","name":"y')
    (event,) = repair.feed(decoder.feed(tricky))
    assert told(event)["choices"][0]["delta"] == {"content": "x", "name": "y"}
    assert repair.repairs == {"role_repeated": 1}


def test_an_escaped_closing_quote_is_not_taken_for_a_plain_delta() -> None:
    repair, decoder = StreamRepair(), sse.Decoder()
    repair.feed(decoder.feed(wire(role(), chunk({"content": "first"}))))
    broken = wire(chunk({"content": "TEXT"})).replace(b"TEXT", b"x\\")
    (event,) = repair.feed(decoder.feed(broken))
    assert "what is no chunk" in told(event)["error"]["message"]


def test_unknown_documents_and_comments_pass() -> None:
    raw = wire(b": hello\n\n", {"type": "ping"}, role(), chunk({}, "stop"), DONE)
    assert sse.encode(repaired_events(raw, StreamRepair())) == raw


def test_unknown_fields_stay_in_what_is_repaired() -> None:
    odd = {**chunk({"content": ["a"], "padding": "x"}), "provider": {"name": "p", "cost": 0.1}}
    odd["choices"][0]["native_finish_reason"] = None
    (_, document, *_), _ = repaired(role(), odd)
    assert document["provider"] == {"name": "p", "cost": 0.1}
    assert document["choices"][0]["native_finish_reason"] is None
    assert document["choices"][0]["delta"] == {"content": "a", "padding": "x"}


def test_numbers_survive_a_repair() -> None:
    raw = (
        wire(role())
        .replace(b'"created":1', b'"created":1,"x":1.0,"y":1e400')
        .replace(b'"object":"chat.completion.chunk",', b"")
    )
    (event, _) = repaired_events(raw, StreamRepair())
    assert event.data is not None
    assert b'"x":1.0' in event.data
    assert b'"y":1E+400' in event.data.replace(b"1e400", b"1E+400")


# ---------------------------------------------------------------------------- role, content
def test_the_role_comes_once() -> None:
    out, repair = repaired(*[chunk({"role": "assistant", "content": c}) for c in "abc"])
    assert deltas(out)[:3] == [
        {"role": "assistant", "content": "a"},
        {"content": "b"},
        {"content": "c"},
    ]
    assert repair.repairs["role_repeated"] == 2


def test_a_missing_role_is_added_to_the_first_delta() -> None:
    out, repair = repaired(chunk({"content": "a"}), chunk({"content": "b"}))
    assert deltas(out)[:2] == [{"content": "a", "role": "assistant"}, {"content": "b"}]
    assert repair.repairs["role_added"] == 1


def test_null_says_nothing_and_passes() -> None:
    raw = wire(role(), chunk({"content": "x", "role": None, "tool_calls": None}))
    events = repaired_events(raw, StreamRepair())
    assert sse.encode(events[:2]) == raw


def test_content_as_parts_is_text_and_thinking() -> None:
    thinking = {"type": "thinking", "thinking": [{"type": "text", "text": "4."}], "closed": True}
    reference = {"type": "reference", "reference_ids": [1]}
    content = [thinking, {"type": "text", "text": "1"}, reference, "2"]
    out, repair = repaired(role(), chunk({"content": content}))
    assert deltas(out)[1] == {"content": "12", "reasoning_content": "4."}
    assert repair.repairs["content_part_dropped"] == 1


def test_content_as_an_object_is_its_json() -> None:
    out, _ = repaired(role(), chunk({"content": {"title": "é", "n": 1}}))
    assert deltas(out)[1] == {"content": '{"title":"é","n":1}'}


def test_a_missing_delta_is_an_empty_one() -> None:
    odd = {**chunk({}), "choices": [{"index": 0, "finish_reason": "stop"}]}
    out, _ = repaired(role(), odd, DONE)
    assert deltas(out)[1] == {}


# ------------------------------------------------------------------------------------ calls
def test_the_head_of_a_call_comes_once() -> None:
    same = {"id": "call_1", "type": "function", "name": "f"}
    out, repair = repaired(
        role(), call(0, **same, arguments='{"a'), call(0, **same, arguments='":1}')
    )
    assert pieces(out)[:2] == [
        {
            "index": 0,
            "id": "call_1",
            "type": "function",
            "function": {"name": "f", "arguments": '{"a'},
        },
        {"index": 0, "function": {"arguments": '":1}'}},
    ]
    assert repair.repairs["call_id_repeated"] == 1
    assert repair.repairs["call_name_repeated"] == 1


def test_empty_ids_and_names_are_left_out() -> None:
    out, _ = repaired(
        role(),
        call(0, id="call_1", type="function", name="f", arguments=""),
        call(0, id="", type="", name="", arguments="{}"),
    )
    assert pieces(out)[1] == {"index": 0, "function": {"arguments": "{}"}}


@pytest.mark.parametrize("name", [None, ""])
def test_pieces_of_one_call_that_each_have_an_id_and_no_index(name: str | None) -> None:
    out, _ = repaired(
        role(),
        call(None, id="a1", type="function", name="f", arguments='{"x"'),
        call(None, id="a2", type="function", name=name, arguments=":1"),
        call(None, id="a3", type="function", name=name, arguments="}"),
        call(None, id="b1", type="function", name="g", arguments=""),
        call(None, id="b2", type="function", name=name, arguments="{}"),
        chunk({}, "tool_calls"),
    )
    said = ["", ""]
    for piece in pieces(out):
        said[piece["index"]] += piece["function"]["arguments"]
    assert said == ['{"x":1}', "{}"]


def test_an_empty_id_in_the_first_piece_becomes_a_new_one() -> None:
    """Gemini: the whole call in one chunk, without index, with an empty id, and with the finish."""
    whole = {"id": "", "type": "function", "function": {"name": "f", "arguments": '{"v":[1]}'}}
    first = {**chunk({"role": "assistant", "tool_calls": [whole]}, "stop")}
    del first["id"]
    out, repair = repaired({**first, "usage": {"prompt_tokens": 1, "completion_tokens": 2}}, DONE)
    (piece,) = pieces(out)
    assert piece["index"] == 0
    assert piece["id"].startswith("call_")
    assert piece["function"] == {"name": "f", "arguments": '{"v":[1]}'}
    assert finishes(out) == ["tool_calls"]
    assert out[0]["id"] == out[1]["id"] != ""
    assert out[-1] == "[DONE]"
    assert repair.usage == Usage(input=1, output=2)


@pytest.mark.parametrize(
    ("first", "second"),
    [(1, 4), (-1, -1), (None, None), (7, 2)],
    ids=["sparse", "-1", "no", "back"],
)
def test_indices_are_dense(first: int | None, second: int | None) -> None:
    out, repair = repaired(
        role(),
        call(first, id="a", type="function", name="f", arguments='{"x":1}'),
        call(second, id="b", type="function", name="g", arguments='{"y":2}'),
        chunk({}, "tool_calls"),
    )
    assert [(piece["index"], piece["id"]) for piece in pieces(out)] == [(0, "a"), (1, "b")]
    assert repair.repairs["call_index"] >= 1


def test_interleaved_pieces_keep_their_calls() -> None:
    out, _ = repaired(
        role(),
        call(1, id="a", type="function", name="f", arguments='{"x":'),
        call(4, id="b", type="function", name="f", arguments='{"y":'),
        call(1, arguments="1}"),
        call(4, arguments="2}"),
        chunk({}, "tool_calls"),
    )
    assert [(p["index"], p["function"]["arguments"]) for p in pieces(out)] == [
        (0, '{"x":'),
        (1, '{"y":'),
        (0, "1}"),
        (1, "2}"),
    ]


def test_pieces_without_index_belong_to_the_id_or_to_the_last_call() -> None:
    out, _ = repaired(
        role(),
        call(None, id="a", type="function", name="f", arguments='{"x":'),
        call(None, arguments="1"),
        call(None, id="b", type="function", name="g", arguments="{}"),
        call(None, id="a", arguments="}"),
        chunk({}, "tool_calls"),
    )
    assert [(p["index"], p["function"]["arguments"]) for p in pieces(out)] == [
        (0, '{"x":'),
        (0, "1"),
        (1, "{}"),
        (0, "}"),
    ]


def test_calls_that_share_an_index_are_told_apart_by_their_ids() -> None:
    out, _ = repaired(
        role(),
        call(0, id="a", type="function", name="f", arguments='{"x":1}'),
        call(0, id="b", type="function", name="f", arguments='{"x":2}'),
        chunk({}, "tool_calls"),
    )
    assert [(p["index"], p["id"]) for p in pieces(out)] == [(0, "a"), (1, "b")]


def test_another_id_in_each_piece_of_one_call_is_one_call() -> None:
    out, _ = repaired(
        role(),
        call(0, id="r1", type="function", name="f", arguments='{"x":'),
        call(0, id="r2", type="function", name="f", arguments="1}"),
        chunk({}, "tool_calls"),
    )
    assert [p.get("id") for p in pieces(out)] == ["r1", None]


def test_calls_without_ids_that_share_an_index_are_told_apart_by_their_objects() -> None:
    out, _ = repaired(
        role(),
        call(0, type="function", name="f", arguments=""),
        call(0, name="f", arguments='{"x":'),
        call(0, name="f", arguments="1}"),
        call(0, name="f", arguments=""),
        call(0, type="function", name="f", arguments='{"x":2}'),
        chunk({}, "tool_calls"),
    )
    assert [(p["index"], p["function"]["arguments"]) for p in pieces(out)] == [
        (0, ""),
        (0, '{"x":'),
        (0, "1}"),
        (0, ""),
        (1, '{"x":2}'),
    ]


def test_arguments_that_are_said_again_with_each_piece_are_said_once() -> None:
    said = ["{", '{"a"', '{"a":', '{"a":{"a"', '{"a":{"a":1}}', '{"a":{"a":1}}']
    out, repair = repaired(
        role(),
        call(0, id="call_1", type="function", name="f", arguments=""),
        *[call(0, arguments=text) for text in said],
    )
    assert "".join(piece["function"]["arguments"] for piece in pieces(out)) == said[-1]
    assert repair.repairs["arguments_repeated"] == 5


@pytest.mark.parametrize(
    "said",
    [
        ['{"a":', '{"a":', "1}}"],
        ['{"a":[1,', '{"a":[1,', "2]}]}"],
        ['{"', '{":null}'],  # the key is "{"
    ],
)
def test_what_is_inside_of_the_arguments_may_begin_like_them(said: list[str]) -> None:
    out, repair = repaired(
        role(),
        call(0, id="call_1", type="function", name="f", arguments=said[0]),
        *[call(0, arguments=text) for text in said[1:]],
    )
    assert "".join(piece["function"]["arguments"] for piece in pieces(out)) == "".join(said)
    assert "arguments_repeated" not in repair.repairs


@pytest.mark.parametrize("cut", ['{"a', '{"a":"x,', '{"a":"b:', '{"a":"\\', '{"a":"\\"['])
def test_arguments_said_again_from_the_middle_of_a_string_are_said_once(cut: str) -> None:
    whole = cut + 'n"}'
    out, _ = repaired(
        role(),
        call(0, id="call_1", type="function", name="f", arguments=cut),
        call(0, arguments=whole),
    )
    assert "".join(piece["function"]["arguments"] for piece in pieces(out)) == whole


def test_a_message_in_the_place_of_the_first_delta_is_one() -> None:
    whole = {"index": 0, "message": {"role": "assistant", "content": "a"}, "finish_reason": "stop"}
    out, _ = repaired(chunk(choices=[whole]), chunk(choices=[{**whole, "finish_reason": None}]))
    assert deltas(out) == [{"role": "assistant", "content": "a"}, {}]


def test_nothing_but_the_end_is_an_error() -> None:
    out, _ = repaired(DONE)
    assert list(out[0]) == ["error"] and len(out) == 1


def test_a_name_that_comes_late_opens_the_call_with_what_was_held() -> None:
    out, repair = repaired(
        role(),
        call(0, id="a", arguments='{"x":'),
        call(0, name="f", arguments="1}"),
        chunk({}, "tool_calls"),
    )
    assert pieces(out) == [
        {
            "index": 0,
            "id": "a",
            "type": "function",
            "function": {"name": "f", "arguments": '{"x":1}'},
        }
    ]
    assert repair.repairs["call_name_late"] == 1


def test_a_call_without_any_name_is_dropped_and_counted() -> None:
    out, repair = repaired(role(), call(0, id="a", arguments="{}"), chunk({}, "tool_calls"))
    assert pieces(out) == []
    assert repair.repairs["nameless_call_dropped"] == 1


@pytest.mark.parametrize(
    ("given", "text"), [({"city": "Oslo"}, '{"city":"Oslo"}'), (None, ""), ([1], "[1]")]
)
def test_arguments_are_text(given: Any, text: str) -> None:
    out, _ = repaired(role(), call(0, id="a", type="function", name="f", arguments=given))
    assert pieces(out)[0]["function"]["arguments"] == text


def test_a_call_without_arguments_gets_an_empty_object_before_the_finish() -> None:
    out, repair = repaired(
        role(),
        call(0, id="a", type="function", name="now", arguments=""),
        chunk({}, "tool_calls"),
        DONE,
    )
    assert pieces(out)[1] == {"index": 0, "function": {"arguments": "{}"}}
    assert out[-2]["choices"][0] == {"index": 0, "delta": {}, "finish_reason": "tool_calls"}
    assert repair.repairs == {"arguments_added": 1, "chunk_split": 1}


def test_a_call_that_the_limit_cut_off_does_not_look_whole() -> None:
    raw = wire(
        role(),
        call(0, id="a", type="function", name="f", arguments=""),
        chunk({}, "length"),
        DONE,
    )
    assert sse.encode(repaired_events(raw, StreamRepair())) == raw


def test_several_calls_and_the_finish_in_one_chunk_become_one_chunk_each() -> None:
    calls = [
        {
            "index": n,
            "id": f"c{n}",
            "type": "function",
            "function": {"name": "f", "arguments": "{}"},
        }
        for n in range(2)
    ]
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    out, repair = repaired(
        chunk({"role": "assistant", "content": "x", "tool_calls": calls}, "tool_calls", usage=usage)
    )
    assert [len(delta.get("tool_calls") or []) for delta in deltas(out)] == [1, 1, 0]
    assert deltas(out)[0]["content"] == "x"
    assert [document["usage"] for document in out[:3]] == [None, None, usage]
    assert finishes(out) == ["tool_calls"]
    assert repair.repairs["chunk_split"] == 1


def test_custom_calls_are_calls_too() -> None:
    head = {"index": 0, "id": "c", "type": "custom", "custom": {"name": "patch", "input": "*** "}}
    raw = wire(
        role(),
        chunk({"tool_calls": [head]}),
        chunk({"tool_calls": [{"index": 0, "custom": {"input": "End"}}]}),
        chunk({}, "tool_calls"),
        DONE,
    )
    assert sse.encode(repaired_events(raw, StreamRepair())) == raw


# ------------------------------------------------------------------------------- the ending
def test_stop_beside_calls_is_tool_calls() -> None:
    out, _ = repaired(
        role(),
        call(0, id="a", type="function", name="f", arguments="{}"),
        chunk({}, "stop"),
        DONE,
    )
    assert finishes(out) == ["tool_calls"]


@pytest.mark.parametrize(
    ("said", "means"),
    [("eos", "stop"), ("tool_use", "tool_calls"), ("max_tokens", "length"), ("weird", "weird")],
)
def test_synonyms_of_finish_reasons(said: str, means: str) -> None:
    out, _ = repaired(role(), call(0, id="a", name="f"), chunk({}, said), DONE)
    assert finishes(out) == ["tool_calls" if means == "stop" else means]


@pytest.mark.parametrize("said", ["tool_calls", "tool_use", "function_call"])
def test_an_end_for_calls_that_are_not_there_is_a_plain_one(said: str) -> None:
    out, _ = repaired(role(), chunk({"content": "x"}), chunk({}, said), DONE)
    assert finishes(out) == ["stop"]


def test_an_empty_finish_reason_is_none() -> None:
    out, _ = repaired(role(), chunk({"content": "x"}, ""), chunk({}, "stop"), DONE)
    assert out[1]["choices"][0]["finish_reason"] is None
    assert finishes(out) == ["stop"]


def test_the_second_finish_reason_goes_and_its_usage_stays() -> None:
    usage = {"prompt_tokens": 9, "completion_tokens": 1, "total_tokens": 10}
    out, repair = repaired(
        role(),
        chunk({"content": "x"}, "stop"),
        chunk({"role": "assistant", "content": ""}, "stop"),
        chunk({"content": ""}, "stop", usage=usage),
        DONE,
    )
    assert finishes(out) == ["stop"]
    assert out[2:] == [chunk(usage=usage), "[DONE]"]
    assert repair.repairs["finish_reason_repeated"] == 2


def test_done_is_added_after_a_finish() -> None:
    out, repair = repaired(role(), chunk({}, "stop"))
    assert out[-1] == "[DONE]"
    assert repair.repairs == {"done_added": 1}


def test_a_finish_is_added_before_a_done() -> None:
    out, _ = repaired(role(), call(0, id="a", type="function", name="f", arguments="{}"), DONE)
    assert finishes(out) == ["tool_calls"]
    assert out[-2]["id"] == "chatcmpl-1"
    assert out[-1] == "[DONE]"


@pytest.mark.parametrize(
    "sent",
    [
        [],
        [b": only a comment\n\n"],
        [role(), chunk({"content": "half"})],
        [role(), call(0, id="a", type="function", name="f", arguments="{}")],
    ],
    ids=["nothing", "comment", "text", "call"],
)
def test_a_stream_without_its_end_broke_off(sent: list[Any]) -> None:
    out, repair = repaired(*sent)
    assert "broke off" in out[-1]["error"]["message"]
    assert out[-1]["error"]["code"] == "upstream_cut"
    assert finishes(out) == []
    assert repair.finished


def test_how_the_stream_broke_off_is_told() -> None:
    repair = StreamRepair()
    repair.feed(sse.Decoder().feed(wire(role())))
    failure = Failure(504, "no byte for 300 s", kind="timeout", code="upstream_timeout")
    (event,) = repair.close(failure)
    assert told(event) == {
        "error": {
            "message": "no byte for 300 s",
            "type": "timeout_error",
            "param": None,
            "code": "upstream_timeout",
        }
    }
    assert repair.close() == []


def test_an_error_ends_the_stream_and_nothing_follows() -> None:
    error = {"error": {"message": "boom", "code": 502, "metadata": {"x": 1}}}
    out, repair = repaired(role(), error, chunk({"content": "late"}), DONE)
    assert out[1:] == [error]
    assert repair.finished
    assert repair.repairs == {}


@pytest.mark.parametrize(
    "raw",
    [
        b'data: {"error":"boom"}\n\n',
        b'event: error\ndata: {"message":"boom"}\n\n',
        b'data: {"object":"error","message":"boom","code":400}\n\n',
        b'data: [{"error":{"message":"boom"}}]\n\n',
    ],
)
def test_errors_of_other_shapes_get_the_right_one(raw: bytes) -> None:
    out, _ = repaired(raw)
    assert out[-1]["error"]["message"] == "boom"


def test_what_is_no_json_is_an_error_that_shows_it() -> None:
    out, _ = repaired(role(), b"data: <html>busy</html>\n\n", chunk({"content": "late"}))
    assert "<html>busy" in out[-1]["error"]["message"]
    assert len(out) == 2


def test_empty_data_is_left_out() -> None:
    out, _ = repaired(role(), b"data: \n\n", chunk({}, "stop"), DONE)
    assert len(out) == 3


# ------------------------------------------------------------------------- around the choices
def test_missing_ids_and_objects_are_filled() -> None:
    bare = {"choices": [{"index": 0, "delta": {"role": "assistant", "content": "x"}}], "model": "m"}
    out, _ = repaired(bare, {"choices": [{"index": 0, "delta": {"content": "y"}}]}, DONE)
    assert out[0]["object"] == out[1]["object"] == "chat.completion.chunk"
    assert out[0]["id"] == out[1]["id"]
    assert out[0]["created"] == out[1]["created"] > 0
    assert out[1]["model"] == "m"


def test_a_chunk_of_filter_results_comes_first() -> None:
    azure = {"id": "", "object": "", "created": 0, "model": "", "choices": [], "prompt_filter": [1]}
    out, _ = repaired(azure, role(), chunk({}, "stop"), DONE)
    assert out[0] == {**azure, "object": "chat.completion.chunk"}


def test_each_choice_has_its_own_state() -> None:
    def two(first: dict[str, Any], second: dict[str, Any]) -> dict[str, Any]:
        return {**chunk(), "choices": [{"index": 0, **first}, {"index": 1, **second}]}

    start = {"delta": {"role": "assistant", "content": "a"}, "finish_reason": None}
    stop = {"delta": {}, "finish_reason": "stop"}
    raw = wire(two(start, start), two(stop, {"delta": {"content": "b"}, "finish_reason": None}))
    repair = StreamRepair()
    repair.feed(sse.Decoder().feed(raw))
    assert not repair.finished
    assert "broke off" in told(repair.close()[-1])["error"]["message"]


def test_usage_in_every_chunk_counts_at_last() -> None:
    counts = [{"prompt_tokens": 3, "completion_tokens": n, "total_tokens": 3 + n} for n in range(4)]
    _, repair = repaired(
        {**role(), "usage": counts[0]},
        *[chunk({"content": "x"}, usage=count) for count in counts[1:]],
    )
    assert repair.usage == Usage(input=3, output=3)


def test_usage_of_odd_types_is_read_as_far_as_it_goes() -> None:
    _, repair = repaired(chunk(usage={"prompt_tokens": 3, "completion_tokens": None, "cost": 0.1}))
    assert repair.usage == Usage(input=3)


# ------------------------------------------------------------------------------- think tags
@pytest.mark.parametrize("size", [1, 3, 100])
def test_think_tags_are_left_alone_unless_asked_for(size: int) -> None:
    text = " <think>musing</think>\n\nHello <think>"
    cut = [text[at : at + size] for at in range(0, len(text), size)]
    sent = [role(), *[chunk({"content": piece}) for piece in cut], chunk({}, "stop"), DONE]
    plain, _ = repaired(*sent)
    assert "".join(delta.get("content") or "" for delta in deltas(plain)) == text
    moved, _ = repaired(*sent, repair=StreamRepair(think_tags=True))
    found = deltas(moved)
    assert "".join(delta.get("content") or "" for delta in found) == "Hello <think>"
    assert "".join(delta.get("reasoning_content") or "" for delta in found) == "musing"


def test_half_a_tag_is_text_when_the_stream_ends() -> None:
    sent = [role(), chunk({"content": "<thi"}), chunk({}, "stop"), DONE]
    out, _ = repaired(*sent, repair=StreamRepair(think_tags=True))
    assert "".join(delta.get("content") or "" for delta in deltas(out)) == "<thi"


# ------------------------------------------------------------------------------- properties
ODD_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 3) | st.sampled_from(["", "x", "stop", "function"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                "id object choices index delta role content tool_calls function custom name "
                "arguments input type finish_reason usage error reasoning_content function_call "
                "prompt_tokens text thinking created model".split()
            ),
            inner,
            max_size=6,
        )
    ),
    max_leaves=20,
)


@given(st.lists(ODD_VALUES, max_size=5))
def test_nothing_that_an_upstream_sends_raises(documents: list[Any]) -> None:
    odd = [
        chunk(document) if isinstance(document, dict) and place % 2 else {"choices": document}
        for place, document in enumerate(documents)
    ]
    for sent in (odd, [d for d in documents if isinstance(d, dict)]):
        out, repair = repaired(*sent, repair=StreamRepair(think_tags=True))
        assert repair.finished
        assert out[-1] == "[DONE]" or out[-1].get("error")
        assert all(word for word in finishes(out))


def test_groq_s_counts_are_noted_and_stay_where_they_are() -> None:
    last = chunk({}, "stop", x_groq={"id": "r", "usage": {"prompt_tokens": 5}})
    documents, repair = repaired(role(), last, DONE)
    assert documents == [role(), last, "[DONE]"]
    assert repair.usage == Usage(input=5)
    assert repair.repairs == {}
