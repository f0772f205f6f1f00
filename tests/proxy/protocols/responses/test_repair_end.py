from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.proxy.protocols.responses.repairing import repair, without
from tests.proxy.protocols.responses.wire_events import (
    CALL,
    MESSAGE,
    completed,
    created,
    documents_of,
    event,
    numbered,
    read_all,
    whole_stream,
    wire,
)
from toolwire.proxy.protocols import json, sse
from toolwire.proxy.protocols.neutral import Failure, StreamFailure
from toolwire.proxy.protocols.responses import CODEC
from toolwire.proxy.protocols.sse import Event


class TestEnd:
    def test_a_stray_done_marker_is_dropped(self) -> None:
        events = [*wire(numbered(whole_stream())), Event(b"[DONE]", raw=b"data: [DONE]")]
        repair = CODEC.stream_repair()

        passed = repair.feed(events)

        assert len(passed) == len(events) - 1
        assert repair.repairs == {"done_marker": 1}

    @pytest.mark.parametrize("length", [1, 4, 9, 13])
    def test_a_stream_that_breaks_off(self, length: int) -> None:
        documents = numbered(whole_stream())[:length]

        passed, repairs = repair(wire(documents))

        last = passed[-1]
        assert passed[:-1] == documents
        assert last["type"] == "response.failed"
        assert last["sequence_number"] == length
        assert last["response"]["id"] == "resp_u1"
        assert last["response"]["status"] == "failed"
        assert "broke off" in last["response"]["error"]["message"]
        assert last["response"]["output"] == [MESSAGE, CALL][: (length > 7) + (length > 12)]
        assert repairs == {"broken_off": 1}

    def test_a_stream_that_never_began(self) -> None:
        (failed,) = CODEC.stream_repair().close(Failure(504, "too late"))

        (document,) = documents_of([failed])
        assert document["type"] == "response.failed"
        assert document["response"]["error"]["message"] == "too late"

    def test_an_error_of_another_name(self) -> None:
        fault = event("response.error", error={"code": "server_error", "message": "boom"})

        passed, _ = repair(wire(numbered([created(), fault])))

        assert passed[1]["type"] == "error"
        assert (passed[1]["code"], passed[1]["message"]) == ("server_error", "boom")
        assert read_all(wire([created(), fault]))[-1] == StreamFailure(
            Failure(500, "boom", "api", code="server_error")
        )

    def test_an_error_and_the_failed_response_after_it(self) -> None:
        error = {"code": "insufficient_quota", "message": "No money"}
        documents = numbered(
            [created(), event("error", error=error), completed([], "failed", error=error)]
        )

        passed, repairs = repair(wire(documents))

        assert passed == documents
        assert repairs == {}

    def test_an_error_alone_is_an_end(self) -> None:
        documents = numbered([created(), event("error", code=None, message="Boom", param=None)])

        passed, _ = repair(wire(documents))

        assert passed == documents

    def test_the_error_of_a_server_that_thinks_of_chat(self) -> None:
        error = {"message": "Boom", "code": 502}

        passed, _ = repair([Event(json.encode({"error": error}))])

        assert passed == [
            {
                "error": error,
                "code": 502,
                "message": "Boom",
                "param": None,
                "type": "error",
                "sequence_number": 0,
            }
        ]

    def test_nothing_comes_after_the_end(self) -> None:
        documents = numbered([*whole_stream(), *whole_stream()])

        passed, repairs = repair(wire(documents))

        assert passed == documents[:14]
        assert repairs == {"after_the_end": 14}

    def test_a_background_response_waits_before_it_runs(self) -> None:
        queued = event("response.queued", response={**created()["response"], "status": "queued"})
        documents = numbered([queued, *whole_stream()])

        passed, repairs = repair(wire(documents))

        assert (passed, repairs) == (documents, {})


class TestAnswer:
    def test_nothing_wrong(self) -> None:
        document = completed([MESSAGE, CALL])["response"]
        before = json.encode(document)

        assert CODEC.repair_answer(document) == {}
        assert json.encode(document) == before

    @pytest.mark.parametrize("status", ["queued", "in_progress"])
    def test_a_background_response_that_is_not_done(self, status: str) -> None:
        document = {**created()["response"], "status": status, "background": True}
        before = json.encode(document)

        assert CODEC.repair_answer(document) == {}
        assert json.encode(document) == before
        assert CODEC.read_answer(document).stop is None

    def test_ids_and_arguments(self) -> None:
        item = {**without(CALL, "id"), "arguments": {"city": "Oslo"}}
        document = completed([without(MESSAGE, "id"), item])["response"]

        repairs = CODEC.repair_answer(document)

        assert repairs == {"item_id": 2, "arguments_not_text": 1}
        message, call = document["output"]
        assert message["id"].startswith("msg_")
        assert call["id"].startswith("fc_")
        assert call["arguments"] == '{"city":"Oslo"}'


@given(st.data())
def test_reads_may_end_anywhere(data: st.DataObject) -> None:
    body = sse.encode(wire(numbered(whole_stream())))
    cuts = sorted(data.draw(st.lists(st.integers(0, len(body)), max_size=8)))
    decoder, repair = sse.Decoder(), CODEC.stream_repair()
    passed: list[Event] = []
    for start, end in zip([0, *cuts], [*cuts, len(body)], strict=True):
        passed += repair.feed(decoder.feed(body[start:end]))
    passed += repair.feed(decoder.flush()) + repair.close()

    assert sse.encode(passed) == body
    assert repair.repairs == {}


@given(st.data())
def test_fields_left_out_here_and_there(data: st.DataObject) -> None:
    documents = numbered(whole_stream())
    # an upstream counts either always or never: only then are its numbers to be believed
    counted = data.draw(st.booleans())
    sent = [
        without(
            document,
            *([] if counted else ["sequence_number"]),
            *data.draw(st.sets(st.sampled_from(["output_index", "content_index"]))),
        )
        for document in documents
    ]

    passed, _ = repair(wire(sent, named=data.draw(st.booleans())))

    assert passed == documents
    assert read_all(wire(passed)) == read_all(wire(documents))
