"""What a request means, whichever protocol says it.

``conversation_chat``, ``conversation_messages`` and ``conversation_responses`` write and read one;
they share no code with the gateway.  ``settled`` levels out what is only a way of saying it.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from decimal import Decimal, InvalidOperation
from typing import Any

Json = dict[str, Any]

ELSEWHERE = "[The result is in the next user message.]"
_ERROR = re.compile(r"\AError(: |\n|\Z)")


@dataclass
class Said:
    """A value, and its path in the document that says it."""

    value: Any
    at: str = field(default="", compare=False)


@dataclass
class Piece:
    """``kind``: text, refusal, image, file, thinking, sealed, call, freeform, result or opaque.

    ``value``: text, the URL of an image, (name, media type, data) of a file, the arguments of a
    call.  ``id`` is that of a call, or the signature of thinking; ``name`` is the tool's, or who
    signed.  ``beside``: what the protocol lets stand beside it.  ``inside``: of a result.
    """

    kind: str
    value: Any = None
    id: str = ""
    name: str = ""
    beside: dict[str, Said] = field(default_factory=dict)
    inside: list[Piece] = field(default_factory=list)
    failed: bool = False
    at: str = field(default="", compare=False)


@dataclass
class Turn:
    """``role``: system, developer, user or assistant."""

    role: str
    pieces: list[Piece]
    name: Said | None = None
    at: str = field(default="", compare=False)


@dataclass
class Tool:
    """``kind``: function, freeform (``schema`` is its grammar) or hosted (``schema`` is all)."""

    kind: str
    name: str = ""
    description: str | None = None
    schema: Any = None
    beside: dict[str, Said] = field(default_factory=dict)
    at: str = field(default="", compare=False)


@dataclass
class Conversation:
    """``facts``: everything else, by a name of its own: ``choice`` is a mode, or a tool's name
    with a colon before it; ``allowed`` the names that it may be of."""

    turns: list[Turn]
    tools: list[Tool] = field(default_factory=list)
    facts: dict[str, Said] = field(default_factory=dict)


# -------------------------------------------------------------------------------------- JSON
@dataclass
class Raw:
    """JSON text that stands in a document as it is."""

    text: str


def dumps(document: Any) -> bytes:
    """With every character beyond ASCII as an escape: half a surrogate pair has no other form."""

    def hidden(raw: Raw | Decimal) -> str:
        text = raw.text if isinstance(raw, Raw) else str(raw)
        return "raw:" + text.encode().hex()

    text = json.dumps(document, default=hidden)
    return re.sub(
        r'"raw:([0-9a-f]*)"', lambda found: bytes.fromhex(found[1]).decode(), text
    ).encode()


def loads(text: str | bytes) -> Any:
    """With every number as the ``Decimal`` that it is, however long."""
    return json.loads(text, parse_int=_number, parse_float=_number, parse_constant=_refused)


def _number(text: str) -> Decimal | str:
    try:
        return Decimal(text)
    except InvalidOperation:
        return f"number {text}"


def _refused(name: str) -> None:
    raise ValueError(name)


def exact(value: Any, *, ordered: bool = False) -> Any:
    """``value`` so that equal means equal: 1 is not true.  ``ordered``: the keys' order counts."""
    if isinstance(value, dict):
        pairs = value.items() if ordered else sorted(value.items())
        return "object", [(key, exact(inner, ordered=ordered)) for key, inner in pairs]
    if isinstance(value, list):
        return "array", [exact(inner, ordered=ordered) for inner in value]
    return type(value).__name__, value


def arguments_of(text: str, *, ordered: bool = True) -> Any:
    """What the arguments of a call say; they may be no JSON."""
    try:
        return exact(loads(text if text.strip() else "{}"), ordered=ordered)
    except ValueError:
        return "no JSON", text


# ------------------------------------------------------------------------------------ layout
def settled(said: Conversation) -> Conversation:
    """``said`` in the one layout: turns of one speaker together, results first and in the order of
    their calls, thinking first and calls last; ids are the numbers of the calls."""
    turns: list[Turn] = []
    for turn in said.turns:
        role = "system" if turn.role == "developer" else turn.role
        last = turns[-1] if turns else None
        leading = len(turns) == 1
        if last and last.role == role and last.name == turn.name and (role != "system" or leading):
            last.pieces += turn.pieces
        elif turn.pieces:
            turns.append(Turn(role, [*turn.pieces], turn.name))
    numbers: dict[str, str] = {}
    count = itertools.count()
    for turn in turns:
        turn.pieces = [_numbered(piece, numbers, count) for piece in turn.pieces]
        turn.pieces.sort(key=_place)
        turn.pieces = _joined(turn.pieces, "" if turn.role == "assistant" else "\n\n")
    return _settled_tools(Conversation(turns, said.tools, dict(said.facts)))


def _numbered(piece: Piece, numbers: dict[str, str], count: Iterator[int]) -> Piece:
    if piece.kind in ("call", "freeform"):
        numbers[piece.id] = f"{next(count):03}"
        return replace(piece, id=numbers[piece.id])
    if piece.kind == "result":
        return _settled_result(replace(piece, id=numbers.get(piece.id, "?")))
    return replace(piece, kind="text") if piece.kind == "refusal" else piece


def _place(piece: Piece) -> tuple[int, str]:
    first = {"result": 0, "thinking": 0, "sealed": 0, "call": 2, "freeform": 2}
    return first.get(piece.kind, 1), piece.id if piece.kind == "result" else ""


def _settled_result(result: Piece) -> Piece:
    """Text before everything else; that it failed is a flag, whoever says it how."""
    texts = _joined([piece for piece in result.inside if piece.kind in ("text", "refusal")], "\n")
    media = [piece for piece in result.inside if piece.kind not in ("text", "refusal")]
    failed = result.failed
    if texts and texts[0].value.lower().startswith("error"):
        failed = True
        texts[0] = replace(texts[0], value=_ERROR.sub("", texts[0].value))
    texts = [text for text in texts if text.value not in ("", ELSEWHERE if media else "")]
    return replace(result, inside=[*texts, *media], failed=failed)


def _joined(pieces: list[Piece], joiner: str) -> list[Piece]:
    """``pieces``, plain neighbours among them as one."""
    joined: list[Piece] = []
    for piece in pieces:
        last = joined[-1] if joined else None
        plain = piece.kind in ("text", "thinking") and not piece.beside and not piece.id
        if plain and last and last.kind == piece.kind and not last.beside and not last.id:
            between = joiner if piece.kind == "text" else ""
            joined[-1] = replace(last, value=last.value + between + piece.value)
        else:
            joined.append(piece)
    return joined


def _settled_tools(said: Conversation) -> Conversation:
    """The tools that may be called; a switch that switches nothing is none."""
    facts = said.facts
    allowed = facts.pop("allowed", None)
    said.tools = [
        replace(tool, schema=_settled_schema(tool)) for tool in said.tools if _may_be(tool, allowed)
    ]
    if not said.tools or facts.get("choice") == Said("auto"):
        facts.pop("choice", None)
    if not said.tools or facts.get("choice") == Said("none") or facts.get("parallel") == Said(True):
        facts.pop("parallel", None)
    for name, usual in (("stream", False), ("stop", []), ("top_p", 1)):
        if facts.get(name) == Said(usual):
            del facts[name]
    for tool in said.tools:
        tool.beside = {name: one for name, one in tool.beside.items() if one.value is not False}
    return said


def _may_be(tool: Tool, allowed: Said | None) -> bool:
    return allowed is None or tool.name in allowed.value


def _settled_schema(tool: Tool) -> Any:
    if tool.kind != "function":
        return tool.schema
    return {"type": "object", "properties": {}, **(tool.schema or {})}
