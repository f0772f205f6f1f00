"""Responses, spoken by the official `openai` client."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import httpx2
from openai import OpenAI

from tests.e2e.clients.chat import parsed
from tests.e2e.conversation import PNG, Call, Finish, Reply, Result, Tool, Wanted

_PICTURE = {
    "type": "input_image",
    "image_url": f"data:image/png;base64,{PNG}",
    "detail": "auto",
}
_ENDS = ("response.completed", "response.incomplete", "response.failed")


class ResponsesClient:
    protocol = "responses"
    names_stop_sequence = False
    images_in_results = True

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
        parts = [{"type": "input_text", "text": text}, *[_PICTURE] * images]
        return [{"role": "user", "content": parts if images else text}]

    def results(self, results: Sequence[Result]) -> list[Any]:
        """What the tools gave back, one item each."""
        return [_output(result) for result in results]

    def tool(self, tool: Tool) -> dict[str, Any]:
        """The tool as it is offered."""
        if tool.schema is None:
            return {"type": "custom", "name": tool.name}
        return {
            "type": "function",
            "name": tool.name,
            "parameters": tool.schema,
            "strict": False,
        }

    def ask(
        self, model: str, history: list[Any], wanted: Wanted, *, stream: bool, **more: Any
    ) -> Reply:
        """The answer to a request, by ``create`` or by the helper for streams."""
        request = {
            "model": model,
            "input": history,
            "store": False,
            **self._parameters(wanted),
            **more,
        }
        if not stream:
            return _reply(self.sdk.responses.create(**request), [])
        with self.sdk.responses.stream(**request) as stream_of_events:
            events: list[Any] = list(stream_of_events)
        (whole,) = [event.response for event in events if event.type in _ENDS]
        pieces = [event.delta for event in events if event.type == "response.output_text.delta"]
        return _reply(whole, pieces)

    def _parameters(self, wanted: Wanted) -> dict[str, Any]:
        said: dict[str, Any] = {
            "instructions": wanted.system or None,
            "tools": [self.tool(tool) for tool in wanted.tools],
            "parallel_tool_calls": wanted.parallel,
            "max_output_tokens": wanted.max_tokens,
        }
        if wanted.choice in ("auto", "none", "required"):
            said["tool_choice"] = wanted.choice
        elif wanted.choice:
            said["tool_choice"] = {"type": "function", "name": wanted.choice}
        if wanted.thinking:
            said["reasoning"] = {"effort": "low", "summary": "auto"}
            said["include"] = ["reasoning.encrypted_content"]
        if wanted.schema is not None:
            form = {"name": "answer", "schema": wanted.schema, "strict": True}
            said["text"] = {"format": {"type": "json_schema", **form}}
        return {key: value for key, value in said.items() if value not in (None, [])}


def _output(result: Result) -> dict[str, Any]:
    kind = "function_call_output"
    if isinstance(result.call.arguments, str):
        kind = "custom_tool_call_output"
    output: Any = result.text
    if result.image:
        output = [{"type": "input_text", "text": result.text}, _PICTURE]
    return {"type": kind, "call_id": result.call.id, "output": output}


def _reply(response: Any, pieces: list[str]) -> Reply:
    usage = response.usage
    calls = [_call(item) for item in response.output if item.type.endswith("_call")]
    finish = Finish.CALLS if calls else Finish.DONE
    if response.status == "incomplete":
        assert response.incomplete_details.reason == "max_output_tokens"
        finish = Finish.LENGTH
    reasoning = [item for item in response.output if item.type == "reasoning"]
    return Reply(
        text=response.output_text,
        thinking="".join(part.text for item in reasoning for part in _shown(item)),
        calls=calls,
        finish=finish,
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        cached_tokens=usage.input_tokens_details.cached_tokens,
        said=[item.model_dump(exclude_none=True) for item in response.output],
        pieces=pieces,
        native=response,
    )


def _shown(item: Any) -> list[Any]:
    """What may be shown of the reasoning: itself, or its summary."""
    return list(item.content or item.summary)


def _call(item: Any) -> Call:
    if item.type == "custom_tool_call":
        return Call(item.call_id, item.name, item.input)
    return Call(item.call_id, item.name, parsed(item.arguments))
