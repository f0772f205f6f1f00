from __future__ import annotations

from typing import Any

import pytest
from openai.types.responses import Response
from pydantic import TypeAdapter

from tests.proxy.protocols.responses.wire_events import CALL, MESSAGE, RESPONSE, USAGE
from toolwire.proxy.errors import BadUpstreamAnswer
from toolwire.proxy.protocols import json
from toolwire.proxy.protocols.neutral import (
    Answer,
    Call,
    Failure,
    Opaque,
    Part,
    Refusal,
    Stop,
    Text,
    Thinking,
    Usage,
)
from toolwire.proxy.protocols.responses import CODEC

NATIVE = TypeAdapter(Response)


def answer_to(document: dict[str, Any], parts: list[Part], stop: Stop, **fields: Any) -> Any:
    """The document that a client gets, after a check by the official types."""
    request = CODEC.read_request({"model": "m", "input": "hi", **document})
    answer = Answer("chatcmpl-1", "demo-model", parts, stop, created=1700000000, **fields)
    written = json.decode(json.encode(CODEC.write_answer(answer, request)))
    NATIVE.validate_json(json.encode(written))
    return written


def read(output: list[Any], status: str = "completed", **fields: Any) -> Answer:
    return CODEC.read_answer({**RESPONSE, "status": status, "output": output, **fields})


class TestRead:
    def test_text_and_call(self) -> None:
        answer = read([MESSAGE, CALL], usage=USAGE)

        assert answer == Answer(
            id="resp_u1",
            model="demo-model",
            parts=[Text("Hello"), Call("call_1", "get_weather", '{"city":"Oslo"}')],
            stop=Stop.CALLS,
            usage=Usage(input=12, output=3, cached=5, cache_written=2, reasoning=1),
            created=1700000000,
            extra=answer.extra,
        )

    @pytest.mark.parametrize(
        ("status", "details", "stop"),
        [
            ("completed", None, Stop.DONE),
            ("incomplete", {"reason": "max_output_tokens"}, Stop.LENGTH),
            ("incomplete", {"reason": "content_filter"}, Stop.FILTERED),
            ("incomplete", {"reason": "something_new"}, Stop.LENGTH),
            ("incomplete", None, Stop.LENGTH),
            ("queued", None, None),
        ],
    )
    def test_stop(self, status: str, details: Any, stop: Stop | None) -> None:
        assert read([MESSAGE], status, incomplete_details=details).stop is stop

    def test_a_cut_call_is_cut(self) -> None:
        details = {"reason": "max_output_tokens"}

        assert read([CALL], "incomplete", incomplete_details=details).stop is Stop.LENGTH

    def test_a_refusal_is_a_refusal(self) -> None:
        refused = {**MESSAGE, "content": [{"type": "refusal", "refusal": "no"}]}

        answer = read([refused])

        assert (answer.parts, answer.stop) == ([Refusal("no")], Stop.FILTERED)

    def test_empty_reasoning_leaves_nothing_behind(self) -> None:
        assert read([{"type": "reasoning", "id": "rs_1", "summary": []}]).parts == []

    def test_reasoning_and_unknown_items(self) -> None:
        reasoning = {
            "type": "reasoning",
            "id": "rs_1",
            "summary": [{"type": "summary_text", "text": "S"}],
            "encrypted_content": "gAAA",
        }
        search = {"type": "web_search_call", "id": "ws_1"}

        assert read([reasoning, search]).parts == [
            Thinking("S", encrypted="gAAA", origin="responses", id="rs_1", summary=True),
            Opaque("responses", search),
        ]

    def test_annotations_are_kept(self) -> None:
        cited = [{"type": "url_citation", "url": "u", "title": "t"}]
        message = {**MESSAGE, "content": [{**MESSAGE["content"][0], "annotations": cited}]}

        assert read([message]).parts == [Text("Hello", citations=Opaque("responses", cited))]

    @pytest.mark.parametrize("arguments", [{"city": "Oslo"}, None], ids=["an object", "null"])
    def test_arguments_that_are_no_text(self, arguments: Any) -> None:
        (call,) = read([{**CALL, "arguments": arguments}]).parts

        assert call.arguments == ('{"city":"Oslo"}' if arguments else "")

    @pytest.mark.parametrize(
        ("document", "message"),
        [
            ({}, "no Responses object"),
            ({"output": "x"}, "no Responses object"),
            ({"error": {"message": "Boom", "code": "server_error"}}, "Boom"),
            ({"error": "Boom"}, "Boom"),
            ({**RESPONSE, "status": "failed", "error": {"message": "Boom"}}, "Boom"),
            ({**RESPONSE, "status": "cancelled"}, "cancelled"),
        ],
    )
    def test_what_is_no_answer(self, document: dict[str, Any], message: str) -> None:
        with pytest.raises(BadUpstreamAnswer, match=message):
            CODEC.read_answer(document)


class TestWrite:
    def test_text_and_calls(self) -> None:
        calls = [Call("call_1", "get_weather", '{"city":"Oslo"}'), Call("call_2", "now")]

        written = answer_to({}, [Text("Checking."), *calls], Stop.CALLS)

        assert written["id"].startswith("resp_")
        assert written["object"] == "response"
        assert written["created_at"] == 1700000000
        assert written["status"] == "completed"
        message, first, second = written["output"]
        assert message["content"] == [
            {"type": "output_text", "annotations": [], "logprobs": [], "text": "Checking."}
        ]
        assert (first["call_id"], first["arguments"]) == ("call_1", '{"city":"Oslo"}')
        assert (second["call_id"], second["arguments"]) == ("call_2", "{}")
        ids = [item["id"] for item in written["output"]]
        assert [item_id.split("_")[0] for item_id in ids] == ["msg", "fc", "fc"]
        assert len(set(ids)) == 3

    def test_ids_of_two_answers_differ(self) -> None:
        # small servers number their answers from a short range
        first, second = (answer_to({}, [Text("x")], Stop.DONE) for _ in range(2))

        assert first["id"] != second["id"]
        assert first["output"][0]["id"] != second["output"][0]["id"]

    @pytest.mark.parametrize(
        ("stop", "status", "reason"),
        [
            (Stop.DONE, "completed", None),
            (Stop.SEQUENCE, "completed", None),
            (Stop.CALLS, "completed", None),
            (Stop.LENGTH, "incomplete", "max_output_tokens"),
            (Stop.CONTEXT, "incomplete", "max_output_tokens"),
            (Stop.FILTERED, "incomplete", "content_filter"),
            (Stop.PAUSED, "incomplete", "max_output_tokens"),
        ],
    )
    def test_status(self, stop: Stop, status: str, reason: str | None) -> None:
        written = answer_to({}, [Text("half an ans")], stop)

        assert written["status"] == status
        assert written["incomplete_details"] == (reason and {"reason": reason})
        assert written["output"][0]["status"] == status

    def test_a_refusal_is_completed_with_its_part(self) -> None:
        written = answer_to({}, [Refusal("I cannot")], Stop.FILTERED)

        assert written["status"] == "completed"
        assert written["output"][0]["content"] == [{"type": "refusal", "refusal": "I cannot"}]

    def test_usage(self) -> None:
        usage = Usage(input=12, output=3, cached=5, cache_written=2, reasoning=1)

        assert answer_to({}, [Text("x")], Stop.DONE, usage=usage)["usage"] == USAGE
        assert answer_to({}, [Text("x")], Stop.DONE)["usage"] is None

    def test_thinking_is_a_summary(self) -> None:
        written = answer_to({}, [Thinking("Hm."), Text("x")], Stop.DONE)

        reasoning, _ = written["output"]
        assert reasoning["id"].startswith("rs_")
        assert reasoning["summary"] == [{"type": "summary_text", "text": "Hm."}]
        assert "encrypted_content" not in reasoning

    def test_nothing_in_a_part_is_no_item(self) -> None:
        parts = [Text(""), Thinking(""), Opaque("messages", {"type": "server_tool_use"})]

        assert answer_to({}, parts, Stop.DONE)["output"] == []

    def test_free_form_calls(self) -> None:
        written = answer_to({}, [Call("c", "patch", "*** Begin", custom=True)], Stop.CALLS)

        (item,) = written["output"]
        assert (item["type"], item["input"]) == ("custom_tool_call", "*** Begin")
        assert item["id"].startswith("ctc_")

    def test_a_tool_of_a_namespace_is_called_by_both_names(self) -> None:
        tool = {"type": "function", "name": "read", "parameters": {}}
        group = {"type": "namespace", "name": "mcp__f", "description": "", "tools": [tool]}

        written = answer_to({"tools": [group]}, [Call("c", "mcp__f__read", "{}")], Stop.CALLS)

        (item,) = written["output"]
        assert (item["namespace"], item["name"]) == ("mcp__f", "read")

    def test_the_request_is_echoed(self) -> None:
        request = {
            "instructions": "Be brief.",
            "tools": [{"type": "function", "name": "f", "parameters": {"type": "object"}}],
            "tool_choice": {"type": "function", "name": "f"},
            "parallel_tool_calls": False,
            "temperature": 1,
            "max_output_tokens": 64,
            "text": {"format": {"type": "json_object"}},
            "reasoning": {"effort": "low"},
            "metadata": {"a": "b"},
            "truncation": "auto",
            "user": "u",
        }

        written = answer_to(request, [Text("{}")], Stop.DONE)

        (tool,) = request["tools"]
        assert written["tools"] == [{"description": None, "strict": False, **tool}]
        del request["tools"]
        assert {name: written[name] for name in request} == request

    def test_silence_is_echoed_by_defaults(self) -> None:
        written = answer_to({}, [Text("x")], Stop.DONE)

        assert written["tools"] == []
        assert written["tool_choice"] == "auto"
        assert written["parallel_tool_calls"] is True
        assert written["error"] is None


class TestSignedThinking:
    @pytest.mark.parametrize(
        "thinking",
        [
            Thinking("Let me see\ud83d", signature="sig", origin="messages", vendor="anthropic"),
            Thinking(redacted="gAAA", origin="messages", vendor="anthropic"),
            Thinking("", signature="sig", origin="messages"),
        ],
        ids=["signed", "redacted", "withheld"],
    )
    def test_it_comes_back_in_the_next_request(self, thinking: Thinking) -> None:
        request = CODEC.read_request({"model": "m", "input": "hi"})
        answer = CODEC.write_answer(Answer("x", "m", [thinking], Stop.DONE), request)
        sent_back = json.decode(json.encode(answer["output"]))

        (turn,) = CODEC.read_request({"model": "m", "input": sent_back}).turns

        thinking.at = "input[0]"
        assert turn.parts == [thinking]

    @pytest.mark.parametrize(
        "letter",
        ["toolwire:", "toolwire:%%%", "toolwire:e30=", "toolwire:bnVsbA=="],
        ids=["empty", "no base64", "an empty object", "null"],
    )
    def test_an_envelope_that_was_tampered_with_counts_for_nothing(self, letter: str) -> None:
        summary = [{"type": "summary_text", "text": "Hm."}]
        item = {"type": "reasoning", "id": "rs_1", "summary": summary, "encrypted_content": letter}

        (turn,) = CODEC.read_request({"model": "m", "input": [item]}).turns

        assert turn.parts == [Thinking("Hm.", id="rs_1", summary=True, at="input[0]")]


class TestErrors:
    def test_the_words_of_the_same_family_stay(self) -> None:
        failure = Failure(
            429,
            "Slow down",
            kind="rate_limit",
            type="tokens",
            code="rate_limit_exceeded",
            param="p",
        )

        assert CODEC.write_failure(failure) == {
            "error": {
                "message": "Slow down",
                "type": "tokens",
                "param": "p",
                "code": "rate_limit_exceeded",
            }
        }

    @pytest.mark.parametrize(
        ("kind", "word", "written"),
        [
            ("too_large", "request_too_large", "invalid_request_error"),
            ("api", "api_error", "server_error"),
            ("overloaded", "overloaded_error", "overloaded_error"),
            ("billing", None, "insufficient_quota"),
        ],
    )
    def test_words_of_another_family(self, kind: str, word: str | None, written: str) -> None:
        document = CODEC.write_failure(Failure(500, "m", kind=kind, type=word))

        assert document["error"]["type"] == written

    def test_any_body_is_read(self) -> None:
        body = b'{"error": {"message": "No", "type": "invalid_request_error", "code": "c"}}'

        failure = CODEC.read_failure(400, body)

        assert (failure.message, failure.code, failure.kind) == ("No", "c", "invalid_request")
        assert CODEC.read_failure(502, b"<html>Bad gateway</html>").status == 502
