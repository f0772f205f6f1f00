"""What the demo does wrong on request."""

from __future__ import annotations

import json
from typing import Any

import httpx2
import pytest
from starlette.testclient import TestClient

from tests.proxy.demo.wire import HEADERS, PATHS, SCHEMA, WEATHER, body, events
from toolwire.proxy.demo import QUIRKS, create_demo

TOOLS: list[Any] = [WEATHER["chat"]]
TWO = "What is the weather in Oslo and Rome?"
CLIENT = TestClient(create_demo(delay=0), headers=HEADERS)


def chat(quirks: str, text: str = TWO, **more: Any) -> httpx2.Response:
    request = body("chat", text, **{"tools": TOOLS, **more})
    return CLIENT.post(PATHS["chat"], json={**request, "model": f"demo+{quirks}"})


def deltas(answer: httpx2.Response) -> list[dict[str, Any]]:
    chunks = [event for event in events(answer.text) if event != "[DONE]"]
    return [choice["delta"] for chunk in chunks for choice in chunk["choices"]]


def calls(answer: httpx2.Response) -> list[dict[str, Any]]:
    found = answer.json()["choices"][0]["message"]["tool_calls"]
    assert isinstance(found, list)
    return found


def test_each_has_a_name_and_a_line_about_it() -> None:
    for name, quirk in QUIRKS.items():
        assert quirk.name == name
        assert quirk.doc and "\n" not in quirk.doc


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("name", QUIRKS)
def test_each_is_played_in_its_protocols_and_refused_in_others(name: str, stream: bool) -> None:
    for protocol in PATHS:
        quirk = QUIRKS[name]
        request = body(protocol, TWO, tools=[WEATHER[protocol]], stream=stream)
        request = {**request, "model": f"demo+{name}"}
        if protocol not in {known.value for known in quirk.protocols}:
            answer = CLIENT.post(PATHS[protocol], json=request)
            assert answer.status_code == 400
            assert f"The quirk '{name}' is one of chat" in answer.text
            continue
        answer = CLIENT.post(PATHS[protocol], json=request)
        failing = quirk.before is not None
        assert (answer.status_code == 200) is (not failing or name == "error-200"), answer.text


def test_unknown_names_are_refused_with_those_that_are_known() -> None:
    answer = chat("slwo")
    assert answer.status_code == 400
    message = answer.json()["error"]["message"]
    assert "No such quirk: 'slwo'" in message and "slow" in message
    header = CLIENT.post(PATHS["chat"], json=body("chat"), headers={"x-demo-quirk": "fast"})
    assert "No such quirk: 'fast'" in header.json()["error"]["message"]


def test_any_model_may_ask_for_quirks_and_keep_its_own_plus() -> None:
    asked = {**body("chat"), "model": "command-r+08+rate-limit"}
    assert CLIENT.post(PATHS["chat"], json=asked).status_code == 429
    plain = {**body("chat"), "model": "command-r+08"}
    assert CLIENT.post(PATHS["chat"], json=plain).status_code == 200


def test_the_header_asks_for_several() -> None:
    answer = CLIENT.post(
        PATHS["chat"],
        json=body("chat", TWO, tools=TOOLS),
        headers={"x-demo-quirk": "empty-ids, stop-beside-calls"},
    )
    assert [call["id"] for call in calls(answer)] == ["", ""]
    assert answer.json()["choices"][0]["finish_reason"] == "stop"


@pytest.mark.parametrize(
    "choice",
    ["required", {"type": "function", "function": {"name": "get_weather"}}],
)
def test_bailian_refuses_a_forced_choice_while_it_thinks(choice: Any) -> None:
    answer = chat("bailian-400", tool_choice=choice)
    assert answer.status_code == 400
    error = answer.json()["error"]
    assert "does not support being set to required or object in thinking mode" in error["message"]
    assert error["code"] == "invalid_parameter_error"
    assert chat("bailian-400", tool_choice=choice, thinking_budget=9).status_code == 400
    assert calls(chat("bailian-400", tool_choice=choice, enable_thinking=False))


def test_bailian_thinks_by_default() -> None:
    thinking = chat("bailian-400").json()["choices"][0]["message"]
    assert thinking["reasoning_content"]
    switched_off = chat("bailian-400", enable_thinking=False).json()["choices"][0]["message"]
    assert "reasoning_content" not in switched_off


@pytest.mark.parametrize(
    ("carried", "more", "status"),
    [
        ({}, {}, 400),
        ({"reasoning_content": None}, {}, 400),
        ({"reasoning_content": ""}, {}, 200),
        ({"reasoning_content": "hm"}, {}, 200),
        ({}, {"thinking": {"type": "disabled"}}, 200),
    ],
)
def test_deepseek_wants_its_reasoning_back(
    carried: dict[str, Any], more: dict[str, Any], status: int
) -> None:
    call = {"id": "c", "type": "function", "function": {"name": "get_weather", "arguments": "{}"}}
    history = [
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": "", "tool_calls": [call], **carried},
        {"role": "tool", "tool_call_id": "c", "content": "5 °C"},
    ]
    answer = chat("deepseek-400", messages=history, **more)
    assert answer.status_code == status
    if status == 400:
        assert answer.json()["error"]["message"] == (
            "The `reasoning_content` in the thinking mode must be passed back to the API."
        )


def test_deepseek_answers_a_first_turn() -> None:
    assert chat("deepseek-400").json()["choices"][0]["message"]["reasoning_content"]


def test_empty_ids_in_a_stream() -> None:
    found = [
        piece for d in deltas(chat("empty-ids", stream=True)) for piece in d.get("tool_calls", ())
    ]
    assert [piece["id"] for piece in found if "id" in piece] == ["", ""]


def test_missing_index() -> None:
    found = [p for d in deltas(chat("missing-index", stream=True)) for p in d.get("tool_calls", ())]
    assert found and all("index" not in piece for piece in found)


def test_stop_beside_calls_in_messages() -> None:
    request = {
        **body("messages", TWO, tools=[WEATHER["messages"]]),
        "model": "demo+stop-beside-calls",
    }
    answer = CLIENT.post(PATHS["messages"], json=request).json()
    assert answer["stop_reason"] == "end_turn"
    assert answer["content"][0]["type"] == "tool_use"


def test_stop_beside_calls_in_a_stream() -> None:
    raw = chat("stop-beside-calls", stream=True).text
    reasons = [c["choices"][0]["finish_reason"] for c in events(raw)[:-1]]
    assert [reason for reason in reasons if reason] == ["stop"]


def test_arguments_as_an_object() -> None:
    found = [call["function"]["arguments"] for call in calls(chat("arguments-object"))]
    assert found == [{"city": "Oslo"}, {"city": "Rome"}]
    streamed = chat("arguments-object", stream=True)
    pieces = [p["function"] for d in deltas(streamed) for p in d.get("tool_calls", ())]
    assert [p["arguments"] for p in pieces] == ["", {"city": "Oslo"}, "", {"city": "Rome"}]


def test_interleaved_calls_still_come_together() -> None:
    pieces = [p for d in deltas(chat("interleaved", stream=True)) for p in d.get("tool_calls", ())]
    indices = [piece["index"] for piece in pieces]
    assert indices[:4] == [0, 1, 0, 1]
    texts = ["".join(p["function"]["arguments"] for p in pieces if p["index"] == i) for i in (0, 1)]
    assert [json.loads(text) for text in texts] == [{"city": "Oslo"}, {"city": "Rome"}]


def test_interleaved_calls_of_different_length() -> None:
    plain = deltas(chat("no-done", "Weather in Oslo and Saint Petersburg", stream=True))
    mixed = deltas(chat("no-done+interleaved", "Weather in Oslo and Saint Petersburg", stream=True))
    assert plain != mixed

    def written(delta: dict[str, Any]) -> str:
        # The ids are made from the request, and the model's name is part of it.
        return json.dumps([{**p, "id": None} for p in delta.get("tool_calls", ())])

    assert sorted(map(written, plain)) == sorted(map(written, mixed))


def test_missing_index_of_interleaved_calls() -> None:
    pieces = [
        piece
        for delta in deltas(chat("missing-index+interleaved", stream=True))
        for piece in delta.get("tool_calls", ())
    ]
    assert [("id" in piece, "index" in piece) for piece in pieces[:3]] == [
        (True, False),
        (True, False),
        (False, False),
    ]


def test_think_tags() -> None:
    message = chat("think-tags", "hi", tools=None, reasoning_effort="low").json()["choices"][0][
        "message"
    ]
    assert "reasoning_content" not in message
    assert message["content"].startswith("<think>\nNothing to look up")
    assert "</think>\n\n✓ You said: “hi”" in message["content"]
    streamed = deltas(chat("think-tags", "hi", tools=None, reasoning_effort="low", stream=True))
    assert "".join(d.get("content") or "" for d in streamed) == message["content"]


def test_role_in_every_chunk() -> None:
    assert all(d["role"] == "assistant" for d in deltas(chat("role-every-chunk", stream=True)))


def test_usage_in_every_chunk_grows_to_the_whole() -> None:
    *chunks, _ = events(chat("usage-every-chunk", stream=True).text)
    spoken = [chunk["usage"]["completion_tokens"] for chunk in chunks]
    assert spoken == sorted(spoken) and spoken[0] < spoken[-1]
    whole = chat("usage-every-chunk").json()["usage"]
    assert chunks[-1]["usage"] == whole


def test_no_done() -> None:
    assert "[DONE]" in chat("slow", stream=True).text
    found = events(chat("no-done", stream=True).text)
    assert found[-1]["choices"][0]["finish_reason"] == "tool_calls"


def test_arguments_that_were_cut_short_stay_text() -> None:
    schema = {**SCHEMA, "properties": {"city": {"const": "word " * 40}}}
    tool = {"type": "function", "function": {"name": "get_weather", "parameters": schema}}
    answer = chat("arguments-object", "hi", tools=[tool], max_tokens=9)
    assert calls(answer)[0]["function"]["arguments"].startswith('{"city":"word')
