"""The response object around the output: much of it repeats the client's request.

https://platform.openai.com/docs/api-reference/responses/object
"""

from __future__ import annotations

from typing import Any

from toolwire.proxy.protocols.known_tools import KNOWN_TOOLS
from toolwire.proxy.protocols.parts import Loss

_ECHOED: dict[str, Any] = {
    "background": False,
    "frequency_penalty": 0,
    "instructions": None,
    "max_output_tokens": None,
    "max_tool_calls": None,
    "metadata": {},
    "parallel_tool_calls": True,
    "presence_penalty": 0,
    "previous_response_id": None,
    "prompt_cache_key": None,
    "reasoning": {"effort": None, "summary": None},
    "safety_identifier": None,
    "service_tier": "default",
    "store": False,
    "temperature": 1,
    "text": {"format": {"type": "text"}},
    "tool_choice": "auto",
    "tools": [],
    "top_logprobs": 0,
    "top_p": 1,
    "truncation": "disabled",
    "user": None,
}
"""The fields of the request that a response repeats, and what stands for a silent client."""


def response_object(
    request: dict[str, Any], *, response_id: str, model: str, created: int
) -> dict[str, Any]:
    """A response in progress, with all the fields that clients' types demand.

    ``request`` is the client's own document; ``created`` a Unix time in seconds.
    """
    response: dict[str, Any] = {
        "id": response_id,
        "object": "response",
        "created_at": created,
        "completed_at": None,
        "status": "in_progress",
        "error": None,
        "incomplete_details": None,
        "model": model,
        "output": [],
        "usage": None,
    }
    for name, silent in _ECHOED.items():
        value = request.get(name)
        response[name] = silent if value is None else value
    tools = response["tools"]
    if type(tools) is list:
        echoed, _ = KNOWN_TOOLS.derived(tools, _echoed)
        response["tools"] = KNOWN_TOOLS.encoded(echoed)
    else:
        response["tools"] = []
    return response


def _echoed(tools: list[Any]) -> tuple[list[Any], list[Loss]]:
    return [_echoed_tool(tool) for tool in tools], []


def _echoed_tool(tool: Any) -> Any:
    """A tool as the API repeats it: a function has all its fields."""
    if not isinstance(tool, dict) or tool.get("type") != "function":
        return tool
    return {"description": None, "parameters": None, "strict": False, **tool}
