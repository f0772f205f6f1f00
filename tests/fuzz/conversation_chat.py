"""A conversation in the words of OpenAI Chat Completions.

https://platform.openai.com/docs/api-reference/chat/create
"""

from __future__ import annotations

from dataclasses import replace

from tests.fuzz.conversation import Conversation, Json, Piece, Said, Turn
from tests.fuzz.conversation_chat_tools import beside_of, read_choice, read_tool, write_tool

FACTS = {
    "max_tokens": "max_tokens",
    "temperature": "temperature",
    "top_p": "top_p",
    "stop": "stop",
    "user": "user",
    "effort": "reasoning_effort",
    "stream": "stream",
    "parallel": "parallel_tool_calls",
    "own": "own_field",
    "safety_identifier": "safety_identifier",
    "prompt_cache_key": "prompt_cache_key",
    "verbosity": "verbosity",
    "top_k": "top_k",
}
_MADE_HERE = ("model", "messages", "tools", "tool_choice", "response_format", "stream_options")


# ------------------------------------------------------------------------------------- write
def write(said: Conversation) -> Json:
    document: Json = {"model": "m", "messages": [m for turn in said.turns for m in _messages(turn)]}
    if said.tools:
        document["tools"] = [write_tool(tool) for tool in said.tools]
    kinds = {tool.name: "custom" if tool.kind == "freeform" else "function" for tool in said.tools}
    for name, fact in said.facts.items():
        if name in FACTS:
            document[FACTS[name]] = fact.value
    if (form := said.facts.get("form")) is not None:
        schema = {"name": "s", "schema": form.value, "strict": True, "description": "d"}
        kind = "json_schema" if form.value else "json_object"
        document["response_format"] = {"type": kind} | ({kind: schema} if form.value else {})
    if (choice := said.facts.get("choice")) is not None:
        named = {"name": choice.value[1:]}
        kind = kinds.get(choice.value[1:], "function")
        one = {"type": kind, kind: named}
        document["tool_choice"] = one if choice.value[0] == ":" else choice.value
    if (allowed := said.facts.get("allowed")) is not None:
        tools = [{"type": kinds[name], kinds[name]: {"name": name}} for name in allowed.value]
        subset = {"mode": document["tool_choice"], "tools": tools}
        document["tool_choice"] = {"type": "allowed_tools", "allowed_tools": subset}
    return document


def _messages(turn: Turn) -> list[Json]:
    if turn.role == "assistant":
        return [_assistant(turn.pieces)]
    messages: list[Json] = []
    for piece in turn.pieces:
        if piece.kind == "result":
            message = {"role": "tool", "tool_call_id": piece.id, "content": _content(piece.inside)}
            messages.append(message | _mark(piece))
    if said := [piece for piece in turn.pieces if piece.kind != "result"]:
        name = {"name": turn.name.value} if turn.name else {}
        messages.append({"role": turn.role, "content": _content(said), **name})
    return messages


def _assistant(pieces: list[Piece]) -> Json:
    texts = [piece for piece in pieces if piece.kind == "text"]
    message: Json = {"role": "assistant", "content": _content(texts) if texts else None}
    blocks = []
    for piece in pieces:
        if piece.kind == "thinking" and not piece.id:
            message["reasoning_content"] = piece.value
        elif piece.kind == "thinking":
            blocks.append({"type": "thinking", "thinking": piece.value, "signature": piece.id})
        elif piece.kind == "sealed":
            blocks.append({"type": "redacted_thinking", "data": piece.value})
        elif piece.kind == "refusal":
            message["refusal"] = piece.value
        elif piece.kind == "opaque":
            message["audio"] = {"id": "audio_1"}
    if blocks:
        message |= {"reasoning_blocks": blocks, "reasoning_vendor": pieces[0].name}
    if calls := [_call(piece) for piece in pieces if piece.kind in ("call", "freeform")]:
        message["tool_calls"] = calls
    return message


def _call(piece: Piece) -> Json:
    kind, text = ("custom", "input") if piece.kind == "freeform" else ("function", "arguments")
    call = {"id": piece.id, "type": kind, kind: {"name": piece.name, text: piece.value}}
    return call | {name: beside.value for name, beside in piece.beside.items()}


def _mark(piece: Piece) -> Json:
    return {"cache_control": piece.beside["cache"].value} if "cache" in piece.beside else {}


def _content(pieces: list[Piece]) -> str | list[Json]:
    if len(pieces) == 1 and pieces[0].kind == "text" and not pieces[0].beside:
        text: str = pieces[0].value
        return text
    return [_part(piece) | _mark(piece) for piece in pieces]


def _part(piece: Piece) -> Json:
    if piece.kind == "text":
        return {"type": "text", "text": piece.value}
    if piece.kind == "image":
        detail = {"detail": piece.beside["detail"].value} if "detail" in piece.beside else {}
        return {"type": "image_url", "image_url": {"url": piece.value, **detail}}
    name, kind, data = piece.value
    if kind == "id":
        return {"type": "file", "file": {"file_id": data}}
    return {"type": "file", "file": {"filename": name, "file_data": f"data:{kind};base64,{data}"}}


# -------------------------------------------------------------------------------------- read
def read(document: Json, *, sent: bool = False) -> Conversation:
    """``sent``: the gateway wrote it, so that what has no place in a result follows it."""
    said = Conversation([])
    reader = _Reader(sent)
    for place, message in enumerate(document["messages"]):
        said.turns.append(reader.turn(message, f"messages[{place}]"))
    for place, tool in enumerate(document.get("tools") or ()):
        said.tools.append(read_tool(tool, f"tools[{place}]"))
    names = {wire: name for name, wire in FACTS.items()}
    for wire, value in document.items():
        if wire in names or wire not in _MADE_HERE:
            said.facts[names.get(wire, wire)] = Said(value, wire)
    if (form := document.get("response_format")) is not None:
        schema = form.get("json_schema", {})
        said.facts["form"] = Said(schema.get("schema", {}), "response_format")
        for name in ("name", "strict", "description"):
            if name in schema:
                said.facts[f"form.{name}"] = Said(schema[name], f"response_format.{name}")
    if (choice := document.get("tool_choice")) is not None:
        read_choice(choice, said.facts)
    return said


class _Reader:
    """Knows what a message may say about a result before it."""

    def __init__(self, sent: bool) -> None:
        self._sent = sent
        self._names: dict[str, str] = {}
        self._labels: dict[str, Piece] = {}

    def turn(self, message: Json, at: str) -> Turn:
        role = message["role"]
        pieces = _pieces(message, at)
        if role == "tool":
            return Turn("user", [self._result(message, pieces, at)], at=at)
        if role == "assistant":
            return Turn(role, [*_thoughts(message, at), *pieces, *self._rest(message, at)], at=at)
        name = Said(message["name"], f"{at}.name") if "name" in message else None
        return Turn(role, self._given_back(pieces), name, at)

    def _result(self, message: Json, pieces: list[Piece], at: str) -> Piece:
        call_id = message["tool_call_id"]
        result = Piece("result", id=call_id, inside=pieces, beside=beside_of(message, at), at=at)
        if self._sent:
            self._labels[f"Result of the call {call_id} ({self._names[call_id]}):"] = result
        return result

    def _given_back(self, pieces: list[Piece]) -> list[Piece]:
        """``pieces`` without those that a result before could not hold."""
        kept: list[Piece] = []
        result: Piece | None = None
        for piece in pieces:
            if piece.kind == "text":
                result = self._labels.get(piece.value)
                if result is None:
                    kept.append(piece)
            else:
                (kept if result is None else result.inside).append(piece)
        return kept

    def _rest(self, message: Json, at: str) -> list[Piece]:
        """The refusal, what is not known, and the calls."""
        pieces = []
        if message.get("refusal"):
            pieces.append(Piece("refusal", message["refusal"], at=f"{at}.refusal"))
        if "audio" in message:
            pieces.append(Piece("opaque", at=f"{at}.audio"))
        for place, call in enumerate(message.get("tool_calls") or ()):
            where, function = f"{at}.tool_calls[{place}]", call[call["type"]]
            free = call["type"] == "custom"
            piece = Piece("freeform" if free else "call", id=call["id"], name=function["name"])
            piece.value, piece.at = function["input" if free else "arguments"], where
            if "extra_content" in call:
                extra = Said(call["extra_content"], f"{where}.extra_content")
                piece.beside["extra_content"] = extra
            pieces.append(piece)
            self._names[piece.id] = piece.name
        return pieces


def _thoughts(message: Json, at: str) -> list[Piece]:
    text = message.get("reasoning_content")
    if text is not None and "reasoning_blocks" not in message:
        return [Piece("thinking", text, at=f"{at}.reasoning_content")]
    pieces = []
    for block in message.get("reasoning_blocks") or ():
        piece = Piece("sealed", block.get("data"))
        if block["type"] == "thinking":
            piece = Piece("thinking", block["thinking"], block["signature"])
        name, where = message.get("reasoning_vendor", ""), f"{at}.reasoning_blocks"
        pieces.append(replace(piece, name=name, at=where))
    return pieces


def _pieces(message: Json, at: str) -> list[Piece]:
    content = message.get("content") or []
    if isinstance(content, str):
        return [Piece("text", content, at=f"{at}.content")]
    return [_piece(part, f"{at}.content[{place}]") for place, part in enumerate(content)]


def _piece(part: Json, at: str) -> Piece:
    beside = beside_of(part, at)
    if part["type"] == "text":
        return Piece("text", part["text"], beside=beside, at=at)
    if part["type"] == "image_url":
        image = part["image_url"]
        if image.get("detail", "auto") != "auto":
            beside["detail"] = Said(image["detail"], f"{at}.detail")
        return Piece("image", image["url"], beside=beside, at=at)
    file = part["file"]
    kind, _, data = file.get("file_data", "").removeprefix("data:").partition(";base64,")
    value = (file["filename"], kind, data) if kind else ("", "id", file["file_id"])
    return Piece("file", value, beside=beside, at=at)
