from __future__ import annotations

from typing import Any

import pytest

from tests.proxy.protocols.responses.wire_events import CALL, MESSAGE, RESPONSE, USAGE
from toolwire.proxy.errors import BadUpstreamAnswer
from toolwire.proxy.protocols.neutral import (
    Answer,
    Call,
    Opaque,
    Refusal,
    Stop,
    Text,
    Thinking,
    Usage,
)
from toolwire.proxy.protocols.responses import CODEC


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
