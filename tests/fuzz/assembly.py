"""What a stream spells out, read as strictly as its protocol is written.

Written from the contract of the wire: https://platform.openai.com/docs/api-reference/chat-streaming,
https://docs.anthropic.com/en/docs/build-with-claude/streaming and
https://platform.openai.com/docs/api-reference/responses-streaming.  Anything out of order fails.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

DONE = "[DONE]"


@dataclass
class Said:
    """An answer: its texts, its calls as (id, name, arguments), and why it stopped."""

    text: str = ""
    reasoning: str = ""
    calls: list[tuple[str, str, str]] = field(default_factory=list)
    stop: str | None = None
    usage: dict[str, Any] | None = None


def documents(raw: bytes) -> list[Any]:
    """The documents of an event stream whose names, where there are any, are their types."""
    assert raw.endswith(b"\n\n"), raw[-80:]
    found: list[Any] = []
    for block in raw.decode().split("\n\n")[:-1]:
        lines = [line for line in block.split("\n") if not line.startswith(":")]
        if not lines:
            continue
        *names, data = lines
        assert data.startswith("data: "), block
        value = data.removeprefix("data: ")
        document = value if value == DONE else json.loads(value)
        assert len(names) <= 1, block
        if names:
            assert names[0] == f"event: {document['type']}", block
        found.append(document)
    return found


def chat(raw: bytes) -> Said:
    """A complete stream of chunks."""
    said, pieces = Said(), list[dict[str, Any]]()
    *chunks, last = documents(raw)
    assert last == DONE
    for place, chunk in enumerate(chunks):
        assert chunk["object"] == "chat.completion.chunk"
        said.usage = chunk.get("usage") or said.usage
        for choice in chunk["choices"]:
            delta = choice["delta"]
            assert said.stop is None, "a delta after the finish"
            assert ("role" in delta) is (place == 0), "the role comes first, and once"
            said.text += delta.get("content") or ""
            said.reasoning += delta.get("reasoning_content") or ""
            for piece in delta.get("tool_calls") or ():
                _chat_piece(pieces, piece)
            said.stop = choice["finish_reason"]
    assert said.stop is not None, "no finish"
    said.calls = [(call["id"], call["name"], call["arguments"]) for call in pieces]
    return said


def _chat_piece(calls: list[dict[str, Any]], piece: dict[str, Any]) -> None:
    index, function = piece["index"], piece["function"]
    if index == len(calls):
        assert piece["type"] == "function"
        assert piece["id"] and function["name"]
        calls.append({"id": piece["id"], "name": function["name"], "arguments": ""})
    else:
        assert "id" not in piece and "name" not in function, "id and name come once"
    calls[index]["arguments"] += function["arguments"]


def messages(raw: bytes) -> Said:
    """A complete stream of Messages events; the arguments of a call without deltas are ``{}``."""
    said = Said()
    events = [event for event in documents(raw) if event["type"] != "ping"]
    assert events[0]["type"] == "message_start"
    assert events[0]["message"]["content"] == []
    assert [event["type"] for event in events[-2:]] == ["message_delta", "message_stop"]
    block: dict[str, Any] | None = None
    count = 0
    for event in events[1:-2]:
        assert event["index"] == count
        match event["type"]:
            case "content_block_start":
                assert block is None, "two blocks are open"
                block = {"pieces": [], **event["content_block"]}
            case "content_block_delta":
                assert block is not None
                block["pieces"].append(event["delta"])
            case "content_block_stop":
                assert block is not None
                _add_block(said, block)
                block, count = None, count + 1
            case other:
                raise AssertionError(other)
    assert block is None, "a block is left open"
    said.stop = events[-2]["delta"]["stop_reason"]
    said.usage = events[-2]["usage"]
    return said


def _add_block(said: Said, block: dict[str, Any]) -> None:
    def joined(kind: str, name: str) -> str:
        return "".join(piece[name] for piece in block["pieces"] if piece["type"] == kind)

    match block["type"]:
        case "text":
            said.text += block["text"] + joined("text_delta", "text")
        case "thinking":
            said.reasoning += block["thinking"] + joined("thinking_delta", "thinking")
            assert "signature" in block
        case "tool_use":
            assert block["input"] == {}
            assert {piece["type"] for piece in block["pieces"]} <= {"input_json_delta"}
            arguments = joined("input_json_delta", "partial_json")
            said.calls.append((block["id"], block["name"], arguments or "{}"))
        case other:
            raise AssertionError(other)


def responses(raw: bytes) -> Said:
    """A complete stream of Responses events; the deltas are what the done events say."""
    events = documents(raw)
    assert [event["sequence_number"] for event in events] == list(range(len(events)))
    assert [event["type"] for event in events[:2]] == ["response.created", "response.in_progress"]
    items: dict[int, dict[str, Any]] = {}
    heard: dict[tuple[str, int], str] = {}
    for event in events[2:-1]:
        kind, index = event["type"], event["output_index"]
        if kind == "response.output_item.added":
            assert index == len(items)
            items[index] = {"id": event["item"]["id"]}
            continue
        item = items[index]
        assert "item" not in item, f"{kind} after the item was done"
        assert (event.get("item_id") or event["item"]["id"]) == item["id"]
        if kind.endswith(".delta"):
            stem = kind.removesuffix(".delta")
            heard[stem, index] = heard.get((stem, index), "") + event["delta"]
        elif kind == "response.output_item.done":
            item["item"] = event["item"]
        elif (stem := kind.removesuffix(".done")) in _WHOLE:
            assert heard.get((stem, index), "") == event[_WHOLE[stem]], kind
    final = events[-1]["response"]
    assert events[-1]["type"] == f"response.{final['status']}"
    assert final["output"] == [items[index]["item"] for index in sorted(items)]
    said = Said(stop=final["status"], usage=final["usage"])
    if final["status"] == "incomplete":
        said.stop = final["incomplete_details"]["reason"]
    for item in final["output"]:
        _add_item(said, item)
    return said


_WHOLE = {
    "response.output_text": "text",
    "response.function_call_arguments": "arguments",
    "response.reasoning_text": "text",
    "response.reasoning_summary_text": "text",
}


def _add_item(said: Said, item: dict[str, Any]) -> None:
    match item["type"]:
        case "message":
            said.text += "".join(part["text"] for part in item["content"])
        case "reasoning":
            said.reasoning += "".join(
                part["text"] for part in item.get("content") or item["summary"]
            )
        case "function_call":
            said.calls.append((item["call_id"], item["name"], item["arguments"]))
        case other:
            raise AssertionError(other)


ASSEMBLE = {"chat": chat, "messages": messages, "responses": responses}
