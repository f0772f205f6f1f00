"""The items of a client's ``input``, read: one turn for each.

https://platform.openai.com/docs/api-reference/responses/create (``input``)
"""

from __future__ import annotations

from typing import Any

from toolwire.proxy.protocols.fields import invalid, objects, one_of, optional, required, wrong_type
from toolwire.proxy.protocols.neutral import Call, Opaque, Part, Result, Role, Turn
from toolwire.proxy.protocols.responses.content import read_content
from toolwire.proxy.protocols.responses.namespaces import flat_name, namespaced_names
from toolwire.proxy.protocols.responses.reasoning import read_reasoning

_ROLES = {role.value: role for role in Role}


def read_items(document: dict[str, Any]) -> list[Turn]:
    """Raises ``InvalidRequest`` with the path of a field of a wrong type."""
    known = namespaced_names(document)
    return [_read_item(item, at, known) for at, item in objects(document, "input")]


def _read_item(item: dict[str, Any], at: str, known: dict[str, tuple[str, str]]) -> Turn:
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
        case "function_call":
            arguments = optional(item, "arguments", str, at) or ""
            return _assistant(_read_call(item, at, known, arguments, custom=False), at)
        case "custom_tool_call":
            text = optional(item, "input", str, at) or ""
            return _assistant(_read_call(item, at, known, text, custom=True), at)
        case "function_call_output" | "custom_tool_call_output":
            result = _read_result(item, at, custom=kind.startswith("custom"))
            return Turn(Role.USER, [result], at=at)
        case "reasoning":
            _check_reasoning(item, at)
            return Turn(Role.ASSISTANT, list(read_reasoning(item, at)), at=at)
    role = "user" if kind.endswith(("_output", "_response")) else "assistant"
    return Turn(_ROLES[role], [Opaque("responses", item, at=at)], at=at)


def _assistant(part: Part, at: str) -> Turn:
    return Turn(Role.ASSISTANT, [part], at=at)


def _read_call(
    item: dict[str, Any], at: str, known: dict[str, tuple[str, str]], text: str, *, custom: bool
) -> Call:
    name = required(item, "name", str, at)
    flat = flat_name(optional(item, "namespace", str, at), name)
    return Call(
        id=required(item, "call_id", str, at),  # ``id`` names the item, and answers nothing
        name=flat if flat in known else name,
        arguments=text,
        custom=custom,
        at=at,
    )


def _read_result(item: dict[str, Any], at: str, *, custom: bool) -> Result:
    call_id = required(item, "call_id", str, at)
    return Result(call_id, read_content(item, "output", at), custom=custom, at=at)


def _check_reasoning(item: dict[str, Any], at: str) -> None:
    optional(item, "encrypted_content", str, at)
    for name in ("summary", "content"):
        for where, part in objects(item, name, at):
            optional(part, "text", str, where)
