"""Streams of Messages upstreams whose blocks are in disorder."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.proxy.protocols.messages.streams import assembled, documents, event
from tests.proxy.protocols.messages.test_stream_repair import STOP, fed, finish, start
from toolwire.proxy.protocols.messages import CODEC
from toolwire.proxy.protocols.neutral import Delta
from toolwire.proxy.protocols.sse import Event

EMPTY: dict[str, dict[str, Any]] = {
    "text": {"type": "text", "text": ""},
    "thinking": {"type": "thinking", "thinking": "", "signature": ""},
    "call": {"type": "tool_use", "id": "toolu_1", "name": "f", "input": {}},
    "other": {"type": "tool_use", "id": "toolu_2", "name": "g", "input": {}},
}
COMPACTION = {"type": "compaction", "content": None}
RESULT = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []}
DELTAS = {
    "text": ("text_delta", "text"),
    "thinking": ("thinking_delta", "thinking"),
    "signature": ("signature_delta", "signature"),
    "call": ("input_json_delta", "partial_json"),
    "other": ("input_json_delta", "partial_json"),
    "compaction": ("compaction_delta", "content"),
}


def numbered(kind: str, index: Any, **fields: Any) -> Event:
    """An event of a block; ``index`` is left out where it is ``...``."""
    return event(kind, **({} if index is ... else {"index": index}), **fields)


def begin(block: str | dict[str, Any], index: Any = 0) -> Event:
    content = EMPTY[block] if isinstance(block, str) else block
    return numbered("content_block_start", index, content_block=content)


def more(block: str, text: str, index: Any = 0) -> Event:
    kind, name = DELTAS[block]
    return numbered("content_block_delta", index, delta={"type": kind, name: text})


def end(index: Any = 0) -> Event:
    return numbered("content_block_stop", index)


def content(*events: Event) -> tuple[list[Any], dict[str, int]]:
    """What a stream of these spells out, and its repairs."""
    calls = any(b'"tool_use"' in (event.data or b"") for event in events)
    out, repairs = fed(start(), *events, finish("tool_use" if calls else "end_turn"), STOP)
    blocks = assembled(out)["content"]
    return [
        block.get("text") or block.get("thinking") or block["input"] for block in blocks
    ], repairs


class TestInterleaved:
    def test_a_call_waits_for_the_end_of_the_text_before_it(self) -> None:
        late = [more("text", "lo"), end(), more("call", '{"a":1}', 1), end(1)]
        found, repairs = content(begin("text"), more("text", "Hel"), begin("call", 1), *late)
        assert (found, repairs) == (["Hello", {"a": 1}], {})

    @pytest.mark.parametrize("ends", [[end(), end(1)], [end(1), end()], [end()], []])
    def test_deltas_of_a_block_that_nobody_here_knows(self, ends: list[Event]) -> None:
        events = [begin("text"), begin(COMPACTION, 1), more("text", "a")]
        events += [more("compaction", "x", 1), more("text", "b"), more("compaction", "y", 1)]
        out, _ = fed(start(), *events, *ends, finish(), STOP)
        told = [(d.get("index"), d.get("delta")) for d in documents(out)]
        deltas = [(index, delta) for index, delta in told if index is not None and delta]
        assert deltas == [
            (1, {"type": "compaction_delta", "content": "x"}),
            (1, {"type": "compaction_delta", "content": "y"}),
            (2, {"type": "text_delta", "text": "a"}),
            (2, {"type": "text_delta", "text": "b"}),
        ]

    def test_a_block_that_comes_whole_holds_nothing_up(self) -> None:
        repair = CODEC.stream_repair()
        out = repair.feed([start(), begin(RESULT), begin("text", 1), more("text", "a", 1)])
        assert documents(out)[-1]["delta"] == {"type": "text_delta", "text": "a"}

    def test_calls(self) -> None:
        found, repairs = content(
            begin("call"),
            begin("other", 1),
            more("other", '{"b"', 1),
            more("call", '{"a"'),
            more("other", ":2}", 1),
            end(1),
            more("call", ":1}"),
            end(),
        )
        # the first is whole with its last delta, and the second waits
        assert found == [{"a": 1}, {"b": 2}]
        assert repairs == {"block_stop_added": 1, "late_block_event_dropped": 1}

    def test_text_makes_way_and_goes_on_in_a_block_of_its_own(self) -> None:
        events = [begin("text"), more("text", "a"), begin("call", 1), more("call", "{", 1)]
        late = [more("text", "b"), more("call", "}", 1), end(), end(1)]
        found, repairs = content(*events, *late)
        assert found == ["a", {}, "b"]
        assert repairs["block_split"] == 1

    def test_a_signature_that_comes_late_is_kept(self) -> None:
        events = [begin("thinking"), more("thinking", "hm"), begin("text", 1), more("text", "a", 1)]
        late = [more("signature", "sig"), end(), end(1)]
        out, _ = fed(start(), *events, *late, finish(), STOP)
        signed = {"type": "thinking", "thinking": "", "signature": "sig"}
        assert assembled(out)["content"][2] == signed

    def test_deltas_go_out_as_they_come(self) -> None:
        repair = CODEC.stream_repair()
        repair.feed([start(), begin("thinking"), more("thinking", "hm"), begin("text", 1)])
        told = [document["type"] for document in documents(repair.feed([more("text", "a", 1)]))]
        assert told == ["content_block_stop", "content_block_start", "content_block_delta"]
        assert len(repair.feed([more("text", "b", 1)])) == 1


class TestNumbers:
    @pytest.mark.parametrize("second", [2, 0, ..., -1, "1", None])
    def test_any_number_becomes_the_next(self, second: Any) -> None:
        found, repairs = content(
            *[begin("text"), more("text", "a"), end()],
            *[begin("call", second), more("call", '{"a":', second), more("call", "1}", second)],
            end(second),
        )
        assert (found, repairs) == (["a", {"a": 1}], {"block_index_corrected": 1})

    def test_deltas_that_are_all_numbered_zero(self) -> None:
        """Their type and the block that is open say where they belong."""
        first = [begin("text"), more("text", "a"), end()]
        found, _ = content(*first, begin("call", 1), more("call", '{"a":1}'), end())
        assert found == ["a", {"a": 1}]

    def test_a_number_that_is_used_again_ends_its_block(self) -> None:
        found, repairs = content(begin("text"), more("text", "a"), begin("text"), more("text", "b"))
        assert found == ["a", "b"]
        assert repairs == {"block_stop_added": 2, "block_index_corrected": 1}


class TestLeftOut:
    def test_message_start(self) -> None:
        repair = CODEC.stream_repair(request={"model": "asked"})
        out = repair.feed([begin("text"), more("text", "a"), end(), finish(), STOP])
        message = assembled(out)
        assert message["model"] == "asked"
        assert message["id"].startswith("msg_")
        assert message["content"] == [{"type": "text", "text": "a"}]
        assert repair.repairs == {"message_start_added": 1}

    def test_message_start_told_twice(self) -> None:
        out, repairs = fed(start(), start(), begin("text"), end(), finish(), STOP)
        assert [doc["type"] for doc in documents(out)].count("message_start") == 1
        assert repairs == {"message_start_repeated": 1}

    def test_nothing_but_the_end_is_no_answer(self) -> None:
        out, _ = fed(STOP)
        assert [doc["type"] for doc in documents(out)] == ["error"]

    @pytest.mark.parametrize("block", ["text", "thinking"])
    def test_the_start_of_a_block(self, block: str) -> None:
        found, repairs = content(more(block, "a", 3), more(block, "b", 3), end(3))
        assert found == ["ab"]
        assert repairs == {"block_start_added": 1, "block_index_corrected": 1}

    def test_the_block_in_its_start(self) -> None:
        bare = numbered("content_block_start", 0)
        found, repairs = content(bare, more("text", "a"), end())
        assert (found, repairs) == (["a"], {"block_start_empty": 1, "block_start_added": 1})

    @pytest.mark.parametrize("fields", [{}, {"delta": None}, {"delta": 7}])
    def test_the_delta_in_its_event(self, fields: dict[str, Any]) -> None:
        empty = numbered("content_block_delta", 0, **fields)
        found, repairs = content(begin("text"), empty, more("text", "a"), end())
        assert (found, repairs) == (["a"], {"delta_missing": 1})

    def test_the_start_of_a_call_whose_name_nobody_knows(self) -> None:
        out, repairs = fed(start(), more("call", "{}"), end(), finish("tool_use"), STOP)
        assert documents(out)[-1]["error"]["message"].endswith("of a call that is not open")
        assert repairs["error_added"] == 1

    def test_the_start_of_the_second_call(self) -> None:
        first = [begin("call"), more("call", '{"a":1}')]
        out, _ = fed(start(), *first, more("call", '{"b":2}', 1), finish("tool_use"), STOP)
        assert documents(out)[-1]["type"] == "error"

    def test_all_stops(self) -> None:
        events = [begin("text"), more("text", "a"), begin("call", 1), more("call", '{"a":1}', 1)]
        found, repairs = content(*events, begin("other", 2), more("other", "{}", 2))
        assert (found, repairs) == (["a", {"a": 1}, {}], {"block_stop_added": 3})


class TestLate:
    def test_more_after_the_stop_reason(self) -> None:
        events = [begin("call"), more("call", '{"a":1}'), end()]
        out, repairs = fed(start(), finish(), *events, STOP)
        message = assembled(out)
        assert message["content"][0]["input"] == {"a": 1}
        assert message["stop_reason"] == "tool_use"
        assert repairs == {"content_after_the_stop_reason": 1, "stop_reason_corrected": 1}

    def test_more_after_the_stop_reason_in_a_later_read(self) -> None:
        """Nobody waits for a later read; so the reason is said again, and right."""
        repair = CODEC.stream_repair()
        out = repair.feed([start(), begin("text"), more("text", "a"), end(), finish()])
        assert out[-1] == finish()
        out = repair.feed([begin("call", 1), more("call", "{}", 1), end(1), STOP])
        assert [document["type"] for document in documents(out)] == [
            "content_block_start",
            "content_block_delta",
            "content_block_stop",
            "message_delta",
            "message_stop",
        ]
        assert documents(out)[3]["delta"]["stop_reason"] == "tool_use"
        repairs = {"content_after_the_stop_reason": 1, "stop_reason_corrected": 1}
        assert repair.repairs == repairs

    def test_the_stop_reason_waits_for_a_block_that_is_not_over(self) -> None:
        repair = CODEC.stream_repair()
        out = repair.feed([start(), begin("text"), more("text", "a"), finish()])
        out += repair.feed([more("text", "b"), end(), STOP])
        assert assembled(out)["content"] == [{"type": "text", "text": "ab"}]

    def test_more_of_a_text_that_was_stopped(self) -> None:
        found, repairs = content(begin("text"), more("text", "a"), end(), more("text", "b"))
        assert found == ["a", "b"]
        assert repairs["block_split"] == 1

    def test_more_of_a_call_that_is_whole(self) -> None:
        events = [begin("call"), more("call", '{"a":1}'), end(), more("call", '{"a":1}')]
        found, repairs = content(*events)
        assert (found, repairs) == ([{"a": 1}], {"late_arguments_dropped": 1})

    def test_more_of_a_call_that_was_not(self) -> None:
        events = [begin("call"), more("call", '{"a"'), end(), more("call", ":1}")]
        out, _ = fed(start(), *events, finish("tool_use"), STOP)
        assert documents(out)[-1]["type"] == "error"


@pytest.mark.parametrize("told", [[{"x": 1}], [None, '{"x":1}'], ["", {"x": 1}], ['{"x":', 1, "}"]])
def test_arguments_that_are_no_text(told: list[Any]) -> None:
    deltas = [more("call", text) for text in told]
    assert content(begin("call"), *deltas, end()) == ([{"x": 1}], {"delta_not_text": 1})


@pytest.mark.parametrize("block", ["text", "thinking"])
def test_a_text_that_is_null(block: str) -> None:
    null: Any = None
    said, repairs = content(
        begin(block), more(block, "a"), more(block, null), more(block, "b"), end()
    )
    assert said == ["ab"]
    assert repairs["delta_not_text"] == 1


def test_fields_that_nobody_knows_stay_where_a_block_is_renumbered() -> None:
    odd = event("content_block_delta", index=4, delta={"type": "new_delta", "x": 1}, y=10**20)
    out, _ = fed(start(), begin("text", 4), odd, end(4), finish(), STOP)
    assert documents(out)[2] == {**json.loads(odd.data or b""), "index": 0}


@pytest.mark.parametrize("spaced", [False, True])
@pytest.mark.parametrize("last", [False, True])
def test_faultless_deltas_pass_however_they_are_written(spaced: bool, last: bool) -> None:
    def written(document: dict[str, Any]) -> Event:
        turned = dict(reversed(document.items())) if last else document
        data = json.dumps(turned, separators=None if spaced else (",", ":")).encode()
        return Event(data, document["type"], raw=b"data: " + data)

    pieces = [more("call", piece) for piece in ('{"a', '":', "[1", "]}")]
    events = [written(doc) for doc in documents([start(), begin("call"), *pieces, end()])]
    repair = CODEC.stream_repair()
    out = repair.feed(events)
    assert all(left is right for left, right in zip(out, events, strict=True))
    assert repair.repairs == {}


def _nested(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.one_of(st.lists(values, max_size=2), st.dictionaries(st.just("type"), values))


_PIECES = st.lists(
    st.one_of(
        st.builds(begin, st.sampled_from(list(EMPTY)), st.integers(0, 2)),
        st.builds(
            more,
            st.sampled_from(["text", "thinking", "signature"]),
            st.sampled_from(["a", "b", ""]),
            st.integers(0, 2),
        ),
        st.builds(more, st.just("call"), st.sampled_from(["{", "}", ""]), st.integers(0, 2)),
        st.builds(end, st.integers(0, 2)),
        st.just(finish()),
    ),
    max_size=14,
)


@given(_PIECES, st.integers(1, 15))
def test_any_disorder_comes_out_well_formed_with_nothing_lost(
    events: list[Event], cut: int
) -> None:
    reasons = [place for place, wire in enumerate(events) if wire.name == "message_delta"]
    events = [wire for place, wire in enumerate(events) if place not in reasons[1:]]
    cut = len(events) + 1 if reasons else cut  # what comes in later reads comes after it
    repair = CODEC.stream_repair()
    out = repair.feed([start(), *events][:cut])
    out += [*repair.feed([start(), *events][cut:]), *repair.feed([STOP]), *repair.close()]
    message = assembled(out)
    reader = CODEC.stream_reader()
    read = [found for wire in out for found in reader.read(wire)]
    if "error" not in message:
        assert sorted(_texts(out)) == sorted(_texts(events))
        assert any(isinstance(found, Delta) for found in read) or not _texts(events)


def _texts(events: Iterable[Event]) -> str:
    """All text and thinking of the deltas."""
    deltas = [document.get("delta", {}) for document in documents(list(events))]
    return "".join(delta.get("text", "") + delta.get("thinking", "") for delta in deltas)


@given(
    st.lists(
        st.recursive(st.one_of(st.none(), st.integers(), st.text(max_size=3)), _nested), max_size=6
    )
)
def test_odd_values_anywhere_raise_nothing(odd: list[Any]) -> None:
    kinds = ("content_block_start", "content_block_delta", "content_block_stop", "message_delta")
    names = ("index", "delta", "content_block", "usage")
    events = [start(), begin("call"), more("call", "{")]
    events += [
        event(
            kinds[place % 4], **{names[place % 3]: value, names[(place + 1) % 4]: {"type": value}}
        )
        for place, value in enumerate(odd)
    ]
    events.append(
        Event(b'{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta"')
    )
    repair = CODEC.stream_repair()
    repair.feed([*events, begin("other", 1), finish(), STOP])
    repair.close()
    assert repair.finished


# ---------------------------------------------------------------- input that is no object (yet)
@pytest.mark.parametrize("pieces", [["null"], ["[1", "]"], ["city"]])
def test_an_input_that_is_no_object_is_an_empty_one(pieces: list[str]) -> None:
    told = [more("call", piece) for piece in pieces]
    assert content(begin("call"), *told, end()) == ([{}], {"input_not_an_object": 1})
    # in the place of a block that waits, too
    waits = [begin("call", 1), *(more("call", piece, 1) for piece in pieces), end(1)]
    first = [begin("other"), more("other", '{"b"')]
    found, repairs = content(*first, *waits, more("other", ":2}"), end())
    assert found == [{"b": 2}, {}]
    assert repairs["input_not_an_object"] == 1


@pytest.mark.parametrize("placeholder", ["{}", "null"])
def test_a_placeholder_makes_way_for_the_true_input(placeholder: str) -> None:
    told = [more("call", piece) for piece in (placeholder, '{"a"', ":1}")]
    assert content(begin("call"), *told, end()) == ([{"a": 1}], {"input_placeholder": 1})


def test_an_empty_input_passes_as_it_came() -> None:
    sent = [start(), begin("call"), more("call", "{}"), end(), finish("tool_use"), STOP]
    out, repairs = fed(*sent)
    assert all(one is other for one, other in zip(out, sent, strict=True))
    assert repairs == {}


def test_an_empty_input_that_its_end_never_follows_goes_out() -> None:
    found, repairs = content(begin("call"), more("call", "{}"), begin("other", 1), end(1))
    assert found == [{}, {}]
    assert repairs == {"block_stop_added": 1}
