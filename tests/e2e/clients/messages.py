"""Messages, spoken by the official `anthropic` client."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import httpx2
from anthropic import Anthropic

from tests.e2e.conversation import PNG, Call, Finish, Reply, Result, Tool, Wanted

_FINISHES = {
    "end_turn": Finish.DONE,
    "stop_sequence": Finish.SEQUENCE,
    "tool_use": Finish.CALLS,
    "max_tokens": Finish.LENGTH,
}
_CHOICES = {"auto": "auto", "none": "none", "required": "any"}
_PICTURE = {
    "type": "image",
    "source": {"type": "base64", "media_type": "image/png", "data": PNG},
}


class MessagesClient:
    protocol = "messages"
    names_stop_sequence = True
    images_in_results = True

    def __init__(
        self, url: str, transport: httpx2.BaseTransport, key: str = "any", max_retries: int = 0
    ) -> None:
        self.sdk = Anthropic(
            base_url=url,
            api_key=key,
            max_retries=max_retries,
            http_client=httpx2.Client(transport=transport),
        )

    def user(self, text: str, images: int = 0) -> list[Any]:
        """A user's turn."""
        blocks = [{"type": "text", "text": text}, *[_PICTURE] * images]
        return [{"role": "user", "content": blocks if images else text}]

    def results(self, results: Sequence[Result]) -> list[Any]:
        """What the tools gave back: one turn."""
        return [{"role": "user", "content": [_result(result) for result in results]}]

    def tool(self, tool: Tool) -> dict[str, Any]:
        """The tool as it is offered."""
        return {"name": tool.name, "input_schema": tool.schema}

    def ask(
        self, model: str, history: list[Any], wanted: Wanted, *, stream: bool, **more: Any
    ) -> Reply:
        """The answer to a request, by ``create`` or by the helper for streams."""
        request = {"model": model, "messages": history, **self._parameters(wanted), **more}
        if not stream:
            return _reply(self.sdk.messages.create(**request), [])
        with self.sdk.messages.stream(**request) as events:
            pieces = [event.text for event in events if event.type == "text"]
            return _reply(events.get_final_message(), pieces)

    def _parameters(self, wanted: Wanted) -> dict[str, Any]:
        said: dict[str, Any] = {
            "max_tokens": wanted.max_tokens or 4000,
            "system": wanted.system,
            "tools": [self.tool(tool) for tool in wanted.tools],
            "stop_sequences": list(wanted.stop),
        }
        choice: dict[str, Any] = {}
        if wanted.choice in _CHOICES:
            choice = {"type": _CHOICES[wanted.choice]}
        elif wanted.choice:
            choice = {"type": "tool", "name": wanted.choice}
        if wanted.parallel is not None:
            off = {"disable_parallel_tool_use": not wanted.parallel}
            choice = {"type": "auto", **choice, **off}
        said["tool_choice"] = choice
        if wanted.thinking:
            said["thinking"] = {"type": "enabled", "budget_tokens": 1024}
        if wanted.schema is not None:
            form = {"type": "json_schema", "schema": wanted.schema}
            said["output_config"] = {"format": form}
        return {key: value for key, value in said.items() if value}


def _result(result: Result) -> dict[str, Any]:
    block: dict[str, Any] = {"type": "tool_result", "tool_use_id": result.call.id}
    block["content"] = result.text
    if result.image:
        block["content"] = [{"type": "text", "text": result.text}, _PICTURE]
    return {**block, "is_error": True} if result.is_error else block


def _reply(message: Any, pieces: list[str]) -> Reply:
    blocks, usage = message.content, message.usage
    cached = usage.cache_read_input_tokens or 0
    return Reply(
        text="".join(block.text for block in blocks if block.type == "text"),
        thinking="".join(block.thinking for block in blocks if block.type == "thinking"),
        calls=[
            Call(block.id, block.name, block.input) for block in blocks if block.type == "tool_use"
        ],
        finish=_FINISHES[message.stop_reason],
        input_tokens=usage.input_tokens + cached + (usage.cache_creation_input_tokens or 0),
        output_tokens=usage.output_tokens,
        cached_tokens=cached,
        said=[{"role": "assistant", "content": blocks}],
        pieces=pieces,
        native=message,
    )
