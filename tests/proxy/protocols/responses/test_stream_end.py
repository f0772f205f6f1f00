from __future__ import annotations

import pytest

from tests.proxy.protocols.responses.streaming import NATIVE, START, stream, told, types, write
from toolwire.proxy.protocols import json
from toolwire.proxy.protocols.neutral import (
    Call,
    Delta,
    End,
    Failure,
    Finish,
    PartEnd,
    PartStart,
    Stop,
    StreamFailure,
    Text,
    Thinking,
    Usage,
    UsageReport,
)
from toolwire.proxy.protocols.responses import CODEC

STATUSES = [(Stop.LENGTH, "incomplete"), (Stop.DONE, "completed")]


class TestEnd:
    @pytest.mark.parametrize(
        ("stop", "word", "reason"),
        [
            (Stop.LENGTH, "incomplete", "max_output_tokens"),
            (Stop.FILTERED, "incomplete", "content_filter"),
            (Stop.PAUSED, "incomplete", "max_output_tokens"),
            (Stop.SEQUENCE, "completed", None),
        ],
    )
    def test_why_it_stopped(self, stop: Stop, word: str, reason: str | None) -> None:
        last = write(stream(told(Text(""), "x"), stop=stop))[-1]

        assert last["type"] == f"response.{word}"
        assert last["response"]["status"] == word
        assert last["response"]["incomplete_details"] == (reason and {"reason": reason})

    def test_a_call_cut_in_its_arguments_is_incomplete(self) -> None:
        documents = write(stream(told(Call("c", "f"), '{"ci'), stop=Stop.LENGTH))

        assert documents[-1]["type"] == "response.incomplete"
        assert documents[-1]["response"]["output"][0]["status"] == "incomplete"

    @pytest.mark.parametrize("stop", [Stop.LENGTH, Stop.CALLS])
    def test_the_item_at_which_it_was_cut_off_is_incomplete(self, stop: Stop) -> None:
        text, call = told(Text(""), "x", key=0), told(Call("c", "f"), "", key=1)

        documents = write(stream(text, call, stop=stop))

        done = [event["item"] for event in documents if event["type"].endswith("item.done")]
        cut = stop is Stop.LENGTH
        assert [item["status"] for item in done] == [
            "completed",
            "incomplete" if cut else "completed",
        ]
        assert done[1]["arguments"] == ("" if cut else "{}")
        assert documents[-1]["response"]["output"] == done

    @pytest.mark.parametrize(("stop", "status"), STATUSES)
    def test_the_item_that_ends_after_the_finish(self, stop: Stop, status: str) -> None:
        """Of upstreams that say the last words together with the reason."""
        events = [PartStart(0, Text("")), Delta(0, "x"), Finish(stop), PartEnd(0), End()]

        documents = write([START, *events])

        (item,) = documents[-1]["response"]["output"]
        assert item["status"] == documents[-1]["response"]["status"] == status

    def test_usage_of_the_last_report(self) -> None:
        usage = Usage(input=31, output=4, cached=10, reasoning=2)
        events = [START, UsageReport(Usage(input=1)), Finish(Stop.DONE), UsageReport(usage), End()]

        assert write(events)[-1]["response"]["usage"] == {
            "input_tokens": 31,
            "input_tokens_details": {"cached_tokens": 10, "cache_write_tokens": 0},
            "output_tokens": 4,
            "output_tokens_details": {"reasoning_tokens": 2},
            "total_tokens": 35,
        }

    def test_signed_thinking_is_kept_for_the_next_request(self) -> None:
        signed = Thinking("Hm.", signature="sig", origin="messages", vendor="anthropic")

        documents = write(stream(told(Thinking(), "Hm.", whole=signed)))
        (turn,) = CODEC.read_request(
            {"model": "m", "input": documents[-1]["response"]["output"]}
        ).turns

        signed.at = "input[0]"
        assert turn.parts == [signed]

    def test_thinking_that_is_nothing_but_redacted(self) -> None:
        redacted = Thinking(redacted="gAAA", origin="messages")

        documents = write(stream(told(redacted)))

        assert types(documents)[2:] == [
            "response.output_item.added",
            "response.output_item.done",
            "response.completed",
        ]
        (item,) = documents[-1]["response"]["output"]
        assert item["summary"] == []
        assert item["encrypted_content"].startswith("toolwire:")


class TestFailure:
    def test_a_failure_in_the_middle(self) -> None:
        failure = Failure(529, "Overloaded", kind="overloaded")

        documents = write([START, PartStart(0, Text("")), Delta(0, "half"), StreamFailure(failure)])

        last = documents[-1]
        assert last["type"] == "response.failed"
        assert last["response"]["status"] == "failed"
        assert last["response"]["error"] == {"code": "server_error", "message": "Overloaded"}
        assert last["response"]["output"][0]["status"] == "incomplete"
        assert "response.completed" not in types(documents)

    @pytest.mark.parametrize(
        ("code", "told"),
        [
            ("upstream_cut", "server_error"),
            ("bad_upstream_answer", "server_error"),
            ("context_length_exceeded", "context_length_exceeded"),
        ],
    )
    def test_an_upstreams_code_is_kept_and_the_gateways_own_is_none_of_this_protocol(
        self, code: str, told: str
    ) -> None:
        documents = write([START, StreamFailure(Failure(502, "broke off", code=code))])

        assert documents[-1]["response"]["error"]["code"] == told

    def test_a_cut_call_is_never_told_whole(self) -> None:
        events = [START, PartStart(0, Call("c", "rm")), Delta(0, '{"path":"/"}')]

        documents = write([*events, StreamFailure(Failure(502, "cut"))])

        assert "response.function_call_arguments.done" not in types(documents)
        assert "response.output_item.done" not in types(documents)
        assert documents[-1]["response"]["output"][0]["status"] == "incomplete"

    @pytest.mark.parametrize(
        ("failure", "code"),
        [
            (Failure(400, "m", code="context_length_exceeded"), "context_length_exceeded"),
            (Failure(429, "m", kind="rate_limit"), "rate_limit_exceeded"),
            (Failure(400, "m", kind="invalid_request"), "invalid_prompt"),
            (Failure(502, "m", code=7), "server_error"),
        ],
    )
    def test_codes(self, failure: Failure, code: str) -> None:
        documents = write([StreamFailure(failure)])

        assert types(documents) == ["response.created", "response.in_progress", "response.failed"]
        assert documents[-1]["response"]["error"]["code"] == code

    def test_outside_of_any_stream(self) -> None:
        (event,) = CODEC.failure_event(Failure(504, "too late", kind="timeout"))

        assert event.data is not None
        document = json.decode(event.data)
        NATIVE.validate_json(event.data)
        assert event.name == document["type"] == "response.failed"
        assert document["response"]["error"]["message"] == "too late"
