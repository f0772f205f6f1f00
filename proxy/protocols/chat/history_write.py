"""Turns, written as messages.

https://platform.openai.com/docs/api-reference/chat/create (messages)
"""

from __future__ import annotations

from typing import Any

from toolwire.proxy.protocols.chat.calls_write import write_call
from toolwire.proxy.protocols.chat.content import write_part
from toolwire.proxy.protocols.codec import Quirks
from toolwire.proxy.protocols.neutral import (
    Cache,
    Call,
    DocumentPart,
    Image,
    Losses,
    Opaque,
    Part,
    Protocol,
    Request,
    Result,
    Role,
    Text,
    Thinking,
    Turn,
)
from toolwire.proxy.protocols.openai import marked_as_failed

_IMAGE_FOLLOWS = "[The result is in the next user message.]"
_RESULT = "Result of the call "
_LABEL = _RESULT + "{id} ({name}):"
_LABEL_WITHOUT_NAME = _RESULT + "{id}:"

# Looked up once, and types are compared: see ``layout``.
_SYSTEM, _USER, _ASSISTANT = Role.SYSTEM, Role.USER, Role.ASSISTANT


def write_messages(request: Request, quirks: Quirks, losses: Losses) -> list[dict[str, Any]]:
    """The messages of arranged turns: each result of a user turn is a message of its own, before
    what the user says.  A conversation in which nothing is said is an empty user message."""
    writer = _Writer(request.protocol, quirks, losses)
    messages = [message for turn in request.turns for message in writer.write(turn)]
    return messages or [{"role": "user", "content": ""}]


class _Writer:
    def __init__(self, client: Protocol, quirks: Quirks, losses: Losses) -> None:
        self._client = client
        self._quirks = quirks
        self._losses = losses
        self._names: dict[str, str] = {}

    def write(self, turn: Turn) -> list[dict[str, Any]]:
        if turn.role is _ASSISTANT:
            return self._assistant(turn)
        if turn.role is _USER:
            return self._user(turn)
        known = turn.role is _SYSTEM or self._quirks.developer_role
        return self._message(turn.role.value if known else "system", turn.parts, turn.name)

    # ------------------------------------------------------------------------ user and system
    def _user(self, turn: Turn) -> list[dict[str, Any]]:
        messages: list[dict[str, Any]] = []
        parts: list[Part] = []
        for part in turn.parts:
            if type(part) is Result:
                message, media = self._result(part)
                messages.append(message)
                parts += media
            else:
                parts.append(part)
        return messages + self._message("user", parts, turn.name)

    def _message(self, role: str, parts: list[Part], name: str | None) -> list[dict[str, Any]]:
        """One message, or none where no part can be carried."""
        content = self._content(parts, "\n\n")
        if not content:
            return []
        message: dict[str, Any] = {"role": role, "content": content}
        if name is not None:
            message["name"] = name
        return [message]

    def _content(self, parts: list[Part], joiner: str) -> str | list[dict[str, Any]]:
        """One string where all parts are plain text, which every upstream understands."""
        texts = [
            part.text
            for part in parts
            if type(part) is Text and part.cache is None and part.citations is None
        ]
        if len(texts) == len(parts):
            return joiner.join(texts)
        return _plain(self._written(parts), joiner)

    def _written(self, parts: list[Part]) -> list[dict[str, Any]]:
        written = (write_part(part, self._client, self._quirks, self._losses) for part in parts)
        return [part for part in written if part is not None]

    # -------------------------------------------------------------------------------- results
    def _result(self, result: Result) -> tuple[dict[str, Any], list[Part]]:
        """The ``tool`` message, and what has to follow it in a user message."""
        inside = result.parts
        media = [part for part in inside if self._follows(part)]
        if media:
            inside = [part for part in inside if not self._follows(part)] or [Text(_IMAGE_FOLLOWS)]
            media.insert(0, Text(self._label(result.call_id)))
        if result.is_error:
            inside = marked_as_failed(inside)
        if result.cache is None:
            content = self._content(inside, "\n")
        else:
            content = _plain(self._marked(inside, result.cache), "\n")
        return {"role": "tool", "tool_call_id": result.call_id, "content": content}, media

    def _marked(self, parts: list[Part], cache: Cache) -> list[dict[str, Any]]:
        """The mark of a whole result stands on the last part of its message."""
        written = self._written(parts)
        if written and self._quirks.cache_control:
            written[-1].setdefault("cache_control", cache.value)
        else:
            self._losses.drop(cache.at, "the upstream takes no cache marks")
        return written

    def _follows(self, part: Part) -> bool:
        """Whether a part of a result has no place in a ``tool`` message."""
        if type(part) is Image:
            return not self._quirks.tool_result_images
        return type(part) is DocumentPart and part.source.text is None

    def _label(self, call_id: str) -> str:
        name = self._names.get(call_id)
        return (_LABEL if name else _LABEL_WITHOUT_NAME).format(id=call_id, name=name)

    # ------------------------------------------------------------------------------ assistant
    def _assistant(self, turn: Turn) -> list[dict[str, Any]]:
        """One message, or none of a turn whose parts mean nothing here."""
        message: dict[str, Any] = {"role": "assistant"}
        spoken: list[Part] = []
        calls: list[Call] = []
        reasoning = ""
        for part in turn.parts:
            if type(part) is Call:
                calls.append(part)
            elif type(part) is Thinking:
                reasoning += self._thinking(part)
            elif type(part) is Opaque and (fields := _fields_of(part)) is not None:
                message |= fields
            else:
                spoken.append(part)
        content = self._content(spoken, "") if spoken else ""
        message["content"] = content or (None if calls else "")
        if turn.name is not None:
            message["name"] = turn.name
        if reasoning:
            message[self._quirks.reasoning_field] = reasoning
        if calls:
            message["tool_calls"] = [self._call(call) for call in calls]
        return [message] if content or message.keys() > {"role", "content"} else []

    def _thinking(self, part: Thinking) -> str:
        if not part.text and (part.signature or part.redacted or part.encrypted):
            self._losses.drop(part.at, "sealed thinking means nothing to another vendor")
        return part.text

    def _call(self, call: Call) -> dict[str, Any]:
        self._names[call.id] = call.name
        if call.cache is not None:
            self._losses.drop(call.cache.at, "a call bears no cache mark in Chat Completions")
        extra = call.extra or {}
        if self._client == "chat":
            return write_call(call) | extra
        for name in extra:
            self._losses.drop(f"{call.at}.{name}", "Chat Completions has no such field")
        return write_call(call)


def carries_results(message: dict[str, Any]) -> bool:
    """Whether a user message holds what has no place in a ``tool`` message, and nothing that the
    user says."""
    content = message.get("content")
    if not isinstance(content, list) or not content:
        return False
    texts = [part.get("text") for part in content if _is_text(part)]
    return _is_text(content[0]) and all(str(text).startswith(_RESULT) for text in texts)


def _is_text(part: Any) -> bool:
    return isinstance(part, dict) and part.get("type") == "text"


def _fields_of(part: Opaque) -> dict[str, Any] | None:
    """Fields of a message that only Chat Completions has; None for a part of its content."""
    fields = part.value
    own = part.protocol == "chat" and isinstance(fields, dict) and "type" not in fields
    return fields if own else None


def _plain(content: list[dict[str, Any]], joiner: str) -> str | list[dict[str, Any]]:
    """One string where all parts are plain text, which every upstream understands."""
    if all(part.keys() == {"type", "text"} for part in content):
        return joiner.join([part["text"] for part in content])
    return content
