"""What Messages refuses in `messages`: wrong blocks, and calls and results that do not pair.

https://docs.anthropic.com/en/docs/agents-and-tools/tool-use/implement-tool-use
https://docs.anthropic.com/en/docs/build-with-claude/extended-thinking
"""

from __future__ import annotations

from msgspec import Struct

from toolwire.proxy.demo import seals
from toolwire.proxy.demo.messages.rules import (
    ID,
    dictionaries,
    field,
    matches,
    no_extras,
    one_of,
    text_has_content,
    thinking_type,
)
from toolwire.proxy.demo.neutral import Json
from toolwire.proxy.demo.refusals import Refusal

_ROLES = ("user", "assistant", "system")
_FIELDS = {  # block: the fields that it has; a block that is not listed is taken as it is
    "text": frozenset("type text cache_control citations".split()),
    "thinking": frozenset("type thinking signature".split()),
    "tool_use": frozenset("type id name input cache_control caller toolset_name".split()),
    "tool_result": frozenset(
        "type tool_use_id content is_error cache_control toolset_name".split()
    ),
}
_ONLY_FROM = {
    "tool_use": "assistant",
    "thinking": "assistant",
    "redacted_thinking": "assistant",
    "tool_result": "user",
    "image": "user",
    "document": "user",
}
_NO_PREFILL = (
    "This model does not support assistant message prefill. The conversation must end with a user"
    " message."
)
_CALL_WITHOUT_RESULT = (
    "`tool_use` ids were found without `tool_result` blocks immediately after: %s. Each `tool_use`"
    " block must have a corresponding `tool_result` block in the next message."
)
_RESULT_WITHOUT_CALL = (
    "unexpected `tool_use_id` found in `tool_result` blocks: %s. Each `tool_result` block must have"
    " a corresponding `tool_use` block in the previous message."
)
_SECOND_RESULT = (
    "each tool_use must have a single result. Found multiple `tool_result` blocks with id: %s"
)
_NO_THINKING = (
    "Expected `thinking` or `redacted_thinking`, but found `%s`. When `thinking` is enabled, a"
    " final `assistant` message must start with a thinking block (preceeding the lastmost set of"
    " `tool_use` and `tool_result` blocks). To avoid this requirement, disable `thinking`."
)


class Turn(Struct, frozen=True):
    """Messages of one role in a row: the vendor takes them as one."""

    role: str
    at: int
    """Index of the first message."""
    blocks: list[Json]


def turns(messages: list[Json]) -> list[Turn]:
    """The conversation in turns, without the system messages in it."""
    out: list[Turn] = []
    for i, message in enumerate(messages):
        if message["role"] == "system":
            continue
        content = message["content"]
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        if out and out[-1].role == message["role"]:
            out[-1].blocks.extend(blocks)
        else:
            out.append(Turn(message["role"], i, list(blocks)))
    return out


def check_messages(body: Json) -> None:
    """Raises Refusal for the first message that is wrong in itself or in its place."""
    field(body, "messages", "list")
    messages = dictionaries(body, "messages")
    if not messages:
        raise Refusal("messages: at least one message is required")
    for i, message in enumerate(messages):
        _check_message(message, f"messages.{i}.")
    conversation = turns(messages)
    if not conversation:
        raise Refusal('messages: first message must use the "user" role')
    _check_pairs(conversation)
    if conversation[-1].role == "assistant":
        raise Refusal(_NO_PREFILL)
    if thinking_type(body) == "enabled":
        _check_open_turn_thinks(conversation)


def _check_message(message: Json, at: str) -> None:
    no_extras(message, frozenset({"role", "content"}), at)
    role = field(message, "role", "string", at=at)
    one_of(role, _ROLES, f"{at}role")
    content = field(message, "content", "string", "list", at=at)
    if not content:
        raise Refusal(f"{at.removesuffix('.')}: {role} messages must have non-empty content")
    if isinstance(content, str):
        text_has_content(content, "messages")
        return
    for i, block in enumerate(dictionaries(message, "content", at)):
        _check_block(block, role, f"{at}content.{i}")


def _check_block(block: Json, role: str, at: str) -> None:
    kind = field(block, "type", "string", at=f"{at}.")
    if _ONLY_FROM.get(kind, role) != role:
        raise Refusal(f"{at}: `{kind}` blocks can only be in `{_ONLY_FROM[kind]}` messages")
    if kind in _FIELDS:
        no_extras(block, _FIELDS[kind], f"{at}.{kind}.")
    inside = f"{at}.{kind}."
    if kind == "text":
        text_has_content(field(block, "text", "string", at=inside), "messages")
    elif kind == "tool_use":
        matches(field(block, "id", "string", at=inside), ID, f"{inside}id")
        field(block, "name", "string", at=inside)
        field(block, "input", "dictionary", at=inside)
    elif kind == "tool_result":
        _check_result(block, inside)
    elif kind == "thinking":
        field(block, "signature", "string", at=inside)
        if not seals.is_signature(block["signature"], block.get("thinking")):
            raise Refusal(f"{at}: Invalid `signature` in `thinking` block")
    elif kind == "redacted_thinking" and not seals.is_ciphertext(block.get("data")):
        raise Refusal(f"{at}: Invalid `data` in `redacted_thinking` block")


def _check_result(block: Json, at: str) -> None:
    matches(field(block, "tool_use_id", "string", at=at), ID, f"{at}tool_use_id")
    field(block, "is_error", "boolean", at=at, required=False)
    if isinstance(field(block, "content", "string", "list", at=at, required=False), list):
        for i, part in enumerate(dictionaries(block, "content", at)):
            if field(part, "type", "string", at=f"{at}content.{i}.") == "text":
                text_has_content(field(part, "text", "string", at=f"{at}content.{i}."), "messages")


def _check_pairs(conversation: list[Turn]) -> None:
    """Each turn's calls are answered first thing in the next turn, and nothing else is answered."""
    calls: list[str] = []
    seen: set[str] = set()
    before = conversation[0]
    for turn in [*conversation, Turn("the end", 0, [])]:
        _check_results(turn, calls, before)
        calls = [block["id"] for block in turn.blocks if block["type"] == "tool_use"]
        if len(set(calls)) < len(calls) or seen & set(calls):
            raise Refusal("messages: `tool_use` ids must be unique")
        seen.update(calls)
        before = turn


def _check_results(turn: Turn, calls: list[str], before: Turn) -> None:
    kinds = [block["type"] for block in turn.blocks]
    results = [block["tool_use_id"] for block in turn.blocks if block["type"] == "tool_result"]
    for i, used in enumerate(results):
        at = f"messages.{turn.at}.content.{kinds.index('tool_result') + i}"
        if used not in calls:
            raise Refusal(f"{at}: {_RESULT_WITHOUT_CALL % used}")
        if used in results[:i]:
            raise Refusal(f"{at}: {_SECOND_RESULT % used}")
    leading = results if kinds[: len(results)] == ["tool_result"] * len(results) else []
    missing = [call for call in calls if call not in leading]
    if missing:
        raise Refusal(f"messages.{before.at}: {_CALL_WITHOUT_RESULT % ', '.join(missing)}")


def _check_open_turn_thinks(conversation: list[Turn]) -> None:
    """With thinking enabled, the turn that the last results answer begins with its thinking."""
    if not any(block["type"] == "tool_result" for block in conversation[-1].blocks):
        return
    turn = conversation[-2]
    found = turn.blocks[0]["type"]
    if found not in ("thinking", "redacted_thinking"):
        raise Refusal(f"messages.{turn.at}.content.0.type: {_NO_THINKING % found}")
