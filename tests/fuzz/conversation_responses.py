"""A conversation in the words of OpenAI Responses.

https://platform.openai.com/docs/api-reference/responses/create
"""

from __future__ import annotations

from base64 import b64decode
from typing import Any

from tests.fuzz.conversation import Conversation, Json, Piece, Said, Tool, Turn

FACTS = {
    "max_tokens": "max_output_tokens",
    "temperature": "temperature",
    "top_p": "top_p",
    "user": "user",
    "stream": "stream",
    "parallel": "parallel_tool_calls",
    "own": "own_field",
    "safety_identifier": "safety_identifier",
    "prompt_cache_key": "prompt_cache_key",
    "top_k": "top_k",
}
_MADE_HERE = (
    *("model", "input", "instructions", "tools", "tool_choice", "text", "reasoning"),
    *("store", "include"),
)
_BREAK = "prompt_cache_breakpoint"


# ------------------------------------------------------------------------------------- write
def write(said: Conversation) -> Json:
    document: Json = {"model": "m", "input": []}
    for turn in said.turns:
        if turn.role == "system" and not document["input"] and len(turn.pieces) == 1:
            document["instructions"] = turn.pieces[0].value
        else:
            document["input"] += _items(turn)
    if said.tools:
        document["tools"] = [_tool(tool) for tool in said.tools]
    facts = {name: fact.value for name, fact in said.facts.items()}
    document |= {FACTS[name]: value for name, value in facts.items() if name in FACTS}
    kinds = {tool.name: "custom" if tool.kind == "freeform" else "function" for tool in said.tools}
    if "choice" in facts:
        name = facts["choice"][1:]
        one = {"type": kinds.get(name, "function"), "name": name}
        document["tool_choice"] = one if facts["choice"][0] == ":" else facts["choice"]
    if "allowed" in facts:
        tools = [{"type": kinds[name], "name": name} for name in facts["allowed"]]
        mode = document["tool_choice"]
        document["tool_choice"] = {"type": "allowed_tools", "mode": mode, "tools": tools}
    if "effort" in facts:
        document["reasoning"] = {"effort": facts["effort"]}
    if "form" in facts or "verbosity" in facts:
        document["text"] = _text(facts)
    return document


def _text(facts: Json) -> Json:
    text: Json = {}
    if "verbosity" in facts:
        text["verbosity"] = facts["verbosity"]
    if "form" in facts:
        schema = {"name": "s", "schema": facts["form"], "strict": True, "description": "d"}
        kind = "json_schema" if facts["form"] else "json_object"
        text["format"] = {"type": kind} | (schema if facts["form"] else {})
    return text


def _items(turn: Turn) -> list[Json]:
    """Content of a message as one item, however it is mixed with other items."""
    items: list[Json] = []
    content = [piece for piece in turn.pieces if piece.kind in _CONTENT]
    for piece in turn.pieces:
        if piece.kind not in _CONTENT:
            items.append(_item(piece))
        elif piece is content[0]:
            parts = [_part(one, turn.role) for one in content]
            items.append({"type": "message", "role": turn.role, "content": parts})
    return items


_CONTENT = ("text", "refusal", "image", "file")


def _item(piece: Piece) -> Json:
    match piece.kind:
        case "call":
            text = {"arguments": piece.value}
            return {"type": "function_call", "call_id": piece.id, "name": piece.name, **text}
        case "freeform":
            text = {"input": piece.value}
            return {"type": "custom_tool_call", "call_id": piece.id, "name": piece.name, **text}
        case "result":
            output = [_part(inner, "user") for inner in piece.inside]
            plain = len(output) == 1 and output[0]["type"] == "input_text"
            said = output[0]["text"] if plain else output
            return {"type": "function_call_output", "call_id": piece.id, "output": said}
        case "thinking":
            summary = [{"type": "summary_text", "text": piece.value}]
            return {"type": "reasoning", "id": "rs_1", "summary": summary}
        case "sealed":
            sealed = {"encrypted_content": piece.value}
            return {"type": "reasoning", "id": "rs_1", "summary": [], **sealed}
    return {"type": "web_search_call", "id": "ws_1", "status": "completed"}


def _part(piece: Piece, role: str) -> Json:
    names = {"cache": _BREAK, "cited": "annotations", "detail": "detail"}
    beside = {names[name]: one.value for name, one in piece.beside.items()}
    if piece.kind == "text":
        kind = "output_text" if role == "assistant" else "input_text"
        return {"type": kind, "text": piece.value, **beside}
    if piece.kind == "refusal":
        return {"type": "refusal", "refusal": piece.value}
    if piece.kind == "image":
        where = "file_id" if piece.value.startswith("file-") else "image_url"
        return {"type": "input_image", where: piece.value, **beside}
    name, kind, data = piece.value
    if kind == "url":
        return {"type": "input_file", "file_url": data, **beside}
    data_url = f"data:{kind};base64,{data}"
    return {"type": "input_file", "filename": name, "file_data": data_url, **beside}


def _tool(tool: Tool) -> Json:
    if tool.kind == "hosted":
        hosted: Json = tool.schema
        return hosted
    written: Json = {"type": "custom" if tool.kind == "freeform" else "function", "name": tool.name}
    if tool.description is not None:
        written["description"] = tool.description
    if tool.schema is not None:
        written["format" if tool.kind == "freeform" else "parameters"] = tool.schema
    return written | {name: one.value for name, one in tool.beside.items()}


# -------------------------------------------------------------------------------------- read
def read(document: Json, *, sent: bool = False) -> Conversation:
    """``sent`` makes no difference in this protocol."""
    said = Conversation([])
    if instructions := document.get("instructions"):
        pieces = [Piece("text", instructions, at="instructions")]
        said.turns.append(Turn("system", pieces, at="instructions"))
    for place, item in enumerate(document["input"]):
        said.turns.append(read_item(item, f"input[{place}]"))
    for place, tool in enumerate(document.get("tools") or ()):
        said.tools.append(_read_tool(tool, f"tools[{place}]"))
    names = {wire: name for name, wire in FACTS.items()}
    for wire, value in document.items():
        if wire not in _MADE_HERE:
            said.facts[names.get(wire, wire)] = Said(value, wire)
    _read_text(document.get("text", {}), said.facts)
    if "effort" in (reasoning := document.get("reasoning", {})):
        said.facts["effort"] = Said(reasoning["effort"], "reasoning")
    if (choice := document.get("tool_choice")) is not None:
        _read_choice(choice, said.facts)
    return said


def _read_text(text: Json, facts: dict[str, Said]) -> None:
    if "verbosity" in text:
        facts["verbosity"] = Said(text["verbosity"], "text.verbosity")
    if (form := text.get("format")) is not None:
        facts["form"] = Said(form.get("schema", {}), "text.format")
        for name in ("name", "strict", "description"):
            if name in form:
                facts[f"form.{name}"] = Said(form[name], f"text.format.{name}")


def _read_choice(choice: Any, facts: dict[str, Said]) -> None:
    if isinstance(choice, dict) and choice["type"] == "allowed_tools":
        facts["allowed"] = Said([tool["name"] for tool in choice["tools"]])
        choice = choice["mode"]
    word = choice if isinstance(choice, str) else ":" + choice["name"]
    facts["choice"] = Said(word, "tool_choice")


def read_item(item: Json, at: str) -> Turn:
    match item["type"]:
        case "message":
            return Turn(item["role"], _pieces(item["content"], f"{at}.content"), at=at)
        case "function_call":
            call = Piece("call", item["arguments"], item["call_id"], item["name"], at=at)
            return Turn("assistant", [call], at=at)
        case "custom_tool_call":
            call = Piece("freeform", item["input"], item["call_id"], item["name"], at=at)
            return Turn("assistant", [call], at=at)
        case "function_call_output" | "custom_tool_call_output":
            inside = _pieces(item["output"], f"{at}.output")
            return Turn("user", [Piece("result", id=item["call_id"], inside=inside, at=at)], at=at)
        case "reasoning":
            text = "".join(part["text"] for part in item["summary"])
            sealed = item.get("encrypted_content", "")
            piece = Piece("thinking", text, at=at) if text else Piece("sealed", sealed, at=at)
            return Turn("assistant", [piece], at=at)
    return Turn("assistant", [Piece("opaque", at=at)], at=at)


def _pieces(content: Any, at: str) -> list[Piece]:
    if isinstance(content, str):
        return [Piece("text", content, at=at)] if content else []
    return [_piece(part, f"{at}[{place}]") for place, part in enumerate(content)]


def _piece(part: Json, at: str) -> Piece:
    beside = {}
    for name, wire in (("cache", _BREAK), ("cited", "annotations"), ("detail", "detail")):
        if part.get(wire) and part[wire] != "auto":
            beside[name] = Said(part[wire], f"{at}.{wire}")
    match part["type"]:
        case "input_text" | "output_text":
            return Piece("text", part["text"], beside=beside, at=at)
        case "refusal":
            return Piece("refusal", part["refusal"], at=at)
        case "input_image":
            url = part.get("image_url") or part["file_id"]
            return Piece("image", url, beside=beside, at=at)
    return Piece("file", _file(part), beside=beside, at=at)


def _file(part: Json) -> tuple[str, str, str]:
    name = part.get("filename", "")
    if "file_data" not in part:
        if "file_url" in part:
            return name, "url", part["file_url"]
        return name, "id", part["file_id"]
    kind, _, data = part["file_data"].removeprefix("data:").partition(";base64,")
    return name, kind, b64decode(data).decode() if kind == "text/plain" else data


def _read_tool(tool: Json, at: str) -> Tool:
    if tool["type"] == "custom":
        form = tool.get("format")
        return Tool("freeform", tool["name"], tool.get("description"), form, at=at)
    if tool["type"] != "function":
        return Tool("hosted", schema=tool, at=at)
    read = Tool("function", tool["name"], tool.get("description"), tool.get("parameters"), at=at)
    for name in ("strict", "own"):
        if name in tool:
            read.beside[name] = Said(tool[name], f"{at}.{name}")
    return read
