from __future__ import annotations

from typing import Any

import pytest

from tests.proxy.protocols.responses.repairing import FIELDS, repair, without
from tests.proxy.protocols.responses.wire_events import (
    CALL,
    MESSAGE,
    call_events,
    completed,
    created,
    event,
    message_events,
    numbered,
    whole_stream,
    wire,
)
from toolwire.proxy.protocols import json, sse
from toolwire.proxy.protocols.neutral import Usage
from toolwire.proxy.protocols.responses import CODEC
from toolwire.proxy.protocols.sse import Event


class TestNothingWrong:
    def test_events_pass_as_the_very_objects_that_came(self) -> None:
        events = wire(numbered(whole_stream()))
        before = [(sent.data, sent.raw) for sent in events]
        repair = CODEC.stream_repair()

        passed = [*repair.feed(events[:5]), *repair.feed(events[5:6]), *repair.feed(events[6:])]

        assert all(out is sent for out, sent in zip(passed, events, strict=True))
        assert [(sent.data, sent.raw) for sent in passed] == before
        assert repair.close() == []
        assert repair.repairs == {}
        assert repair.finished

    def test_usage_is_noted(self) -> None:
        repair = CODEC.stream_repair()
        assert repair.usage is None

        repair.feed(wire(numbered(whole_stream())))

        assert repair.usage == Usage(input=12, output=3, cached=5, cache_written=2, reasoning=1)

    def test_unknown_events_and_comments_pass(self) -> None:
        comment = sse.comment("OPENROUTER PROCESSING")
        known, later = whole_stream()[0], whole_stream()[1:]
        unknown = event("response.brand_new", anything=[1])
        events = wire(numbered([known, unknown, *later]))
        repair = CODEC.stream_repair()

        passed = repair.feed([comment, *events])

        assert passed[0] is comment
        assert all(out is sent for out, sent in zip(passed[1:], events, strict=True))

    def test_obfuscation_and_other_fields_stay(self) -> None:
        documents = numbered(whole_stream())
        documents[3]["obfuscation"] = "abc"
        del documents[3]["sequence_number"]

        passed, _ = repair(wire(documents))

        assert passed[3]["obfuscation"] == "abc"

    def test_numbers_stay_as_they_are(self) -> None:
        data = (
            b'{"type":"response.brand_new","big":12345678901234567890123,"small":1.10,'
            b'"huge":1e400,"text":"\\ud83d"}'
        )
        repair = CODEC.stream_repair()

        (passed,) = repair.feed([Event(data)])

        assert passed.data is not None
        assert json.decode(passed.data) == {**json.decode(data), "sequence_number": 0}
        assert b'"small":1.10,' in passed.data


class TestLeftOut:
    @pytest.mark.parametrize("field", FIELDS)
    def test_a_field(self, field: str) -> None:
        documents = numbered(whole_stream())

        passed, repairs = repair(wire(without(document, field) for document in documents))

        assert passed == documents
        assert repairs == {field: sum(field in document for document in documents)}

    def test_everything_at_once(self) -> None:
        documents = numbered(whole_stream())

        passed, _ = repair(
            wire((without(document, *FIELDS[:3]) for document in documents), named=False)
        )

        assert passed == documents

    def test_event_lines_are_added_and_the_data_stays(self) -> None:
        events = wire(numbered(whole_stream()), named=False)
        repair = CODEC.stream_repair()

        passed = repair.feed(events)

        assert [sent.data for sent in passed] == [sent.data for sent in events]
        assert passed[0].encode().startswith(b"event: response.created\ndata: {")
        assert repair.repairs == {"event_line": len(events)}

    def test_an_event_line_that_says_something_else(self) -> None:
        (sent,) = wire([created()])
        sent.name = "message"

        passed, repairs = repair([sent])

        assert passed[0]["type"] == "response.created"
        assert repairs["event_line"] == 1

    def test_a_type_that_only_the_event_line_has(self) -> None:
        documents = numbered(whole_stream())
        events = wire(documents)
        for sent, document in zip(events, documents, strict=True):
            sent.data = json.encode(without(document, "type"))

        passed, repairs = repair(events)

        assert passed == documents
        assert repairs == {"type": len(documents)}

    def test_numbers_that_do_not_grow(self) -> None:
        documents = [{**document, "sequence_number": 0} for document in whole_stream()]

        passed, _ = repair(wire(documents))

        assert [document["sequence_number"] for document in passed] == list(range(len(passed)))

    def test_the_index_of_every_item_is_the_same(self) -> None:
        documents = numbered([created(), *message_events(0), *call_events(0)])
        documents += [{**completed([MESSAGE, CALL]), "sequence_number": 99}]

        passed, _ = repair(wire(documents))

        assert [d["output_index"] for d in passed if "output_index" in d] == [0] * 7 + [1] * 5

    def test_arguments_that_come_only_when_they_are_done(self) -> None:
        added, _, _, done, item = call_events(0)

        passed, repairs = repair(wire(numbered([created(), added, done, item, completed([CALL])])))

        assert [d["type"].removeprefix("response.") for d in passed] == [
            "created",
            "output_item.added",
            "function_call_arguments.delta",
            "function_call_arguments.done",
            "output_item.done",
            "completed",
        ]
        assert passed[2]["delta"] == CALL["arguments"]
        assert (passed[2]["item_id"], passed[2]["output_index"]) == ("fc_1", 0)
        assert [d["sequence_number"] for d in passed] == list(range(6))
        assert repairs["delta"] == 1

    def test_arguments_that_the_item_was_added_with_are_a_delta(self) -> None:
        added = event("response.output_item.added", output_index=0, item=CALL)
        done = event("response.output_item.done", output_index=0, item=CALL)

        documents, repairs = repair(wire(numbered([created(), added, done, completed([CALL])])))

        assert [document["type"].removeprefix("response.") for document in documents] == [
            "created",
            "output_item.added",
            "function_call_arguments.delta",
            "function_call_arguments.done",
            "output_item.done",
            "completed",
        ]
        assert documents[1]["item"]["arguments"] == ""
        assert documents[2]["delta"] == CALL["arguments"]
        assert repairs["arguments_early"] == 1

    def test_text_that_comes_only_when_it_is_done(self) -> None:
        documents = message_events(0)
        del documents[2:4]

        passed, _ = repair(wire(numbered([created(), *documents, completed([MESSAGE])])))

        (delta,) = [d for d in passed if d["type"] == "response.output_text.delta"]
        assert (delta["delta"], delta["logprobs"]) == ("Hello", [])

    def test_the_output_of_the_last_event(self) -> None:
        documents = numbered([*whole_stream()[:-1], completed([])])

        passed, repairs = repair(wire(documents))

        assert passed[-1]["response"]["output"] == [MESSAGE, CALL]
        assert repairs == {"output": 1}

    def test_arguments_that_are_no_text(self) -> None:
        added, _, _, done, item = call_events(0)
        done["arguments"] = {"city": "Oslo"}
        item["item"] = {**CALL, "arguments": {"city": "Oslo"}}

        passed, repairs = repair(wire(numbered([created(), added, done, item, completed([])])))

        assert passed[-3]["arguments"] == '{"city":"Oslo"}'
        assert passed[-2]["item"]["arguments"] == '{"city":"Oslo"}'
        assert repairs["arguments_not_text"] == 2

    @pytest.mark.parametrize("arguments", [None, ""])
    def test_a_call_without_arguments(self, arguments: Any) -> None:
        added, _, _, done, item = call_events(0)
        done["arguments"] = arguments
        item["item"] = {**CALL, "arguments": arguments}
        end = completed([item["item"]])

        passed, repairs = repair(wire(numbered([created(), added, done, item, end])))

        assert [event["delta"] for event in passed if "delta" in event] == ["{}"]
        assert passed[-2]["item"]["arguments"] == "{}"
        assert passed[-1]["response"]["output"][0]["arguments"] == "{}"
        assert repairs["arguments_added"] == 2

    def test_a_call_that_was_cut_before_its_arguments(self) -> None:
        added, _, _, _, item = call_events(0)
        item["item"] = {**CALL, "arguments": "", "status": "incomplete"}
        end = completed([item["item"]], "incomplete")

        passed, repairs = repair(wire(numbered([created(), added, item, end])))

        assert passed[-2]["item"]["arguments"] == ""
        assert passed[-1]["response"]["output"][0]["arguments"] == ""
        assert "arguments_added" not in repairs

    def test_the_numbers_of_parts_begin_with_each_item(self) -> None:
        events = message_events()
        gone_on = [{**e, "content_index": 1} if "content_index" in e else e for e in events]

        passed, repairs = repair(wire(numbered([created(), *gone_on, completed([MESSAGE])])))

        assert passed == numbered([created(), *events, completed([MESSAGE])])
        assert set(repairs) == {"content_index"}

    def test_items_that_are_counted_from_one(self) -> None:
        sent = [*message_events(1), *call_events(2)]
        end = completed([MESSAGE, CALL])

        passed, repairs = repair(wire(numbered([created(), *sent, end])))

        assert passed == numbered([created(), *message_events(0), *call_events(1), end])
        assert set(repairs) == {"output_index"}

    def test_arguments_after_they_were_done(self) -> None:
        added, first, second, done, item = call_events(0)
        late = [event(first["type"], item_id="fc_1", output_index=0, delta=CALL["arguments"])]
        documents = [created(), added, first, second, done, *late, item, completed([])]

        passed, repairs = repair(wire(numbered(documents)))

        said = [event["delta"] for event in passed if "delta" in event]
        assert "".join(said) == CALL["arguments"]
        assert repairs["late_arguments"] == 1

    @pytest.mark.parametrize("given", [{}, {"content": None}])
    def test_a_message_that_begins_without_its_list(self, given: dict[str, Any]) -> None:
        added, *rest = message_events()
        added["item"] = {**without(added["item"], "content"), **given}

        passed, repairs = repair(wire(numbered([created(), added, *rest, completed([])])))

        assert passed[1]["item"]["content"] == []
        assert repairs["item_fields"] == 1

    def test_calls_without_ids(self) -> None:
        """llama.cpp: a call has no id of its own, and its events name it by its call_id."""
        item = without(CALL, "id")
        documents = [
            created(),
            event("response.output_item.added", item={**item, "arguments": ""}),
            event(
                "response.function_call_arguments.delta",
                item_id="call_1",
                delta=CALL["arguments"],
            ),
            event("response.output_item.done", item=item),
            completed([item]),
        ]

        passed, _ = repair(wire(documents))

        made = passed[1]["item"]["id"]
        assert made.startswith("fc_")
        assert passed[2]["item_id"] == passed[3]["item_id"] == passed[4]["item"]["id"] == made
        assert passed[5]["response"]["output"][0]["id"] == made
        assert [d["output_index"] for d in passed[1:5]] == [0, 0, 0, 0]

    def test_llama_cpp_tells_of_the_ends_last(self) -> None:
        """Its items are done in the end, after all deltas, and have no index."""
        message, call = message_events(0), call_events(1)
        documents = [created(), *message[:4], *call[:3], *message[4:], call[4]]

        passed, _ = repair(
            wire([without(d, *FIELDS[:3]) for d in [*documents, completed([MESSAGE, CALL])]])
        )

        assert [d["output_index"] for d in passed[1:-1]] == [0] * 4 + [1] * 3 + [0] * 3 + [1, 1]


class TestIds:
    def test_an_item_with_another_id_in_every_event(self) -> None:
        documents = numbered(whole_stream())
        for number, document in enumerate(documents[2:8]):
            if "item_id" in document:
                document["item_id"] = f"rotated_{number}"
            else:
                document["item"] = {**document["item"], "id": f"rotated_{number}"}
        documents[-1]["response"] = {
            **documents[-1]["response"],
            "output": [{**MESSAGE, "id": "rotated_again"}, CALL],
        }

        passed, repairs = repair(wire(documents))

        assert passed == numbered(whole_stream())
        assert repairs == {"item_id": 7}
