"""A conversation in the words of Anthropic Messages.

https://docs.anthropic.com/en/api/messages
"""

from __future__ import annotations

from typing import Any

from tests.fuzz.conversation import Conversation, Json, Piece, Raw, Said, Tool, Turn

FACTS = {
    "max_tokens": "max_tokens",
    "temperature": "temperature",
    "top_p": "top_p",
    "stop": "stop_sequences",
    "stream": "stream",
    "own": "own_field",
    "top_k": "top_k",
}
_MADE_HERE = ("model", "messages", "system", "tools", "tool_choice")
_CHOICES = {"auto": "auto", "none": "none", "required": "any"}
_BUDGET = 1024


# ------------------------------------------------------------------------------------- write
def write(said: Conversation) -> Json:
    document: Json = {"model": "m", "messages": []}
    for turn in said.turns:
        if turn.role == "system" and not document["messages"]:
            document["system"] = _content(turn.pieces)
        elif turn.pieces:
            content = _content(turn.pieces)
            document["messages"].append({"role": turn.role, "content": content})
    if said.tools:
        document["tools"] = [_tool(tool) for tool in said.tools]
    facts = {name: fact.value for name, fact in said.facts.items()}
    document |= {FACTS[name]: value for name, value in facts.items() if name in FACTS}
    if "user" in facts:
        document["metadata"] = {"user_id": facts["user"]}
    if "form" in facts:
        document["output_config"] = {"format": {"type": "json_schema", "schema": facts["form"]}}
    if (effort := facts.get("effort")) == "none":
        document["thinking"] = {"type": "disabled"}
    elif effort is not None:
        document["thinking"] = {"type": "enabled", "budget_tokens": _BUDGET}
    if "choice" in facts or facts.get("parallel") is False:
        document["tool_choice"] = _choice(facts)
    return document


def _choice(facts: Json) -> Json:
    word = facts.get("choice", "auto")
    choice: Json = (
        {"type": "tool", "name": word[1:]} if word[0] == ":" else {"type": _CHOICES[word]}
    )
    if not facts.get("parallel", True):
        choice["disable_parallel_tool_use"] = True
    return choice


def _content(pieces: list[Piece]) -> str | list[Json]:
    if len(pieces) == 1 and pieces[0].kind == "text" and not pieces[0].beside:
        text: str = pieces[0].value
        return text
    return [_block(piece) | _mark(piece.beside) for piece in pieces]


def _mark(beside: dict[str, Said]) -> Json:
    names = {"cache": "cache_control", "cited": "citations", "title": "title"}
    return {names[name]: one.value for name, one in beside.items() if name in names}


def _block(piece: Piece) -> Json:
    match piece.kind:
        case "text":
            return {"type": "text", "text": piece.value}
        case "image":
            return {"type": "image", "source": _source(piece.value)}
        case "file":
            return _file(*piece.value)
        case "thinking":
            return {"type": "thinking", "thinking": piece.value, "signature": piece.id}
        case "sealed":
            return {"type": "redacted_thinking", "data": piece.value}
        case "call":
            called = {"id": piece.id, "name": piece.name, "input": Raw(piece.value)}
            return {"type": "tool_use", **called}
        case "result":
            failed = {"is_error": True} if piece.failed else {}
            inside = {"content": _content(piece.inside)} if piece.inside else {}
            return {"type": "tool_result", "tool_use_id": piece.id, **inside, **failed}
    return {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}}


def _source(url: str) -> Json:
    if url.startswith("file-"):
        return {"type": "file", "file_id": url}
    if not url.startswith("data:"):
        return {"type": "url", "url": url}
    media_type, _, data = url.removeprefix("data:").partition(";base64,")
    return {"type": "base64", "media_type": media_type, "data": data}


def _file(name: str, kind: str, data: str) -> Json:
    source = {"type": "base64", "media_type": kind, "data": data}
    if kind == "url":
        source = {"type": "url", "url": data}
    elif kind == "text/plain":
        source["type"] = "text"
    return {"type": "document", "source": source} | ({"title": name} if name else {})


def _tool(tool: Tool) -> Json:
    if tool.kind == "hosted":
        hosted: Json = tool.schema
        return hosted
    written: Json = {"name": tool.name}
    if tool.description is not None:
        written["description"] = tool.description
    if tool.schema is not None:
        written["input_schema"] = tool.schema
    names = {"cache": "cache_control"}
    return written | {names.get(name, name): one.value for name, one in tool.beside.items()}


# -------------------------------------------------------------------------------------- read
def read(document: Json, *, sent: bool = False) -> Conversation:
    """``sent`` makes no difference in this protocol."""
    said = Conversation([])
    if (system := document.get("system")) is not None:
        said.turns.append(Turn("system", _pieces(system, "system"), at="system"))
    for place, message in enumerate(document["messages"]):
        at = f"messages[{place}]"
        pieces = _pieces(message["content"], f"{at}.content")
        said.turns.append(Turn(message["role"], pieces, at=at))
    for place, tool in enumerate(document.get("tools") or ()):
        said.tools.append(_read_tool(tool, f"tools[{place}]"))
    for wire, value in _flat(document).items():
        name = _NAMES.get(wire, wire)
        if wire not in _MADE_HERE:
            said.facts[name] = Said(value, wire)
    _read_thinking(said.facts)
    if (choice := document.get("tool_choice")) is not None:
        words = {wire: word for word, wire in _CHOICES.items()}
        word = words.get(choice["type"]) or ":" + choice["name"]
        said.facts["choice"] = Said(word, "tool_choice")
        if choice.get("disable_parallel_tool_use"):
            path = "tool_choice.disable_parallel_tool_use"
            said.facts["parallel"] = Said(False, path)
    return said


_NAMES = {wire: name for name, wire in FACTS.items()} | {
    "metadata.user_id": "user",
    "output_config.format": "form",
    "output_config.effort": "effort",
}


def _flat(document: Json) -> Json:
    """With the fields of its objects under their paths."""
    flat = {name: value for name, value in document.items() if name not in _OBJECTS}
    for outer in _OBJECTS:
        flat |= {f"{outer}.{name}": value for name, value in document.get(outer, {}).items()}
    return flat


_OBJECTS = ("metadata", "output_config")


def _read_thinking(facts: dict[str, Said]) -> None:
    if (form := facts.get("form")) is not None:
        form.value = form.value["schema"]
    if (thinking := facts.pop("thinking", None)) is not None:
        kind = thinking.value["type"]
        facts["effort"] = Said("none" if kind == "disabled" else "some", "thinking")


def _pieces(content: Any, at: str) -> list[Piece]:
    if isinstance(content, str):
        return [Piece("text", content, at=at)]
    pieces = []
    for place, block in enumerate(content):
        where = f"{at}[{place}]"
        piece = _piece(block, where)
        piece.at = where
        for name, wire in (("cache", "cache_control"), ("cited", "citations")):
            if wire in block:
                piece.beside[name] = Said(block[wire], f"{where}.{wire}")
        pieces.append(piece)
    return pieces


def _piece(block: Json, at: str) -> Piece:
    match block["type"]:
        case "text":
            return Piece("text", block["text"])
        case "image":
            return Piece("image", _url(block["source"]))
        case "document":
            return _read_file(block, at)
        case "thinking":
            return Piece("thinking", block["thinking"], block["signature"])
        case "redacted_thinking":
            return Piece("sealed", block["data"])
        case "tool_use":
            return Piece("call", block["input"], block["id"], block["name"])
        case "tool_result":
            inside = _pieces(block.get("content") or [], f"{at}.content")
            failed = block.get("is_error", False)
            return Piece("result", id=block["tool_use_id"], inside=inside, failed=failed)
    return Piece("opaque")


def _url(source: Json) -> str:
    if source["type"] == "base64":
        return f"data:{source['media_type']};base64,{source['data']}"
    found: str = source.get("url") or source["file_id"]
    return found


def _read_file(block: Json, at: str) -> Piece:
    source, title = block["source"], block.get("title", "")
    if source["type"] == "url":
        beside = {"title": Said(title, f"{at}.title")} if title else {}
        return Piece("file", ("", "url", _url(source)), beside=beside)
    if source["type"] == "file":
        return Piece("file", (title, "id", _url(source)))
    return Piece("file", (title, source["media_type"], source["data"]))


def _read_tool(tool: Json, at: str) -> Tool:
    if "type" in tool:
        return Tool("hosted", schema=tool, at=at)
    read = Tool("function", tool["name"], tool.get("description"), tool.get("input_schema"), at=at)
    for name, wire in (("cache", "cache_control"), ("strict", "strict"), ("own", "own")):
        if wire in tool:
            read.beside[name] = Said(tool[wire], f"{at}.{wire}")
    return read
