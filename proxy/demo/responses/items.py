"""What Responses refuse in `input`: wrong items, and calls and outputs that do not pair.

https://platform.openai.com/docs/api-reference/responses/create#responses-create-input
"""

from __future__ import annotations

from itertools import pairwise

from toolwire.proxy.demo import seals
from toolwire.proxy.demo.neutral import Json
from toolwire.proxy.demo.openai_rules import given, invalid, no_longer, objects, one_of
from toolwire.proxy.demo.refusals import Refusal
from toolwire.proxy.demo.responses.memory import ResponseMemory

_ROLES = ("user", "assistant", "system", "developer")
_ASSISTANT_PARTS = ("output_text", "refusal")
_INPUT_PARTS = ("input_text", "input_image", "input_file", "input_audio")
_CALLS = {"function_call": "arguments", "custom_tool_call": "input"}
_OUTPUTS = {
    "function_call_output": "function_call",
    "custom_tool_call_output": "custom_tool_call",
}
_HOSTED = tuple(
    "file_search_call computer_call computer_call_output web_search_call tool_search_call"
    " tool_search_output additional_tools compaction compaction_trigger image_generation_call"
    " code_interpreter_call local_shell_call local_shell_call_output shell_call shell_call_output"
    " apply_patch_call apply_patch_call_output mcp_list_tools mcp_approval_request"
    " mcp_approval_response mcp_call program program_output configuration_update".split()
)
_ITEMS = ("message", *_CALLS, *_OUTPUTS, "reasoning", "item_reference", *_HOSTED)
_ID_PREFIXES = {"function_call": "fc", "custom_tool_call": "ctc", "reasoning": "rs"}
_LONGEST_CALL_ID = 64
_NOT_FOUND = (
    "Item with id '%s' not found. Items are not persisted when `store` is set to false. Try again"
    " with `store` set to true, or remove this item from your input."
)


def kind_of_item(item: Json) -> str:
    """The type of an input item; one without is a message."""
    return str(item.get("type") or "message")


def conversation(body: Json, memory: ResponseMemory) -> list[Json]:
    """The items of the request after those of the response that it continues.

    Raises Refusal where one of them is not known or not well formed.
    """
    before: list[Json] = []
    if (previous := given(body, "previous_response_id", "a string")) is not None:
        if (stored := memory.get(previous)) is None:
            raise invalid(
                f"Previous response with id '{previous}' not found.",
                "previous_response_id",
                "previous_response_not_found",
            )
        before = stored.conversation
    return before + [_resolved(item, memory) for item in input_items(body)]


def input_items(body: Json) -> list[Json]:
    """The items of `input`, which may be a string. Raises Refusal where one is not well formed."""
    said = given(body, "input", "a string", "an array")
    if isinstance(said, str):
        return [{"type": "message", "role": "user", "content": said}]
    items = objects(body, "input", may_be_empty=True)
    for i, item in enumerate(items):
        _check_item(item, f"input[{i}].")
    return items


def check_pairs(items: list[Json]) -> None:
    """Outputs answer calls before them, calls are answered, thinking is followed by its item."""
    open_calls: dict[str, str] = {}
    answered: set[tuple[str, str]] = set()
    for item, after in pairwise([*items, {"type": "the end"}]):
        kind = kind_of_item(item)
        if kind in _CALLS:
            open_calls[item["call_id"]] = kind
        elif kind in _OUTPUTS:
            call_id = item["call_id"]
            if open_calls.pop(call_id, None) != _OUTPUTS[kind] and (kind, call_id) not in answered:
                what = kind.replace("_", " ")
                raise invalid(f"No tool call found for {what} with call_id {call_id}.", "input")
            answered.add((kind, call_id))
        elif kind == "reasoning" and not _may_follow_thinking(after):
            raise invalid(
                f"Item '{item['id']}' of type 'reasoning' was provided without its required"
                " following item.",
                "input",
            )
    for call_id, kind in open_calls.items():
        raise invalid(f"No tool output found for {kind.replace('_', ' ')} {call_id}.", "input")


def _resolved(item: Json, memory: ResponseMemory) -> Json:
    """The item itself; what it stands for when it is a reference."""
    kind = kind_of_item(item)
    by_id = kind == "item_reference" or (
        kind == "reasoning" and item.get("encrypted_content") is None
    )
    if not by_id:
        return item
    if (known := memory.item(item["id"])) is None:
        raise Refusal(_NOT_FOUND % item["id"], status=404, param="input")
    return known


def _may_follow_thinking(item: Json) -> bool:
    kind = kind_of_item(item)
    return kind == "reasoning" or kind.endswith("_call") or item.get("role") == "assistant"


def _check_item(item: Json, at: str) -> None:
    given(item, "type", "a string", at=at)
    kind = kind_of_item(item)
    one_of(kind, _ITEMS, f"{at}type")
    item_id = given(item, "id", "a string", at=at, required=kind in ("reasoning", "item_reference"))
    prefix = _ID_PREFIXES.get(kind)
    if prefix and item_id is not None and not item_id.startswith(prefix):
        raise invalid(
            f"Invalid '{at}id': '{item_id}'. Expected an ID that begins with '{prefix}'.",
            f"{at}id",
            "invalid_value",
        )
    if kind == "message":
        _check_message(item, at)
    elif kind == "reasoning":
        _check_reasoning(item, at)
    elif kind in _CALLS or kind in _OUTPUTS:
        _check_call_or_output(item, kind, at)


def _check_message(item: Json, at: str) -> None:
    role = given(item, "role", "a string", at=at, required=True)
    one_of(role, _ROLES, f"{at}role")
    if isinstance(given(item, "content", "a string", "an array", at=at, required=True), list):
        _check_parts(item, "content", _ASSISTANT_PARTS if role == "assistant" else _INPUT_PARTS, at)


def _check_parts(item: Json, key: str, allowed: tuple[str, ...], at: str) -> None:
    for i, part in enumerate(objects(item, key, at, may_be_empty=True)):
        where = f"{at}{key}[{i}]"
        one_of(given(part, "type", "a string", at=f"{where}.", required=True), allowed, where)
        if part["type"].endswith("_text"):
            given(part, "text", "a string", at=f"{where}.", required=True)


def _check_reasoning(item: Json, at: str) -> None:
    objects(item, "summary", at, may_be_empty=True)
    sealed = given(item, "encrypted_content", "a string", at=at)
    if sealed is not None and not seals.is_ciphertext(sealed):
        raise invalid(
            f"The encrypted content {sealed[:4]}...{sealed[-4:]} could not be verified.",
            code="invalid_encrypted_content",
        )


def _check_call_or_output(item: Json, kind: str, at: str) -> None:
    call_id = given(item, "call_id", "a string", at=at, required=True)
    no_longer(call_id, _LONGEST_CALL_ID, f"{at}call_id")
    if kind in _CALLS:
        given(item, "name", "a string", at=at, required=True)
        given(item, _CALLS[kind], "a string", at=at, required=True)
    elif isinstance(given(item, "output", "a string", "an array", at=at, required=True), list):
        _check_parts(item, "output", _INPUT_PARTS, at)
