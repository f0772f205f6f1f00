"""The output items of an answer, read and written.

https://platform.openai.com/docs/api-reference/responses/object (``output``)
"""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from toolwire.proxy.protocols import json
from toolwire.proxy.protocols.citations import url_citations
from toolwire.proxy.protocols.identifiers import random_id
from toolwire.proxy.protocols.logprobs import read_tokens
from toolwire.proxy.protocols.neutral import Call, Losses, Opaque, Part, Refusal, Text, Thinking
from toolwire.proxy.protocols.responses.namespaces import OwnNames
from toolwire.proxy.protocols.responses.reasoning import read_reasoning, reasoning_item
from toolwire.proxy.protocols.responses.wire import ID_PREFIX

Item = dict[str, Any]


# ----------------------------------------------------------------------------------- reading
def read_output(items: list[Any]) -> list[Part]:
    """The parts of all items, in order; takes whatever an upstream may have sent."""
    return [part for item in items if isinstance(item, dict) for part in read_item(item)]


def read_item(item: Item) -> list[Part]:
    """The parts of one item; an item of an unknown type stays opaque."""
    match item.get("type"):
        case "message":
            content = item.get("content")
            parts = content if isinstance(content, list) else []
            return [read for part in parts if (read := _read_content(part)) is not None]
        case "function_call" | "custom_tool_call":
            return [read_call(item)]
        case "reasoning":
            return list(read_reasoning(item))
    return [Opaque("responses", item)]


def _read_content(part: Any) -> Part | None:
    match part:
        case {"type": "output_text", "text": str(text)}:
            citations = read_annotations(part.get("annotations"))
            return Text(text, citations=citations, logprobs=read_tokens(part.get("logprobs")))
        case {"type": "refusal", "refusal": str(text)}:
            return Refusal(text)
        case {"type": str()}:
            return Opaque("responses", part)
    return None


def read_annotations(value: Any) -> Opaque | None:
    """The citations of a text; None where it has none."""
    return Opaque("responses", value) if isinstance(value, list) and value else None


def read_call(item: Item) -> Call:
    """A call, even one that lacks something; ``call_id`` is its id, not the item's ``id``."""
    custom = item.get("type") == "custom_tool_call"
    call_id = item.get("call_id") or item.get("id")
    name = item.get("name")
    return Call(
        id=call_id if isinstance(call_id, str) else random_id("call_"),
        name=name if isinstance(name, str) else "",
        arguments=arguments_text(item.get("input" if custom else "arguments")),
        custom=custom,
    )


def arguments_text(value: Any) -> str:
    """Arguments as text: some upstreams send the object itself, or null."""
    if isinstance(value, str):
        return value
    return "" if value is None else json.encode_text(value)


def is_whole(arguments: str) -> bool:
    """Whether nothing is missing of the arguments of a call."""
    try:
        json.decode(arguments)
    except ValueError:
        return False
    return True


# ----------------------------------------------------------------------------------- writing
def write_output(
    parts: list[Part], response_id: str, names: OwnNames, losses: Losses, *, unfinished: bool
) -> list[Item]:
    """The items of ``parts``; ``unfinished``: the last of them was cut short."""
    kept: list[Part] = []
    for part in parts:
        told = cited(part, len(kept), losses) if isinstance(part, Text) else part
        if is_item(told):
            kept.append(told)
    return [
        write_item(
            part,
            item_id(part, response_id, index, names),
            names,
            status="incomplete" if unfinished and index == len(kept) - 1 else "completed",
        )
        for index, part in enumerate(kept)
    ]


def cited(text: Text, index: int, losses: Losses) -> Text:
    """``text``, which is the item at ``index``, with its citations in this protocol's words."""
    if text.citations is None:
        return text
    annotations = url_citations(text, f"output[{index}].content[0].annotations", losses)
    return replace(text, citations=Opaque("responses", annotations))


def item_type(part: Part) -> str | None:
    """The type of the item that carries such a part; None where no item does."""
    match part:
        case Text() | Refusal():
            return "message"
        case Thinking():
            return "reasoning"
        case Call():
            return "custom_tool_call" if part.custom else "function_call"
        case Opaque("responses", dict() as value):
            return str(value.get("type"))
    return None


def is_item(part: Part) -> bool:
    """Whether there is anything in ``part`` to make an item of."""
    match part:
        case Text(text) | Refusal(text):
            return text != ""
        case Thinking():
            return bool(part.text or part.signature or part.redacted or part.encrypted)
    return item_type(part) is not None


def item_id(part: Part, response_id: str, index: int, names: OwnNames) -> str:
    """The id of the item at ``index``: as unique as that of its response."""
    kind = "tool_search_call" if is_search(part, names) else item_type(part)
    prefix = ID_PREFIX.get(kind or "", "item_")
    return f"{prefix}{response_id.removeprefix('resp_')}_{index}"


def is_search(part: Part, names: OwnNames) -> bool:
    """Whether ``part`` is a call of the tool search, which has an item of its own."""
    own = names.get(part.name) if isinstance(part, Call) else None
    return own is not None and own.search


def write_item(part: Part, item_id: str, names: OwnNames, *, status: str) -> Item:
    """One item.  ``names`` are those of the client's tools."""
    match part:
        case Text():
            return message_item(item_id, [text_part(part)], status)
        case Refusal(text):
            return message_item(item_id, [{"type": "refusal", "refusal": text}], status)
        case Thinking():
            return reasoning_item(item_id, part)
        case Call():
            arguments = part.arguments if part.custom else part.arguments or "{}"
            return call_item(item_id, part, arguments, names, status)
        case Opaque(value=value):
            return {"id": item_id, **value}
    raise TypeError(f"no item carries {type(part).__name__}")


def message_item(item_id: str, content: list[Item], status: str) -> Item:
    return {
        "id": item_id,
        "type": "message",
        "status": status,
        "role": "assistant",
        "content": content,
    }


def text_part(text: Text) -> Item:
    return {
        "type": "output_text",
        "annotations": text.citations.value if text.citations is not None else [],
        "logprobs": text.logprobs or [],
        "text": text.text,
    }


def call_item(item_id: str, call: Call, arguments: str, names: OwnNames, status: str) -> Item:
    """A call with ``arguments`` (so far), under the names that the client gave the tool."""
    own = names.get(call.name)
    if own is not None and own.search:
        return _search_item(item_id, call, arguments, status)
    item: Item = {
        "id": item_id,
        "type": "custom_tool_call" if call.custom else "function_call",
        "status": status,
        "call_id": call.id,
        "name": call.name if own is None else own.name,
        "input" if call.custom else "arguments": arguments,
    }
    if own is not None and own.namespace is not None:
        item["namespace"] = own.namespace
    return item


def _search_item(item_id: str, call: Call, arguments: str, status: str) -> Item:
    try:
        wanted = json.decode(arguments or "{}")
    except ValueError:
        wanted = arguments
    return {
        "id": item_id,
        "type": "tool_search_call",
        "status": status,
        "call_id": call.id,
        "execution": "client",
        "arguments": wanted,
    }
