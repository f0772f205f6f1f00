from __future__ import annotations

from typing import Any

import pytest
from openai.types.responses import Response, ResponseToolSearchCall
from pydantic import TypeAdapter

from tests.proxy.protocols.responses.wire_events import USAGE
from toolwire.proxy.protocols import json
from toolwire.proxy.protocols.neutral import (
    Answer,
    Call,
    Losses,
    Opaque,
    Part,
    Refusal,
    Stop,
    Text,
    Thinking,
    Usage,
)
from toolwire.proxy.protocols.responses import CODEC
from toolwire.proxy.protocols.responses.reasoning import ENVELOPE

NATIVE = TypeAdapter(Response)


def answer_to(document: dict[str, Any], parts: list[Part], stop: Stop, **fields: Any) -> Any:
    """The document that a client gets, after a check by the official types."""
    request = CODEC.read_request({"model": "m", "input": "hi", **document})
    answer = Answer("chatcmpl-1", "demo-model", parts, stop, created=1700000000, **fields)
    written = json.decode(json.encode(CODEC.write_answer(answer, request, Losses())))
    NATIVE.validate_json(json.encode(written))
    return written


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
        assert isinstance(written["completed_at"], int) is (reason is None)
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

    def test_thinking_that_nobody_signed_is_known_again_as_text(self) -> None:
        """A native upstream would look for an item of this id, so it must not get it."""
        (item,) = answer_to({}, [Thinking("Hm.", origin="chat")], Stop.DONE)["output"]

        (turn,) = CODEC.read_request({"model": "m", "input": [item]}).turns

        assert item["encrypted_content"].startswith(ENVELOPE)
        assert turn.parts == [Thinking("Hm.", id=item["id"], summary=True, at="input[0]")]

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

    def test_a_call_of_the_search_that_the_client_runs_is_an_item_of_its_own(self) -> None:
        tools = [{"type": "tool_search", "execution": "client", "parameters": {}}]
        calls = [Call("a", "tool_search", '{"query":"x"}'), Call("b", "tool_search", "{")]

        one, other = answer_to({"tools": tools}, [*calls], Stop.CALLS)["output"]

        ResponseToolSearchCall.model_validate(one)
        assert one.pop("id").startswith("tsc_")
        assert one == {
            "type": "tool_search_call",
            "status": "completed",
            "call_id": "a",
            "execution": "client",
            "arguments": {"query": "x"},
        }
        assert other["arguments"] == "{"

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
        assert (written["temperature"], written["top_p"]) == (1, 1)
        assert (written["presence_penalty"], written["frequency_penalty"]) == (0, 0)
        assert written["error"] is None
