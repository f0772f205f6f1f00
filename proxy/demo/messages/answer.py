"""Writes a completion as Messages do.

https://docs.anthropic.com/en/api/messages
https://docs.anthropic.com/en/docs/build-with-claude/streaming
"""

from __future__ import annotations

from collections.abc import Iterator

from toolwire.proxy.demo import seals
from toolwire.proxy.demo.documents import derived, parse
from toolwire.proxy.demo.neutral import Call, Completion, Finish, Json, Prompt, tokens
from toolwire.proxy.demo.sse import Event, named

_REASONS = {
    Finish.DONE: "end_turn",
    Finish.STOP_SEQUENCE: "stop_sequence",
    Finish.CALLS: "tool_use",
    Finish.LENGTH: "max_tokens",
}
_USAGE_OF_DELTA = (
    "input_tokens",
    "cache_creation_input_tokens",
    "cache_read_input_tokens",
    "output_tokens",
    "output_tokens_details",
)


def answer(body: Json, prompt: Prompt, completion: Completion) -> Json:
    """The whole answer."""
    content: list[Json] = []
    if completion.thinking:
        content.append(_thinking(body, prompt, completion.thinking))
    if completion.text:
        content.append({"type": "text", "text": completion.text})
    content += [_tool_use(call) for call in completion.calls]
    return {
        "id": f"msg_01{derived(prompt.seed, 'message', digits=22)}",
        "type": "message",
        "role": "assistant",
        "model": body["model"],
        "content": content,
        "stop_reason": _REASONS[completion.finish],
        "stop_sequence": completion.stop_sequence,
        "stop_details": None,
        "usage": {**_input_usage(prompt), **_output_usage(completion), "service_tier": "standard"},
    }


def events(prompt: Prompt, completion: Completion, whole: Json) -> list[Event]:
    """The whole answer spelled out in events."""
    opening = {**whole, "content": [], "stop_reason": None, "stop_sequence": None}
    opening["usage"] = {**whole["usage"], "output_tokens": 1, "output_tokens_details": None}
    out = [named({"type": "message_start", "message": opening})]
    inputs = [call.arguments for call in completion.calls]
    for index, block in enumerate(whole["content"]):
        out.append(_opened(block, index))
        if index == 0:
            out.append(named({"type": "ping"}))
        arguments = inputs.pop(0) if block["type"] == "tool_use" else ""
        out += [
            named({"type": "content_block_delta", "index": index, "delta": delta})
            for delta in _deltas(block, arguments)
        ]
        out.append(named({"type": "content_block_stop", "index": index}))
    ending = {key: whole[key] for key in ("stop_reason", "stop_sequence", "stop_details")}
    usage = {key: value for key, value in whole["usage"].items() if key in _USAGE_OF_DELTA}
    out.append(named({"type": "message_delta", "delta": ending, "usage": usage}))
    return [*out, named({"type": "message_stop"})]


def _thinking(body: Json, prompt: Prompt, thinking: str) -> Json:
    if body["thinking"].get("display") == "omitted":
        thinking = ""
    signature = seals.sign(thinking, prompt.seed)
    return {"type": "thinking", "thinking": thinking, "signature": signature}


def _tool_use(call: Call) -> Json:
    return {
        "type": "tool_use",
        "id": f"toolu_01{call.key[:22]}",
        "name": call.name,
        "input": _input(call.arguments),
    }


def _input(arguments: str) -> Json:
    """The arguments as an object: an empty one when the token limit cut them short."""
    try:
        value = parse(arguments)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def _input_usage(prompt: Prompt) -> Json:
    return {
        "input_tokens": prompt.input_tokens - prompt.cached_tokens,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": prompt.cached_tokens,
        "cache_creation": {"ephemeral_5m_input_tokens": 0, "ephemeral_1h_input_tokens": 0},
    }


def _output_usage(completion: Completion) -> Json:
    details = {"thinking_tokens": completion.thinking_tokens}
    return {"output_tokens": completion.output_tokens, "output_tokens_details": details}


def _opened(block: Json, index: int) -> Event:
    empty = {"text": "", "thinking": "", "signature": "", "input": {}}
    start = {key: empty.get(key, value) for key, value in block.items()}
    return named({"type": "content_block_start", "index": index, "content_block": start})


def _deltas(block: Json, arguments: str) -> Iterator[Json]:
    match block["type"]:
        case "thinking":
            for token in tokens(block["thinking"]):
                yield {"type": "thinking_delta", "thinking": token}
            yield {"type": "signature_delta", "signature": block["signature"]}
        case "text":
            for token in tokens(block["text"]):
                yield {"type": "text_delta", "text": token}
        case "tool_use":
            yield {"type": "input_json_delta", "partial_json": ""}
            for token in tokens(arguments) if arguments != "{}" else ():
                yield {"type": "input_json_delta", "partial_json": token}
