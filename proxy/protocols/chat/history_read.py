"""The messages of a request, read as turns.

https://platform.openai.com/docs/api-reference/chat/create (messages)
"""

from __future__ import annotations

from typing import Any

from toolwire.proxy.protocols.chat import reasoning_blocks
from toolwire.proxy.protocols.chat.content import read_content
from toolwire.proxy.protocols.chat.response import extra_of_call
from toolwire.proxy.protocols.chat.tools_read import read_cache
from toolwire.proxy.protocols.fields import invalid, objects, one_of, optional, required, unknown
from toolwire.proxy.protocols.identifiers import derived_id
from toolwire.proxy.protocols.neutral import (
    Cache,
    Call,
    DocumentPart,
    Image,
    Opaque,
    Part,
    Refusal,
    Result,
    Role,
    Text,
    Thinking,
    Turn,
)

_ROLES = {
    "system": Role.SYSTEM,
    "developer": Role.DEVELOPER,
    "user": Role.USER,
    "assistant": Role.ASSISTANT,
    "tool": Role.USER,
    "function": Role.USER,
}
_KNOWN = frozenset(
    (
        "role",
        "content",
        "name",
        "refusal",
        "tool_calls",
        "tool_call_id",
        "function_call",
        "cache_control",
        "reasoning_content",
        "reasoning",
        reasoning_blocks.BLOCKS,
        reasoning_blocks.VENDOR,
    )
)
_USUAL = frozenset(("role", "content", "tool_calls"))
_USUAL_OF_CALL = frozenset(("id", "type", "function", "custom"))
"""All that most messages and calls have: there is no need to look for more."""


def read_turns(document: dict[str, Any]) -> list[Turn]:
    """One turn for each message.  Raises ``InvalidRequest`` with the path of what is wrong."""
    required(document, "messages", list)
    reader = _Reader()
    return [reader.read(message, at) for at, message in objects(document, "messages")]


class _Reader:
    """Remembers which calls were free-form, and the last of the deprecated calls, which have no
    id."""

    def __init__(self) -> None:
        self._custom: set[str] = set()
        self._legacy_ids: dict[str, str] = {}

    def read(self, message: dict[str, Any], at: str) -> Turn:
        said = one_of(message, "role", _ROLES, at)
        role = _ROLES[said]
        if said in ("tool", "function"):
            return Turn(role, [self._result(message, said, at)], at=at)
        if _USUAL.issuperset(message):
            parts = read_content(message, at)
            if said == "assistant":
                parts += self._calls(message, at)
            return Turn(role, parts, at=at)
        parts = self._assistant(message, at) if said == "assistant" else read_content(message, at)
        parts += _unknown(message, at)
        cache = read_cache(message, at)
        if cache is not None and not _mark_last(parts, cache):
            parts.append(Opaque("chat", {"cache_control": cache.value}, cache.at))
        return Turn(role, parts, name=optional(message, "name", str, at), at=at)

    def _result(self, message: dict[str, Any], said: str, at: str) -> Result:
        if said == "tool":
            call_id = required(message, "tool_call_id", str, at)
        else:
            name = required(message, "name", str, at)
            call_id = self._legacy_ids.get(name, "")
        return Result(
            call_id,
            read_content(message, at),
            custom=call_id in self._custom,
            cache=read_cache(message, at),
            at=at,
        )

    def _assistant(self, message: dict[str, Any], at: str) -> list[Part]:
        parts: list[Part] = [*_read_thinking(message, at), *read_content(message, at)]
        if refusal := optional(message, "refusal", str, at):
            parts.append(Refusal(refusal, at=f"{at}.refusal"))
        parts += self._calls(message, at)
        legacy = optional(message, "function_call", dict, at)
        if legacy is not None and legacy.get("name"):
            parts.append(self._legacy_call(legacy, f"{at}.function_call"))
        return parts

    def _calls(self, message: dict[str, Any], at: str) -> list[Call]:
        return [self._call(call, path) for path, call in objects(message, "tool_calls", at)]

    def _call(self, call: dict[str, Any], at: str) -> Call:
        kind = optional(call, "type", str, at) or "function"
        if kind not in ("function", "custom"):
            raise invalid(f"{at}.type", 'must be "function" or "custom"')
        body = required(call, kind, dict, at)
        inner, text = f"{at}.{kind}", "arguments" if kind == "function" else "input"
        read = Call(
            id=required(call, "id", str, at),
            name=required(body, "name", str, inner),
            arguments=optional(body, text, str, inner) or "",
            at=at,
        )
        if not _USUAL_OF_CALL.issuperset(call):
            read.cache, read.extra = read_cache(call, at), extra_of_call(call)
        if kind == "custom":
            read.custom = True
            self._custom.add(read.id)
        return read

    def _legacy_call(self, call: dict[str, Any], at: str) -> Call:
        name = required(call, "name", str, at)
        arguments = optional(call, "arguments", str, at) or ""
        # the same id in every request of a session: a function of the place and the call
        self._legacy_ids[name] = derived_id("call_", at, name, arguments)
        return Call(self._legacy_ids[name], name, arguments, at=at)


def _read_thinking(message: dict[str, Any], at: str) -> list[Thinking]:
    """The signed blocks that a Messages upstream gave, else the text of the reasoning."""
    blocks = objects(message, reasoning_blocks.BLOCKS, at)
    if signed := reasoning_blocks.read_blocks([block for _, block in blocks]):
        vendor = optional(message, reasoning_blocks.VENDOR, str, at)
        for part in signed:
            part.at, part.vendor = f"{at}.{reasoning_blocks.BLOCKS}", vendor
        return signed
    for name in ("reasoning_content", "reasoning"):
        value = message.get(name)
        if isinstance(value, str) and value:
            return [Thinking(value, origin="chat", at=f"{at}.{name}")]
    return []


def _unknown(message: dict[str, Any], at: str) -> list[Part]:
    """Fields that only Chat Completions, or only this client, knows: no other writer takes them,
    and so each is reported."""
    return [
        Opaque("chat", {name: value}, f"{at}.{name}")
        for name, value in unknown(message, _KNOWN).items()
    ]


def _mark_last(parts: list[Part], cache: Cache) -> bool:
    """Some clients put the cache mark on the message: it means the message's last part."""
    for part in reversed(parts):
        if isinstance(part, Text | Image | DocumentPart | Call):
            if part.cache is None:
                part.cache = cache
            return True
    return False
