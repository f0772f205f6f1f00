"""The rules that a stream keeps from its first event to its last, for each protocol.

The SDKs' types say what one event holds; these say which event may follow which.

https://platform.openai.com/docs/api-reference/chat-streaming
https://docs.anthropic.com/en/docs/build-with-claude/streaming
https://platform.openai.com/docs/api-reference/responses-streaming
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

Json = dict[str, Any]
DONE = "[DONE]"


def chat(events: list[Any], request: Json) -> Iterator[str]:
    """What is wrong in a stream of Chat Completions chunks."""
    chunks = [event for event in events if event != DONE]
    failed = "error" in chunks[-1]
    if (events[-1] == DONE) is failed or DONE in events[:-1]:
        yield f"[DONE] ends what is complete, and nothing else: the end is {events[-2:]}"
    chunks = chunks[:-1] if failed else chunks
    choices = [choice for chunk in chunks for choice in chunk["choices"]]
    if choices and choices[0]["delta"].get("role") != "assistant":
        yield "the first delta carries no role"
    if any("role" in choice["delta"] for choice in choices[1:]):
        yield "the role comes more than once"
    finishes = [at for at, choice in enumerate(choices) if choice.get("finish_reason")]
    if finishes != ([] if failed else [len(choices) - 1]):
        yield f"finish reasons at {finishes} of {len(choices)} deltas, failed: {failed}"
    if len({(chunk["id"], chunk["model"], chunk["created"]) for chunk in chunks}) > 1:
        yield "id, model or time change on the way"
    yield from _chat_usage(chunks, request, failed)
    yield from _chat_calls(choices)


def _chat_usage(chunks: list[Json], request: Json, failed: bool) -> Iterator[str]:
    bare = [at for at, chunk in enumerate(chunks) if not chunk["choices"]]
    asked = (request.get("stream_options") or {}).get("include_usage") is True
    if not failed and bare != ([len(chunks) - 1] if asked else []):
        yield f"chunks without choices at {bare} of {len(chunks)}, usage asked for: {asked}"
    if any(not chunks[at].get("usage") for at in bare):
        yield "a chunk without choices has no usage"
    if not asked and any(chunk.get("usage") for chunk in chunks):
        yield "usage that nobody asked for"


def _chat_calls(choices: list[Json]) -> Iterator[str]:
    begun = 0
    for choice in choices:
        for piece in choice["delta"].get("tool_calls") or ():
            opens = "id" in piece
            if opens and (piece["index"] != begun or not piece["id"]):
                yield f"call {begun} opens with {piece}"
            begun += opens
            if piece["index"] >= begun:
                yield f"a piece of a call that has not begun: {piece}"
            inner = piece.get("function") or piece.get("custom") or {}
            if ("name" in inner) is not opens or (opens and not inner["name"]):
                yield f"the name comes once, with the id: {piece}"


def messages(events: list[Any], request: Json) -> Iterator[str]:
    """What is wrong in a stream of Messages events."""
    kinds = [event["type"] for event in events if event["type"] != "ping"]
    if kinds[0] not in ("message_start", "error") or "message_start" in kinds[1:]:
        yield f"message_start comes once, first: {kinds[:2]}"
    if kinds[-1] not in ("message_stop", "error"):
        yield f"the last event is {kinds[-1]}"
    if "message_stop" in kinds[:-1] or "error" in kinds[:-1]:
        yield "something follows the end"
    if kinds[-1] == "message_stop" and kinds[-2] != "message_delta":
        yield f"{kinds[-2]} before message_stop"
    if kinds.count("message_delta") > 1:
        yield "more than one message_delta"
    yield from _blocks(events)


def _blocks(events: list[Any]) -> Iterator[str]:
    """One block after the other, each closed before the next begins."""
    is_open, begun = False, 0
    for event in events:
        kind, index = event["type"], event.get("index", begun - 1)
        opens = kind == "content_block_start"
        if opens and is_open:
            yield f"block {index} begins inside another"
        if kind in ("content_block_delta", "content_block_stop", "message_delta"):
            if is_open is (kind == "message_delta"):
                yield f"{kind} of block {index}, open: {is_open}"
        begun += opens
        if index != begun - 1:
            yield f"{kind} of block {index}, after {begun} blocks"
        is_open = opens or (is_open and kind != "content_block_stop")


def responses(events: list[Any], request: Json) -> Iterator[str]:
    """What is wrong in a stream of Responses events."""
    kinds = [event["type"] for event in events]
    if [event["sequence_number"] for event in events] != list(range(len(events))):
        yield f"sequence numbers: {[event['sequence_number'] for event in events]}"
    if kinds[:2] != ["response.created", "response.in_progress"]:
        yield f"it begins with {kinds[:2]}"
    ends = ("response.completed", "response.incomplete", "response.failed")
    if kinds[-1] not in ends or any(kind in ends for kind in kinds[:-1]):
        yield f"the last event is {kinds[-1]}"
    if len({event["response"]["id"] for event in events if "response" in event}) > 1:
        yield "the response's id changes on the way"
    whole = events[-1]["response"]
    if whole["status"] != kinds[-1].removeprefix("response."):
        yield f"{kinds[-1]} says {whole['status']}"
    ends = [event for event in events if event["type"] == "response.output_item.done"]
    done = [end["item"] for end in sorted(ends, key=lambda end: int(end["output_index"]))]
    if kinds[-1] == "response.completed" and whole["output"] != done:
        yield f"the items done are not those of the whole response: {done} / {whole['output']}"
    yield from _items(events, complete=kinds[-1] == "response.completed")
    yield from _deltas(events)


def _items(events: list[Any], complete: bool) -> Iterator[str]:
    """Each item opens in its turn, and its events name it until it is done."""
    open_ids: dict[int, str] = {}
    begun = 0
    for event in events:
        kind, index = event["type"], event.get("output_index")
        if index is None:
            continue
        item_id = event["item"]["id"] if "item" in event else event.get("item_id")
        if kind == "response.output_item.added":
            if index != begun:
                yield f"item {index} is added as number {begun}"
            open_ids[begun] = item_id
            begun += 1
        if open_ids.get(index) != item_id:
            yield f"{kind} of item {item_id} at {index}, where {open_ids.get(index)} is open"
        if kind == "response.output_item.done":
            open_ids.pop(index, None)
    if complete and open_ids:
        yield f"items left open: {open_ids}"


def _deltas(events: list[Any]) -> Iterator[str]:
    """The deltas of a part add up to what it says when done."""
    said: dict[tuple[Any, ...], str] = {}
    for event in events:
        stem, _, step = event["type"].rpartition(".")
        place = (stem, *(event.get(f"{name}_index") for name in ("output", "content", "summary")))
        if step == "delta":
            said[place] = said.get(place, "") + event["delta"]
        elif step == "done" and stem in _WHOLE:
            if said.pop(place, "") != event[_WHOLE[stem]]:
                yield f"the deltas before {event['type']} are not {event[_WHOLE[stem]]!r}"
    if said and events[-1]["type"] == "response.completed":
        yield f"parts left open: {said}"


_WHOLE = {
    "response.output_text": "text",
    "response.refusal": "refusal",
    "response.function_call_arguments": "arguments",
    "response.custom_tool_call_input": "input",
    "response.reasoning_text": "text",
    "response.reasoning_summary_text": "text",
}
RULES: dict[str, Callable[[list[Any], Json], Iterator[str]]] = {
    "chat": chat,
    "messages": messages,
    "responses": responses,
}
