"""Chat Completions, spoken by the official `openai` client."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import httpx2
from openai import OpenAI

from tests.e2e.conversation import PNG, Call, Finish, Reply, Result, Tool, Wanted

_FINISHES = {"stop": Finish.DONE, "tool_calls": Finish.CALLS, "length": Finish.LENGTH}
_PICTURE = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}}


class ChatClient:
    protocol = "chat"
    names_stop_sequence = False
    images_in_results = False

    def __init__(
        self, url: str, transport: httpx2.BaseTransport, key: str = "any", max_retries: int = 0
    ) -> None:
        self.sdk = OpenAI(
            base_url=f"{url}/v1",
            api_key=key,
            max_retries=max_retries,
            http_client=httpx2.Client(transport=transport),
        )

    def user(self, text: str, images: int = 0) -> list[Any]:
        """A user's turn."""
        parts = [{"type": "text", "text": text}, *[_PICTURE] * images]
        return [{"role": "user", "content": parts if images else text}]

    def results(self, results: Sequence[Result]) -> list[Any]:
        """What the tools gave back."""
        return [
            {"role": "tool", "tool_call_id": result.call.id, "content": result.text}
            for result in results
        ]

    def tool(self, tool: Tool) -> dict[str, Any]:
        """The tool as it is offered."""
        if tool.schema is None:
            return {"type": "custom", "custom": {"name": tool.name}}
        return {"type": "function", "function": {"name": tool.name, "parameters": tool.schema}}

    def ask(
        self, model: str, history: list[Any], wanted: Wanted, *, stream: bool, **more: Any
    ) -> Reply:
        """The answer to a request, by ``create`` or by the helper for streams."""
        system = [{"role": "system", "content": wanted.system}] if wanted.system else []
        request = {
            "model": model,
            "messages": [*system, *history],
            **self._parameters(wanted),
            **more,
        }
        if not stream:
            return _reply(self.sdk.chat.completions.create(**request), [])
        request["stream_options"] = {"include_usage": True}
        with self.sdk.chat.completions.stream(**request) as events:
            pieces = [event.delta for event in events if event.type == "content.delta"]
            return _reply(events.current_completion_snapshot, pieces)

    def _parameters(self, wanted: Wanted) -> dict[str, Any]:
        said: dict[str, Any] = {
            "tools": [self.tool(tool) for tool in wanted.tools],
            "parallel_tool_calls": wanted.parallel,
            "max_completion_tokens": wanted.max_tokens,
            "stop": list(wanted.stop),
            "reasoning_effort": "low" if wanted.thinking else None,
        }
        if wanted.choice in ("auto", "none", "required"):
            said["tool_choice"] = wanted.choice
        elif wanted.choice:
            said["tool_choice"] = {"type": "function", "function": {"name": wanted.choice}}
        if wanted.schema is not None:
            form = {"name": "answer", "schema": wanted.schema, "strict": True}
            said["response_format"] = {"type": "json_schema", "json_schema": form}
        return {key: value for key, value in said.items() if value not in (None, [])}


def _reply(completion: Any, pieces: list[str]) -> Reply:
    (choice,) = completion.choices
    message, usage = choice.message, completion.usage
    return Reply(
        text=message.content or "",
        thinking=getattr(message, "reasoning_content", None) or "",
        calls=[_call(call) for call in message.tool_calls or ()],
        finish=_FINISHES[choice.finish_reason],
        input_tokens=usage.prompt_tokens,
        output_tokens=usage.completion_tokens,
        cached_tokens=usage.prompt_tokens_details.cached_tokens,
        said=[message.model_dump(exclude_none=True, exclude={"parsed"})],
        pieces=pieces,
        native=completion,
    )


def _call(call: Any) -> Call:
    if call.type == "custom":
        return Call(call.id, call.custom.name, call.custom.input)
    return Call(call.id, call.function.name, parsed(call.function.arguments))


def parsed(arguments: str) -> Any:
    """The arguments of a call; their text where the limit cut them."""
    try:
        return json.loads(arguments)
    except ValueError:
        return arguments
