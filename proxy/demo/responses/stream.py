"""Spells an answer out in the events of Responses.

https://platform.openai.com/docs/api-reference/responses-streaming
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from toolwire.proxy.demo.neutral import Completion, Json, Prompt, tokens
from toolwire.proxy.demo.sse import Event, named

_UNFINISHED_CIPHER = 24  # characters


def events(prompt: Prompt, completion: Completion, whole: Json) -> list[Event]:
    """All events, numbered from 0."""
    running = {**whole, "status": "in_progress", "completed_at": None, "incomplete_details": None}
    running |= {"output": [], "usage": None}
    steps: list[Json] = [
        {"type": "response.created", "response": running},
        {"type": "response.in_progress", "response": running},
    ]
    for index, item in enumerate(whole["output"]):
        steps.append(_of_item("response.output_item.added", index, item=_opened(item)))
        steps += _SPELLINGS[item["type"]](item, index)
        steps.append(_of_item("response.output_item.done", index, item=item))
    steps.append({"type": f"response.{whole['status']}", "response": whole})
    return [named({**step, "sequence_number": number}) for number, step in enumerate(steps)]


def _of_item(kind: str, index: int, **rest: object) -> Json:
    return {"type": kind, "output_index": index, **rest}


def _opened(item: Json) -> Json:
    """The item before its content; its ciphertext is not yet the final one, as at the vendor."""
    empty = {"content": [], "summary": [], "arguments": "", "input": "", "status": "in_progress"}
    opened = {key: empty.get(key, value) for key, value in item.items()}
    if "encrypted_content" in item:
        opened["encrypted_content"] = item["encrypted_content"][:_UNFINISHED_CIPHER]
    return opened


def _reasoning(item: Json, index: int) -> Iterator[Json]:
    for i, part in enumerate(item["summary"]):
        place = {"item_id": item["id"], "output_index": index, "summary_index": i}
        kind = "response.reasoning_summary"
        yield {"type": f"{kind}_part.added", **place, "part": {**part, "text": ""}}
        for token in tokens(part["text"]):
            yield {"type": f"{kind}_text.delta", **place, "delta": token}
        yield {"type": f"{kind}_text.done", **place, "text": part["text"]}
        yield {"type": f"{kind}_part.done", **place, "part": part}


def _message(item: Json, index: int) -> Iterator[Json]:
    for i, part in enumerate(item["content"]):
        place = {"item_id": item["id"], "output_index": index, "content_index": i}
        yield {"type": "response.content_part.added", **place, "part": {**part, "text": ""}}
        for token in tokens(part["text"]):
            yield {"type": "response.output_text.delta", **place, "delta": token, "logprobs": []}
        text = part["text"]
        yield {"type": "response.output_text.done", **place, "text": text, "logprobs": []}
        yield {"type": "response.content_part.done", **place, "part": part}


def _call(kind: str, field: str) -> Callable[[Json, int], Iterator[Json]]:
    def spell(item: Json, index: int) -> Iterator[Json]:
        place = {"item_id": item["id"], "output_index": index}
        for token in tokens(item[field]):
            yield {"type": f"{kind}.delta", **place, "delta": token}
        yield {"type": f"{kind}.done", **place, field: item[field]}

    return spell


_SPELLINGS: dict[str, Callable[[Json, int], Iterator[Json]]] = {
    "reasoning": _reasoning,
    "message": _message,
    "function_call": _call("response.function_call_arguments", "arguments"),
    "custom_tool_call": _call("response.custom_tool_call_input", "input"),
}
