"""The items of a client's ``input``, read: one turn for each.

https://platform.openai.com/docs/api-reference/responses/create (``input``)
"""

from __future__ import annotations

from typing import Any

from toolwire.proxy.protocols import json
from toolwire.proxy.protocols.fields import invalid, objects, one_of, optional, required, wrong_type
from toolwire.proxy.protocols.neutral import Call, Opaque, Part, Result, Role, Text, Turn
from toolwire.proxy.protocols.responses.content import read_content
from toolwire.proxy.protocols.responses.namespaces import SEARCH
from toolwire.proxy.protocols.responses.reasoning import read_reasoning
from toolwire.proxy.protocols.responses.tools import Toolbox

_FOUND = "[These tools were found, and can be called from now on: {}]"
_FOUND_NONE = "[No tools were found.]"
_ROLES = {role.value: role for role in Role}


def read_items(document: dict[str, Any], toolbox: Toolbox) -> list[Turn]:
    """The turns; ``toolbox`` gets the tools that the items bring along.

    Raises ``InvalidRequest`` with the path of a field of a wrong type.
    """
    return [_read_item(item, at, toolbox) for at, item in objects(document, "input")]


def _read_item(item: dict[str, Any], at: str, toolbox: Toolbox) -> Turn:
    kind = item.get("type")
    if kind is None:
        # both may leave it out: messages have a role, references nothing but an id
        kind = "message" if "role" in item else "item_reference" if "id" in item else None
    if not isinstance(kind, str):
        path = f"{at}.type"
        if "type" in item:
            raise wrong_type(kind, "a string", path)
        raise invalid(path, "is missing")
    match kind:
        case "message":
            role = one_of(item, "role", _ROLES, at)
            return Turn(_ROLES[role], read_content(item, "content", at), at=at)
        case "function_call" | "custom_tool_call":
            call = _read_call(item, at, toolbox, custom=kind.startswith("custom"))
            return _assistant(call, at)
        case "function_call_output" | "custom_tool_call_output":
            result = _read_result(item, at, custom=kind.startswith("custom"))
            return Turn(Role.USER, [result], at=at)
        case "reasoning":
            _check_reasoning(item, at)
            return Turn(Role.ASSISTANT, list(read_reasoning(item, at)), at=at)
        case "additional_tools":
            toolbox.add(item, at)
            return Turn(Role.DEVELOPER, [], at=at)
        case "tool_search_call" | "tool_search_output" if item.get("call_id") is not None:
            return _read_search(item, at, toolbox)
    role = "user" if kind.endswith(("_output", "_response")) else "assistant"
    return Turn(_ROLES[role], [Opaque("responses", item, at=at)], at=at)


def _assistant(part: Part, at: str) -> Turn:
    return Turn(Role.ASSISTANT, [part], at=at)


def _read_call(item: dict[str, Any], at: str, toolbox: Toolbox, *, custom: bool) -> Call:
    name = required(item, "name", str, at)
    return Call(
        id=required(item, "call_id", str, at),  # ``id`` names the item, and answers nothing
        name=toolbox.called(optional(item, "namespace", str, at), name),
        arguments=optional(item, "input" if custom else "arguments", str, at) or "",
        custom=custom,
        at=at,
    )


def _read_result(item: dict[str, Any], at: str, *, custom: bool) -> Result:
    parts = read_content(item, "output", at)
    call_id = optional(item, "call_id", str, at)
    if call_id is None:
        # what a tool says of itself: Codex brings messages from other conversations so
        name = optional(item, "name", str, at) or ""
        return Result("", parts, custom=custom, at=at, uncalled=name)
    return Result(call_id, parts, custom=custom, at=at)


def _read_search(item: dict[str, Any], at: str, toolbox: Toolbox) -> Turn:
    """A search for tools that the client runs, or what it found: tools from then on."""
    call_id = required(item, "call_id", str, at)
    if item["type"] == "tool_search_call":
        wanted = item.get("arguments") or {}
        arguments = wanted if isinstance(wanted, str) else json.encode_text(wanted)
        return _assistant(Call(call_id, SEARCH, arguments, at=at), at)
    names = toolbox.add(item, at)
    found = _FOUND.format(", ".join(names)) if names else _FOUND_NONE
    return Turn(Role.USER, [Result(call_id, [Text(found, at=at)], at=at)], at=at)


def _check_reasoning(item: dict[str, Any], at: str) -> None:
    optional(item, "encrypted_content", str, at)
    for name in ("summary", "content"):
        for where, part in objects(item, name, at):
            optional(part, "text", str, where)
