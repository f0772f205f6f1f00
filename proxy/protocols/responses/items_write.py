"""The turns of a conversation, written as ``input`` items.

https://platform.openai.com/docs/api-reference/responses/create (``input``)
"""

from __future__ import annotations

from typing import Any

from toolwire.proxy.protocols.neutral import (
    Call,
    Losses,
    Opaque,
    Part,
    Refusal,
    Request,
    Result,
    Role,
    Text,
    Thinking,
    Turn,
)
from toolwire.proxy.protocols.openai import marked_as_failed
from toolwire.proxy.protocols.responses.content import (
    drop_cache,
    drop_citations,
    is_content,
    write_input_part,
)

Item = dict[str, Any]

_INSTRUCTING = (Role.SYSTEM, Role.DEVELOPER)


class Items:
    """Writes the turns of one request; what cannot be carried goes to ``losses``."""

    def __init__(self, request: Request, losses: Losses) -> None:
        self._client = request.protocol
        self._turns = request.turns
        self._losses = losses

    def write(self) -> tuple[str | None, list[Item]]:
        """``instructions``, from the system text in front, and the items of all other turns."""
        turns = self._turns
        leading: list[Text] = []
        count = 0
        while count < len(turns) and (texts := _instructions(turns[count])) is not None:
            leading += texts
            count += 1
        for part in leading:
            drop_cache(part, self._losses)
        instructions = "\n\n".join([part.text for part in leading])
        items = [item for turn in turns[count:] for item in self._write_turn(turn)]
        if not items:  # the API demands an input: https://github.com/pydantic/pydantic-ai/pull/3470
            items = [{"type": "message", "role": "user", "content": ""}]
        return instructions or None, items

    def _write_turn(self, turn: Turn) -> list[Item]:
        if turn.name is not None:
            self._losses.drop(f"{turn.at}.name", "Responses has no names of speakers")
        items: list[Item] = []
        content: list[Item] = []
        write_content = self._output if turn.role is Role.ASSISTANT else self._input
        for part in turn.parts:
            if _is_item(part):
                _flush(items, content, turn.role)
                items += self._item(part)
                content = []
            elif (written := write_content(part)) is not None:
                content.append(written)
        _flush(items, content, turn.role)
        return items

    def _input(self, part: Part) -> Item | None:
        return write_input_part(part, self._client, self._losses)

    def _output(self, part: Part) -> Item | None:
        """A part of what the assistant said."""
        match part:
            case Text(text):
                drop_cache(part, self._losses)
                drop_citations(part, self._losses)
                return {"type": "output_text", "text": text, "annotations": []}
            case Refusal(text):
                return {"type": "refusal", "refusal": text}
            case Opaque("responses", dict() as value):
                return value
        self._losses.drop(part.at, "Responses has no such part of an assistant's message")
        return None

    def _item(self, part: Part) -> list[Item]:
        match part:
            case Call():
                return [self._call(part)]
            case Result():
                return [self._result(part)]
            case Thinking():
                return self._reasoning(part)
            case Opaque(value=value):
                return [value]
        return []

    def _call(self, call: Call) -> Item:
        drop_cache(call, self._losses)
        for name in call.extra or ():
            self._losses.drop(f"{call.at}.{name}", "Responses has no such field of a call")
        named = {"call_id": call.id, "name": call.name}
        if call.custom:
            return {"type": "custom_tool_call", **named, "input": call.arguments}
        return {"type": "function_call", **named, "arguments": call.arguments or "{}"}

    def _result(self, result: Result) -> Item:
        drop_cache(result, self._losses)
        return {
            "type": "custom_tool_call_output" if result.custom else "function_call_output",
            "call_id": result.call_id,
            "output": self._result_output(result),
        }

    def _result_output(self, result: Result) -> str | list[Item]:
        """Text as a string, which every upstream takes; a list where there is more than text."""
        said = marked_as_failed(result.parts) if result.is_error else result.parts
        parts = [written for part in said if (written := self._input(part)) is not None]
        if all(part["type"] == "input_text" for part in parts):
            return "\n".join([part["text"] for part in parts])
        return parts

    def _reasoning(self, thinking: Thinking) -> list[Item]:
        if thinking.origin != "responses" or thinking.encrypted is None:
            if thinking.at:
                self._losses.drop(thinking.at, "only its own vendor takes this thinking back")
            return []
        summary = thinking.text if thinking.summary else ""
        item: Item = {
            "type": "reasoning",
            "summary": [{"type": "summary_text", "text": summary}] if summary else [],
            "encrypted_content": thinking.encrypted,
        }
        if thinking.id is not None:
            item["id"] = thinking.id
        return [item]


def _instructions(turn: Turn) -> list[Text] | None:
    """The text of a system turn; None of another one, or where there is more than text."""
    if turn.role not in _INSTRUCTING:
        return None
    texts = [part for part in turn.parts if isinstance(part, Text)]
    return texts if len(texts) == len(turn.parts) else None


def _is_item(part: Part) -> bool:
    if isinstance(part, Opaque):
        return part.protocol == "responses" and not is_content(part.value)
    return isinstance(part, Call | Result | Thinking)


def _flush(items: list[Item], content: list[Item], role: Role) -> None:
    """Adds the message of ``content``, if any."""
    if not content:
        return
    if role is Role.ASSISTANT and len(content) == 1 and content[0]["type"] == "output_text":
        # As a list it would need an id, which only the API itself can give.
        said: str | list[Item] = content[0]["text"]
    else:
        said = content
    items.append({"type": "message", "role": role.value, "content": said})
