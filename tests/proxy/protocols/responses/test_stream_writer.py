from __future__ import annotations

import pytest

from tests.proxy.protocols.responses.streaming import stream, told, types, write
from toolwire.proxy.protocols.neutral import (
    Call,
    Opaque,
    Refusal,
    Stop,
    Text,
    Thinking,
)


class TestEvents:
    def test_text(self) -> None:
        documents = write(stream(told(Text(""), "5", " C")))

        assert types(documents) == [
            "response.created",
            "response.in_progress",
            "response.output_item.added",
            "response.content_part.added",
            "response.output_text.delta",
            "response.output_text.delta",
            "response.output_text.done",
            "response.content_part.done",
            "response.output_item.done",
            "response.completed",
        ]
        assert [document["sequence_number"] for document in documents] == list(range(10))
        added, part = documents[2], documents[3]
        assert (added["item"]["content"], added["item"]["status"]) == ([], "in_progress")
        assert part["part"]["text"] == ""
        assert documents[6]["text"] == documents[7]["part"]["text"] == "5 C"
        assert documents[9]["response"]["output"] == [documents[8]["item"]]
        assert documents[9]["response"]["status"] == "completed"

    def test_reasoning_is_a_summary(self) -> None:
        documents = write(stream(told(Thinking(), "Hm", "."), told(Text(""), "x", key=1)))

        assert types(documents)[2:9] == [
            "response.output_item.added",
            "response.reasoning_summary_part.added",
            "response.reasoning_summary_text.delta",
            "response.reasoning_summary_text.delta",
            "response.reasoning_summary_text.done",
            "response.reasoning_summary_part.done",
            "response.output_item.done",
        ]
        reasoning, message = documents[-1]["response"]["output"]
        assert reasoning["summary"] == [{"type": "summary_text", "text": "Hm."}]
        assert message["type"] == "message"

    def test_a_call(self) -> None:
        call = Call("call_1", "get_weather")

        documents = write(stream(told(call, '{"city":', '"Oslo"}'), stop=Stop.CALLS))

        assert types(documents)[2:7] == [
            "response.output_item.added",
            "response.function_call_arguments.delta",
            "response.function_call_arguments.delta",
            "response.function_call_arguments.done",
            "response.output_item.done",
        ]
        assert documents[2]["item"]["arguments"] == ""
        assert documents[2]["item"]["call_id"] == "call_1"
        assert documents[5]["arguments"] == '{"city":"Oslo"}'
        (item,) = documents[-1]["response"]["output"]
        assert (item["arguments"], item["status"]) == ('{"city":"Oslo"}', "completed")

    def test_a_call_without_arguments(self) -> None:
        documents = write(stream(told(Call("call_1", "now"))))

        assert [document.get("delta") for document in documents[3:4]] == ["{}"]
        assert documents[-1]["response"]["output"][0]["arguments"] == "{}"

    def test_a_free_form_call(self) -> None:
        documents = write(stream(told(Call("c", "patch", custom=True), "*** ", "Begin")))

        assert types(documents)[3:6] == [
            "response.custom_tool_call_input.delta",
            "response.custom_tool_call_input.delta",
            "response.custom_tool_call_input.done",
        ]
        assert documents[5]["input"] == "*** Begin"
        assert documents[-1]["response"]["output"][0]["type"] == "custom_tool_call"

    def test_a_free_form_call_without_input_stays_empty(self) -> None:
        documents = write(stream(told(Call("c", "patch", custom=True))))

        assert documents[-1]["response"]["output"][0]["input"] == ""

    def test_a_refusal(self) -> None:
        documents = write(stream(told(Refusal(""), "no"), stop=Stop.FILTERED))

        assert types(documents)[3:7] == [
            "response.content_part.added",
            "response.refusal.delta",
            "response.refusal.done",
            "response.content_part.done",
        ]
        assert types(documents)[-1] == "response.completed"

    def test_an_item_of_this_protocol(self) -> None:
        search = {"id": "ws_1", "type": "web_search_call", "status": "completed"}
        search["action"] = {"type": "search", "query": "q"}  # type: ignore[assignment]
        opaque = Opaque("responses", search)

        documents = write(stream(told(opaque, whole=opaque)))

        assert types(documents)[2:4] == ["response.output_item.added", "response.output_item.done"]
        assert documents[-1]["response"]["output"] == [search]

    def test_a_tool_of_a_namespace_is_called_by_both_names(self) -> None:
        tool = {"type": "function", "name": "read", "parameters": {}}
        group = {"type": "namespace", "name": "mcp__f", "description": "", "tools": [tool]}

        documents = write(stream(told(Call("c", "mcp__f__read"), "{}")), tools=[group])

        for item in (documents[2]["item"], documents[-1]["response"]["output"][0]):
            assert (item["namespace"], item["name"]) == ("mcp__f", "read")

    @pytest.mark.parametrize("pieces", [['{"query":', '"x"}'], ['{"query":"x"}'], []])
    def test_a_call_of_the_search_that_the_client_runs(self, pieces: list[str]) -> None:
        tools = [{"type": "tool_search", "execution": "client", "parameters": {}}]

        documents = write(stream(told(Call("c", "tool_search"), *pieces)), tools=tools)

        assert types(documents)[2:4] == ["response.output_item.added", "response.output_item.done"]
        added, done = documents[2]["item"], documents[3]["item"]
        assert (added["status"], added["arguments"]) == ("in_progress", {})
        assert done["id"] == added["id"]
        assert done["status"] == "completed"
        assert done["type"] == "tool_search_call"
        assert done["arguments"] == ({"query": "x"} if pieces else {})
        assert documents[-1]["response"]["output"] == [done]

    def test_the_request_is_echoed_from_the_start(self) -> None:
        documents = write(stream(), instructions="Be brief.", temperature=1)

        for document in (documents[0], documents[-1]):
            assert document["response"]["instructions"] == "Be brief."
            assert document["response"]["temperature"] == 1
