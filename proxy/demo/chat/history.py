"""What Chat Completions refuses in `messages`: wrong forms, calls and results that do not pair."""

from __future__ import annotations

from collections.abc import Sequence

from toolwire.proxy.demo.neutral import Json
from toolwire.proxy.demo.openai_rules import given, invalid, no_longer, objects, one_of

_ROLES = ("system", "assistant", "user", "function", "tool", "developer")
_PARTS = {  # role: the content parts that it may have
    "system": ("text",),
    "developer": ("text",),
    "tool": ("text",),
    "function": ("text",),
    "user": ("text", "image_url", "input_audio", "file"),
    "assistant": ("text", "refusal"),
}
_LONGEST_ID = 40
_RESULT_WITHOUT_CALL = (
    "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with"
    " 'tool_calls'."
)
_CALL_WITHOUT_RESULT = (
    "An assistant message with 'tool_calls' must be followed by tool messages responding to each"
    " 'tool_call_id'. The following tool_call_ids did not have response messages: "
)


def check_messages(body: Json) -> None:
    """Raises Refusal for the first message that is wrong in itself or in its place."""
    messages = objects(body, "messages", required=True)
    for i, message in enumerate(messages):
        _check_message(message, f"messages[{i}].")
    _check_pairs(messages)


def _check_message(message: Json, at: str) -> None:
    role = given(message, "role", "a string", at=at, required=True)
    one_of(role, _ROLES, at + "role")
    calls = objects(message, "tool_calls", at) if role == "assistant" else []
    for i, call in enumerate(calls):
        _check_call(call, f"{at}tool_calls[{i}].")
    if role == "tool":
        given(message, "tool_call_id", "a string", at=at, required=True)
    _check_content(
        message,
        role,
        at,
        optional=bool(calls or message.get("function_call") or message.get("refusal")),
    )


def _check_content(message: Json, role: str, at: str, optional: bool) -> None:
    content = given(message, "content", "a string", "an array", at=at)
    if content is None and not optional:
        if "content" in message:
            raise invalid(
                "Invalid value for 'content': expected a string, got null.", f"{at}content"
            )
        given(message, "content", at=at, required=True)
    if not isinstance(content, list):
        return
    for i, part in enumerate(objects(message, "content", at, may_be_empty=optional)):
        where = f"{at}content[{i}]."
        kind = given(part, "type", "a string", at=where, required=True)
        one_of(kind, _PARTS[role], where + "type")
        given(part, kind, "a string", "an object", at=where, required=True)


def _check_call(call: Json, at: str) -> None:
    no_longer(given(call, "id", "a string", at=at, required=True), _LONGEST_ID, at + "id")
    kind = given(call, "type", "a string", at=at, required=True)
    one_of(kind, ("function", "custom"), at + "type")
    inner = given(call, kind, "an object", at=at, required=True)
    at = f"{at}{kind}."
    given(inner, "name", "a string", at=at, required=True)
    given(inner, "arguments" if kind == "function" else "input", "a string", at=at, required=True)


def _check_pairs(messages: Sequence[Json]) -> None:
    """Each call is answered by a tool message right after it, and each tool message answers one."""
    open_ids: list[str] = []
    for i, message in enumerate([*messages, {"role": "the end"}]):
        if message["role"] == "tool":
            if message["tool_call_id"] not in open_ids:
                raise invalid(_RESULT_WITHOUT_CALL, f"messages.[{i}].role")
            open_ids.remove(message["tool_call_id"])
            continue
        if open_ids:
            raise invalid(_CALL_WITHOUT_RESULT + ", ".join(open_ids), f"messages.[{i}].role")
        open_ids = [call["id"] for call in message.get("tool_calls") or ()]
