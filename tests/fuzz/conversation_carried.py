"""A conversation as docs/losses.md says that it is carried into another protocol.

What is lost is what the conversion reported, and nothing else: a difference that it did not report
is left in, so that it shows, and a report that nothing differs by is a fault as well.
"""

from __future__ import annotations

import json
import re
from dataclasses import replace
from decimal import Decimal
from typing import Any

from tests.fuzz.conversation import (
    Conversation,
    Json,
    Piece,
    Said,
    Tool,
    Turn,
    arguments_of,
    exact,
)
from tests.fuzz.conversation_drawn import VENDOR
from toolwire.proxy.protocols.neutral import Loss

_ORPHAN = "[Result of a tool call that is not in this conversation: {}]"
_PLACEHOLDER = "[No result was given for this tool call.]"
_MARKS = {"system": "[System message]\n", "developer": "[Developer message]\n"}
_MISSING = {
    "image": "[A file is missing here (image).]",
    "file": "[A file is missing here (document).]",
}
_DEFAULT_MAX_TOKENS = 8192
_LEAST_TOKENS = 16
_WRAPPED: Json = {
    "type": "object",
    "properties": {"input": {"type": "string", "description": "The whole input, as text."}},
    "required": ["input"],
    "additionalProperties": False,
}


class Anything:
    """Equal to all values."""

    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return 0


def comparable(said: Conversation, client: str, upstream: str) -> Conversation:
    """Without what one of the two protocols has no word for, and needs none: how arguments are
    spelled, the name of a form of answer, how strictly it is kept, how much is thought."""
    coarse = "messages" in (client, upstream)
    for turn in said.turns:
        for piece in turn.pieces:
            if piece.kind == "call":
                piece.value = _arguments(piece.value, spelled=not coarse)
    for name in ("form.name", "form.strict") if coarse else ():
        said.facts.pop(name, None)
    if coarse and (effort := said.facts.get("effort")) is not None:
        said.facts["effort"] = Said("none" if effort.value == "none" else "some", effort.at)
    return said


def _arguments(value: Any, *, spelled: bool) -> Any:
    if spelled and isinstance(value, str):
        return value if value.strip() else "{}"
    return arguments_of(value) if isinstance(value, str) else exact(value, ordered=True)


class Carrying:
    """One way, from ``client`` to ``upstream``, with what the conversion reported."""

    def __init__(self, losses: list[Loss], upstream: str, *, freeform: bool) -> None:
        self._paths: dict[str, set[str]] = {"dropped": set(), "coerced": set(), "invented": set()}
        for loss in losses:
            self._paths[loss.kind].add(loss.path)
        self._used: set[tuple[str, str]] = set()
        self._upstream = upstream
        self._freeform = freeform

    def unused(self) -> list[tuple[str, str]]:
        """What was reported of a path where nothing was lost."""
        told = {(kind, path) for kind, paths in self._paths.items() for path in paths}
        return sorted(told - self._used)

    def _is(self, kind: str, path: str) -> bool:
        if path not in self._paths[kind]:
            return False
        self._used.add((kind, path))
        return True

    def carried(self, said: Conversation) -> Conversation:
        turns: list[Turn] = []
        owed: list[Piece] = []
        for turn in said.turns:
            if owed and turn.role != "assistant":
                turns.append(Turn("user", owed))
                owed = []
            turns.append(self._turn(turn))
            owed += [self._placeholder(piece) for piece in turn.pieces if self._is_forgotten(piece)]
        if owed:
            turns.append(Turn("user", owed))
        tools = [self._tool(tool) for tool in said.tools if not self._is("dropped", tool.at)]
        return Conversation(turns, tools, self._facts(said.facts))

    # ----------------------------------------------------------------------------- the turns
    def _is_forgotten(self, piece: Piece) -> bool:
        return piece.kind in ("call", "freeform") and self._is("invented", piece.at)

    def _placeholder(self, call: Piece) -> Piece:
        return Piece("result", id=call.id, inside=[Piece("text", _PLACEHOLDER)], failed=True)

    def _turn(self, turn: Turn) -> Turn:
        pieces = [carried for piece in turn.pieces for carried in self._piece(piece)]
        name = turn.name
        if name is not None and self._is("dropped", name.at):
            name = None
        role = turn.role
        if role in _MARKS and self._upstream == "messages" and self._is("coerced", turn.at):
            pieces = [replace(one, value=_MARKS[role] + one.value) for one in pieces]
            role = "user"
        return Turn(role, pieces, name)

    def _piece(self, piece: Piece) -> list[Piece]:
        beside = {n: one for n, one in piece.beside.items() if not self._is("dropped", one.at)}
        if self._is("dropped", piece.at):
            stands = self._upstream == "messages" and piece.kind in _MISSING
            return [Piece("text", _MISSING[piece.kind], beside=beside)] if stands else []
        inside = [carried for inner in piece.inside for carried in self._piece(inner)]
        piece = replace(piece, beside=beside, inside=inside)
        if piece.kind == "result" and self._is("coerced", piece.at):
            return [Piece("text", _ORPHAN.format(piece.id)), *inside]
        if piece.kind == "call" and self._is("coerced", piece.at):
            assert arguments_of(piece.value)[0] != "object"
            return [replace(piece, value="{}")]
        if piece.kind == "freeform" and not self._freeform:
            return [replace(piece, kind="call", value=_spelled({"input": piece.value}))]
        if piece.kind == "thinking":
            kept = self._upstream == "messages" and piece.name in ("", VENDOR)
            return [replace(piece, id=piece.id if kept else "", name="")]
        if piece.kind == "sealed":
            return [replace(piece, name="")]
        return [self._file(piece) if piece.kind == "file" else piece]

    def _file(self, piece: Piece) -> Piece:
        """Chat Completions has no text files, and none at a URL."""
        name, kind, data = piece.value
        if self._upstream == "chat" and kind == "text/plain":
            return replace(piece, kind="text", value=f"{name}\n\n{data}")
        if self._upstream == "chat" and kind == "url" and self._is("coerced", piece.at):
            beside = {name: one for name, one in piece.beside.items() if name != "title"}
            return replace(piece, kind="text", value=f"[Document: {data}]", beside=beside)
        return piece

    # ----------------------------------------------------------------------------- the tools
    def _tool(self, tool: Tool) -> Tool:
        beside = {n: one for n, one in tool.beside.items() if not self._is("dropped", one.at)}
        tool = replace(tool, beside=beside)
        if tool.kind == "freeform" and not self._freeform:
            words = tool.description
            if tool.schema is not None and tool.schema["type"] == "grammar":
                rule = "The input must match this {syntax} grammar:\n{definition}"
                words = "\n\n".join(filter(None, [words, rule.format(**tool.schema)]))
            return replace(tool, kind="function", description=words, schema=_WRAPPED)
        if tool.kind == "function" and self._is("coerced", tool.at):
            assert "anyOf" in tool.schema
            merged = {name: value for name, value in tool.schema.items() if name != "anyOf"}
            return replace(tool, schema={**merged, "properties": {"a": {}}})
        return tool

    def _facts(self, facts: dict[str, Said]) -> dict[str, Said]:
        facts = dict(facts)
        carried = {}
        if self._upstream == "messages":
            self._settle_user(facts)
            if self._is("invented", "max_tokens"):
                thinks = facts.get("effort", Said("none")).value != "none"
                facts["max_tokens"] = Said(Anything() if thinks else _DEFAULT_MAX_TOKENS)
        for name, fact in facts.items():
            dropped, coerced = self._is("dropped", fact.at), self._is("coerced", fact.at)
            if name == "stop" and self._upstream == "messages":
                carried[name] = Said([one for one in fact.value if one.strip()])
            elif not dropped:
                carried[name] = Said(self._changed(name, fact.value) if coerced else fact.value)
        return carried

    def _settle_user(self, facts: dict[str, Said]) -> None:
        """OpenAI's newer name for the user is as good as the older one."""
        if "user" not in facts and "safety_identifier" in facts:
            facts["user"] = facts.pop("safety_identifier")

    def _changed(self, name: str, value: Any) -> Any:
        match name:
            case "temperature":
                return Decimal(1 if self._upstream == "messages" else 2)
            case "max_tokens":
                assert value < _LEAST_TOKENS and self._upstream == "responses"
                return Decimal(_LEAST_TOKENS)
            case "form":
                return _closed(value)
            case "user":
                return Anything()
            case "effort":
                return "some"
        raise AssertionError(f"{name} cannot be carried in another way")


def _spelled(value: Json) -> str:
    """As compact as JSON can be."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return re.sub("[\ud800-\udfff]", lambda half: f"\\u{ord(half[0]):04x}", text)


def _closed(schema: Any) -> Any:
    """With no further properties in any object."""
    if not isinstance(schema, dict):
        return schema
    closed = {key: _closed(value) for key, value in schema.items()}
    return {**closed, "additionalProperties": False} if schema.get("type") == "object" else closed
