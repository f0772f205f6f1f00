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
    for turn in request.turns:
        writer.write(turn)
    return writer.messages or [{"role": "user", "content": ""}]


class _Writer:
    """``messages`` are those of the turns so far."""

    def __init__(self, client: Protocol, quirks: Quirks, losses: Losses) -> None:
        self.messages: list[dict[str, Any]] = []
        self._client = client
        self._quirks = quirks
        self._losses = losses
        self._names: dict[str, str] = {}

    def write(self, turn: Turn) -> None:
        if turn.role is _ASSISTANT:
            self._assistant(turn)
        elif turn.role is _USER:
            self._user(turn)
        else:
            known = turn.role is _SYSTEM or self._quirks.developer_role
            self._message(turn.role.value if known else "system", turn.parts, turn.name)

    # ------------------------------------------------------------------------ user and system
    def _user(self, turn: Turn) -> None:
        said: list[Part] = []
        for part in turn.parts:
            if type(part) is Result:
                said += self._result(part)
            else:
                said.append(part)
        if said:
            self._message("user", said, turn.name)

    def _message(self, role: str, parts: list[Part], name: str | None) -> None:
        """One message, or none where no part can be carried."""
        content = self._content(parts, "\n\n")
        if not content:
            return
        message: dict[str, Any] = {"role": role, "content": content}
        if name is not None:
            message["name"] = name
        self.messages.append(message)

    def _content(self, parts: list[Part], joiner: str) -> str | list[dict[str, Any]]:
        """One string where all parts are plain text, which every upstream understands."""
        texts = []
        for part in parts:
            if type(part) is not Text or part.cache is not None or part.citations is not None:
                return _plain(self._written(parts), joiner)
            texts.append(part.text)
        return joiner.join(texts)

    def _written(self, parts: list[Part]) -> list[dict[str, Any]]:
        written = (write_part(part, self._client, self._quirks, self._losses) for part in parts)
        return [part for part in written if part is not None]

    # -------------------------------------------------------------------------------- results
    def _result(self, result: Result) -> list[Part]:
        """Adds the ``tool`` message; what has to follow it in a user message."""
        inside: list[Part] = []
        media: list[Part] = []
        for part in result.parts:
            if type(part) is Text or not self._follows(part):
                inside.append(part)
            else:
                media.append(part)
        if media:
            inside = inside or [Text(_IMAGE_FOLLOWS)]
            media.insert(0, Text(self._label(result.call_id)))
        if result.is_error:
            inside = marked_as_failed(inside)
        if result.cache is None:
            content = self._content(inside, "\n")
        else:
            content = _plain(self._marked(inside, result.cache), "\n")
        message = {"role": "tool", "tool_call_id": result.call_id, "content": content}
        self.messages.append(message)
        return media

    def _marked(self, parts: list[Part], cache: Cache) -> list[dict[str, Any]]:
        """The mark of a whole result stands on the last part of its message."""
        written = self._written(parts)
        if written and self._quirks.cache_control:
            written[-1].setdefault("cache_control", cache.value)
        else:
            self._losses.drop(cache.at, "the upstream takes no cache marks")
        return written

    def _follows(self, part: Part) -> bool:
        """Whether a part of a result has no place in a ``tool`` message, but elsewhere."""
        if type(part) is Image:
            return not self._quirks.tool_result_images and part.source.file_id is None
        if type(part) is not DocumentPart:
            return False
        # text, and a document at a URL, is written as text
        source = part.source
        stored = source.file_id is not None and self._client != "messages"
        return source.data is not None or stored

    def _label(self, call_id: str) -> str:
        name = self._names.get(call_id)
        return (_LABEL if name else _LABEL_WITHOUT_NAME).format(id=call_id, name=name)

    # ------------------------------------------------------------------------------ assistant
    def _assistant(self, turn: Turn) -> None:
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
        if content or len(message) > 2:  # more than a role and no content
            self.messages.append(message)

    def _thinking(self, part: Thinking) -> str:
        if not part.text and (part.signature or part.redacted or part.encrypted):
            self._losses.drop(part.at, "sealed thinking means nothing to another vendor")
        return part.text

    def _call(self, call: Call) -> dict[str, Any]:
        self._names[call.id] = call.name
        if call.cache is not None:
            self._losses.drop(call.cache.at, "a call bears no cache mark in Chat Completions")
        written = write_call(call)
        for name, value in (call.extra or {}).items():
            if self._client == "chat":
                written[name] = value
            else:
                self._losses.drop(f"{call.at}.{name}", "Chat Completions has no such field")
        return written


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
