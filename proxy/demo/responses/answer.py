"""Writes a completion as Responses do.

https://platform.openai.com/docs/api-reference/responses/object
"""

from __future__ import annotations

from typing import Any

from toolwire.proxy.demo import schema_rules, seals
from toolwire.proxy.demo.documents import CREATED, derived
from toolwire.proxy.demo.neutral import Call, Completion, Finish, Json, Prompt
from toolwire.proxy.demo.responses.items import conversation
from toolwire.proxy.demo.responses.memory import ResponseMemory

_ECHOED: Json = {  # what the answer repeats of the request: what stands there when it was not given
    "background": False,
    "frequency_penalty": 0.0,
    "instructions": None,
    "max_output_tokens": None,
    "max_tool_calls": None,
    "metadata": {},
    "model": None,
    "parallel_tool_calls": True,
    "presence_penalty": 0.0,
    "previous_response_id": None,
    "prompt_cache_key": None,
    "safety_identifier": None,
    "store": True,
    "temperature": 1.0,
    "tool_choice": "auto",
    "top_logprobs": 0,
    "top_p": 1.0,
    "truncation": "disabled",
    "user": None,
}
_ENCRYPTED = "reasoning.encrypted_content"


def answer(memory: ResponseMemory, body: Json, prompt: Prompt, completion: Completion) -> Json:
    """The whole answer, with the request echoed as that API does; kept if it is to be stored."""
    whole = _whole(body, prompt, completion)
    if whole["store"]:
        memory.keep(whole, [*conversation(body, memory), *whole["output"]])
    return whole


def _whole(body: Json, prompt: Prompt, completion: Completion) -> Json:
    cut = completion.finish is Finish.LENGTH
    output = _output(body, prompt, completion)
    if cut and output and "status" in output[-1]:
        output[-1]["status"] = "incomplete"
    return {
        "id": f"resp_{derived(prompt.seed, 'response', digits=48)}",
        "object": "response",
        "created_at": CREATED,
        "status": "incomplete" if cut else "completed",
        "completed_at": None if cut else CREATED,
        "error": None,
        "incomplete_details": {"reason": "max_output_tokens"} if cut else None,
        **{key: _given(body, key, otherwise) for key, otherwise in _ECHOED.items()},
        "output": output,
        "reasoning": {"effort": None, "summary": None, **(body.get("reasoning") or {})},
        "service_tier": "default",
        "text": {"format": {"type": "text"}, "verbosity": "medium", **(body.get("text") or {})},
        "tools": [_echoed_tool(tool) for tool in body.get("tools") or ()],
        "usage": _usage(prompt, completion),
    }


def _output(body: Json, prompt: Prompt, completion: Completion) -> list[Json]:
    items: list[Json] = []
    if completion.thinking:
        reasoning: Json = {"id": f"rs_{derived(prompt.seed, 'reasoning', digits=48)}"}
        reasoning["type"] = "reasoning"
        reasoning["summary"] = [{"type": "summary_text", "text": completion.thinking}]
        if _ENCRYPTED in (body.get("include") or ()):
            reasoning["encrypted_content"] = seals.encrypt(completion.thinking, prompt.seed)
        items.append(reasoning)
    if completion.text:
        text = {"type": "output_text", "annotations": [], "logprobs": [], "text": completion.text}
        items.append(
            {
                "id": f"msg_{derived(prompt.seed, 'message', digits=48)}",
                "type": "message",
                "status": "completed",
                "role": "assistant",
                "content": [text],
            }
        )
    return items + [_call(prompt, call) for call in completion.calls]


def _call(prompt: Prompt, call: Call) -> Json:
    kind, prefix, field = (
        ("custom_tool_call", "ctc", "input")
        if call.free_form
        else ("function_call", "fc", "arguments")
    )
    return {
        "id": f"{prefix}_{derived(prompt.seed, call.key, digits=48)}",
        "type": kind,
        "status": "completed",
        "call_id": f"call_{call.key}",
        "name": call.name,
        field: call.arguments,
    }


def _given(body: Json, key: str, otherwise: Any) -> Any:
    return otherwise if body.get(key) is None else body[key]


def _echoed_tool(tool: Json) -> Json:
    """The tool as the vendor repeats it; functions are strict if they can be, unless told."""
    if tool["type"] != "function":
        return tool
    schema = tool.get("parameters")
    strict = tool.get("strict")
    if strict is None:
        strict = schema is not None and schema_rules.strict_fault(schema) is None
    return {"description": None, **tool, "parameters": schema, "strict": strict}


def _usage(prompt: Prompt, completion: Completion) -> Json:
    return {
        "input_tokens": prompt.input_tokens,
        "input_tokens_details": {"cached_tokens": prompt.cached_tokens, "cache_write_tokens": 0},
        "output_tokens": completion.output_tokens,
        "output_tokens_details": {"reasoning_tokens": completion.thinking_tokens},
        "total_tokens": prompt.input_tokens + completion.output_tokens,
    }
