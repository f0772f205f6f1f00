"""Writes a completion as Chat Completions do.

https://platform.openai.com/docs/api-reference/chat/object
https://platform.openai.com/docs/api-reference/chat-streaming/streaming
"""

from __future__ import annotations

from collections.abc import Iterator

from toolwire.proxy.demo.documents import CREATED, derived
from toolwire.proxy.demo.neutral import Call, Completion, Finish, Json, Prompt, tokens
from toolwire.proxy.demo.sse import DONE, Event

_REASONS = {
    Finish.DONE: "stop",
    Finish.STOP_SEQUENCE: "stop",
    Finish.CALLS: "tool_calls",
    Finish.LENGTH: "length",
}


def answer(body: Json, prompt: Prompt, completion: Completion) -> Json:
    """The whole answer. Thinking stands in `reasoning_content`, as with DeepSeek and Alibaba."""
    text = completion.text
    message: Json = {"role": "assistant", "content": text if text or not completion.calls else None}
    if completion.thinking:
        message["reasoning_content"] = completion.thinking
    if completion.calls:
        message["tool_calls"] = [_tool_call(call) for call in completion.calls]
    message |= {"refusal": None, "annotations": []}
    choice = {
        "index": 0,
        "message": message,
        "logprobs": None,
        "finish_reason": _REASONS[completion.finish],
    }
    return {
        "id": f"chatcmpl-{derived(prompt.seed, 'chat')}",
        "object": "chat.completion",
        "created": CREATED,
        "model": body["model"],
        "choices": [choice],
        "usage": _usage(prompt, completion),
        "service_tier": "default",
        "system_fingerprint": "fp_demo",
    }


def events(prompt: Prompt, completion: Completion, whole: Json) -> list[Event]:
    """The whole answer spelled out in chunks."""
    (choice,) = whole["choices"]
    chunk = {key: whole[key] for key in ("id", "created", "model")}
    chunk |= {"object": "chat.completion.chunk", "service_tier": "default"}
    chunk["system_fingerprint"] = whole["system_fingerprint"]
    no_usage = {"usage": None} if prompt.include_usage else {}
    out = []
    for delta, reason in [*_deltas(choice["message"]), ({}, choice["finish_reason"])]:
        piece = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": reason}
        out.append(Event({**chunk, "choices": [piece], **no_usage}))
    if prompt.include_usage:
        out.append(Event({**chunk, "choices": [], "usage": whole["usage"]}))
    return [*out, DONE]


def _tool_call(call: Call) -> Json:
    head = {"id": f"call_{call.key}"}
    if call.free_form:
        return {**head, "type": "custom", "custom": {"name": call.name, "input": call.arguments}}
    function = {"name": call.name, "arguments": call.arguments}
    return {**head, "type": "function", "function": function}


def _usage(prompt: Prompt, completion: Completion) -> Json:
    return {
        "prompt_tokens": prompt.input_tokens,
        "completion_tokens": completion.output_tokens,
        "total_tokens": prompt.input_tokens + completion.output_tokens,
        "prompt_tokens_details": {"cached_tokens": prompt.cached_tokens, "audio_tokens": 0},
        "completion_tokens_details": {
            "reasoning_tokens": completion.thinking_tokens,
            "audio_tokens": 0,
            "accepted_prediction_tokens": 0,
            "rejected_prediction_tokens": 0,
        },
    }


def _deltas(message: Json) -> Iterator[tuple[Json, None]]:
    calls = message.get("tool_calls") or []
    yield {"role": "assistant", "content": None if calls else "", "refusal": None}, None
    for field in ("reasoning_content", "content"):
        for token in tokens(message.get(field) or ""):
            yield {field: token}, None
    for i, call in enumerate(calls):
        kind = call["type"]
        field = "arguments" if kind == "function" else "input"
        whole = call[kind][field]
        opening = {**call, kind: {**call[kind], field: ""}}
        yield {"tool_calls": [{"index": i, **opening}]}, None
        # A quirk may have put an object where the text belongs: it goes out in one piece.
        for piece in tokens(whole) if isinstance(whole, str) else [whole]:
            yield {"tool_calls": [{"index": i, kind: {field: piece}}]}, None
