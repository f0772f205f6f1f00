"""Conversations, drawn: rich ones, of what a client of one protocol can say."""

from __future__ import annotations

import json
from dataclasses import replace
from decimal import Decimal
from typing import Any

from hypothesis import strategies as st

from tests.fuzz.conversation import Conversation, Json, Piece, Said, Tool, Turn

EPHEMERAL: Json = {"type": "ephemeral"}
VENDOR = "v"
"""Who signs the thinking of the upstream that is asked."""

GRAMMAR: Json = {"type": "grammar", "syntax": "lark", "definition": 'start: "a"'}

WORDS = st.text('ab\u00e9\U0001f600 .\n\0\ud83d"\\', max_size=6).map(lambda t: f"w{t}w")
_IDS = ["call_1", "toolu_9", "a-b_C", "functions.f:0", "a b", "\u00e9!", "\ud800", "x" * 70]
_NAMES = ["f", "get_weather", "n" * 64, "n" * 65, "mcp.files/read", "\u00fc", "a b", "n" * 99]
_PICTURES = ["https://a.example/b.png", "data:image/png;base64,iVBORw0KGgo="]
_FILES = {
    "chat": [("n.pdf", "application/pdf", "JVBERi0=")],
    "messages": [
        ("n.pdf", "application/pdf", "JVBERi0="),
        ("n.txt", "text/plain", "words"),
        ("", "url", "https://a.example/n.pdf"),
    ],
    "responses": [
        ("n.pdf", "application/pdf", "JVBERi0="),
        ("", "url", "https://a.example/n.pdf"),
    ],
}

_KEYS = st.text("ab\u00e9\ud83d\0 ", max_size=3)
_NUMBERS = [
    "12345678901234567890123",
    "0.12345678901234567890",
    "1e400",
    "-0.0",
    "2E-7",
    "9" * 4400,
]
_VALUES = st.recursive(
    st.sampled_from([None, True, False, 0, -1, 1, 10**30, 1.5, "", "w", "\udc00\ud83d", "\u2028"]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(_KEYS, inner, max_size=2),
    max_leaves=4,
)
OBJECTS = (
    st.dictionaries(_KEYS, _VALUES, max_size=3).map(json.dumps)
    | st.dictionaries(_KEYS, _VALUES, max_size=3).map(lambda o: json.dumps(o, indent=1))
    | st.sampled_from(_NUMBERS).map(lambda number: f'{{"n":{number},"m":[{number}]}}')
    | st.sampled_from(['{"b":1,"a":2}', '{"\u00e9":"\U0001f600"}', '{"a":1,"b":0,"a":2}'])
)
NO_OBJECTS = st.sampled_from(["", " \n", "[1]", "null", '"w"', "w", '{"a":', '{"a":NaN}', "{}{}"])

_SCHEMAS: list[Any] = [
    None,
    {},
    {"type": "object", "properties": {"b": {"type": "string"}, "a": {"enum": [1, "\ud83d"]}}},
    {"properties": {"\ud83d": {"type": "object", "properties": {}}}, "required": ["\ud83d"]},
]
_UNION: Json = {"anyOf": [{"type": "object", "properties": {"a": {}}}, {"type": "object"}]}
_FORMS: list[Json] = [
    {"type": "object", "properties": {"a": {"type": "object", "properties": {}}}},
    {"type": "object", "properties": {"a": {}}, "additionalProperties": False},
]


@st.composite
def conversations(draw: st.DrawFn, protocol: str) -> Conversation:
    """It begins with the user; the calls have their results, but where one is forgotten."""
    tools = _tools(draw, protocol)
    turns = _system(draw, protocol)
    turns.append(Turn("user", _user(draw, protocol), _speaker(draw, protocol)))
    for number in range(draw(st.integers(0, 2))):
        calls = _calls(draw, protocol, tools, number)
        said = [*_thinking(draw, protocol), *_said(draw, protocol)]
        if calls or said:
            turns.append(Turn("assistant", [*said, *calls]))
        results = [_result(draw, protocol, call) for call in calls if draw(_OFTEN)]
        if draw(_SELDOM):
            results.append(Piece("result", id="nobody's", inside=[Piece("text", draw(WORDS))]))
        if results and draw(_SELDOM):
            results.append(replace(results[0], inside=[Piece("text", "again")]))
        before = [Piece("text", draw(WORDS))] if draw(_SELDOM) else []
        turns.append(Turn("user", [*before, *draw(st.permutations(results))]))
        if draw(_SELDOM) and not calls:
            role = "system" if protocol == "messages" else draw(st.sampled_from(_INSTRUCTING))
            turns.append(Turn(role, [Piece("text", draw(WORDS))]))
        turns.append(Turn("user", [Piece("text", draw(WORDS)), *_user(draw, protocol)]))
    return Conversation(turns, tools, _facts(draw, protocol, tools))


_OFTEN = st.sampled_from([True] * 9 + [False])
_SELDOM = st.sampled_from([False] * 5 + [True])
_INSTRUCTING = ["system", "developer"]


# --------------------------------------------------------------------------------- the turns
def _system(draw: st.DrawFn, protocol: str) -> list[Turn]:
    pieces = [Piece("text", text) for text in draw(st.lists(WORDS, max_size=2))]
    if pieces and draw(_SELDOM) and protocol != "responses":
        pieces[-1].beside["cache"] = Said(EPHEMERAL)
    role = draw(st.sampled_from(_INSTRUCTING)) if protocol == "chat" else "system"
    return [Turn(role, pieces)] if pieces else []


def _speaker(draw: st.DrawFn, protocol: str) -> Said | None:
    return Said("bob") if protocol == "chat" and draw(_SELDOM) else None


def _user(draw: st.DrawFn, protocol: str) -> list[Piece]:
    pieces = [Piece("text", draw(WORDS))]
    for kind in draw(st.lists(st.sampled_from(["text", "image", "file", "id"]), max_size=2)):
        pieces.append(_shown(draw, protocol, kind))
        if draw(_SELDOM):
            pieces[-1].beside["cache"] = Said(EPHEMERAL)
    return pieces


def _shown(draw: st.DrawFn, protocol: str, kind: str) -> Piece:
    if kind == "text":
        return Piece("text", draw(WORDS))
    if kind == "file":
        piece = Piece("file", draw(st.sampled_from(_FILES[protocol])))
        if protocol == "messages" and piece.value[1] == "url":
            piece.beside["title"] = Said("t")
        return piece
    if kind == "id" and protocol == "chat":
        return Piece("file", ("", "id", "file-1"))
    picture = Piece("image", "file-1" if kind == "id" else draw(st.sampled_from(_PICTURES)))
    if protocol != "messages" and draw(st.booleans()):
        picture.beside["detail"] = Said("low")
    return picture


def _said(draw: st.DrawFn, protocol: str) -> list[Piece]:
    pieces = [Piece("text", text) for text in draw(st.lists(WORDS, max_size=2))]
    if pieces and protocol != "chat" and draw(_SELDOM):
        pieces[0].beside["cited"] = Said([{"type": "t", "cited_text": "w"}])
    if protocol != "messages" and draw(_SELDOM):
        pieces.append(Piece("refusal", draw(WORDS)))
    if draw(_SELDOM):
        pieces.append(Piece("opaque"))
    return pieces


def _thinking(draw: st.DrawFn, protocol: str) -> list[Piece]:
    unsigned = Piece("thinking", draw(WORDS))
    vendor = "" if protocol == "messages" else draw(st.sampled_from([VENDOR, "other"]))
    signed = replace(unsigned, id="c2ln", name=vendor)
    sealed = Piece("sealed", "ZGF0YQ==", name=vendor)
    if protocol == "responses":
        sealed.name = ""
        return draw(st.sampled_from([[], [unsigned], [sealed]]))
    return draw(st.sampled_from([[], [], [unsigned], [signed], [sealed], [signed, sealed]]))


def _calls(draw: st.DrawFn, protocol: str, tools: list[Tool], turn: int) -> list[Piece]:
    calls = []
    mine = [tool for tool in tools if tool.kind != "hosted"]
    ids = [f"{name}{turn}" for name in _IDS] if draw(st.booleans()) else _IDS
    for call_id in draw(st.lists(st.sampled_from(ids), max_size=3 if mine else 0, unique=True)):
        tool = draw(st.sampled_from(mine))
        if tool.kind == "freeform":
            calls.append(Piece("freeform", draw(WORDS), call_id, tool.name))
            continue
        texts = OBJECTS if protocol == "messages" or draw(_OFTEN) else NO_OBJECTS
        calls.append(Piece("call", draw(texts), call_id, tool.name))
        if protocol != "responses" and draw(_SELDOM):
            beside = Said({"g": 1} if protocol == "chat" else EPHEMERAL)
            calls[-1].beside["extra_content" if protocol == "chat" else "cache"] = beside
    return calls


def _result(draw: st.DrawFn, protocol: str, call: Piece) -> Piece:
    kinds = ["text"] if protocol == "chat" else ["text", "text", "image", "file", "id"]
    inside = [
        _shown(draw, protocol, kind) for kind in draw(st.lists(st.sampled_from(kinds), max_size=3))
    ]
    if protocol != "messages" and draw(_SELDOM):
        inside = [Piece("text", "Error: w")]
    result = Piece("result", id=call.id, inside=inside)
    result.failed = protocol == "messages" and draw(st.booleans())
    if protocol != "responses" and draw(_SELDOM):
        result.beside["cache"] = Said(EPHEMERAL)
    return result


# --------------------------------------------------------------------------------- the tools
def _tools(draw: st.DrawFn, protocol: str) -> list[Tool]:
    tools = []
    for name in draw(st.lists(st.sampled_from(_NAMES), max_size=3, unique=True)):
        schema = draw(st.sampled_from(_SCHEMAS))
        tool = Tool("function", name, draw(st.none() | WORDS), schema)
        tools.append(tool)
        if draw(_SELDOM):
            tool.schema = _UNION
        if draw(_SELDOM):
            tool.beside["strict"] = Said(draw(st.booleans()))
        if draw(_SELDOM):
            tool.beside["own"] = Said({"a": 1})
        if protocol != "responses" and draw(_SELDOM):
            tool.beside["cache"] = Said(EPHEMERAL)
        if protocol != "messages" and draw(_SELDOM):
            grammar = draw(st.sampled_from([None, {"type": "text"}, GRAMMAR]))
            tools[-1] = Tool("freeform", name, tool.description, grammar)
    if draw(_SELDOM):
        tools.append(Tool("hosted", schema={"type": "web_search_20250305", "name": "web_search"}))
    return tools


def _facts(draw: st.DrawFn, protocol: str, tools: list[Tool]) -> dict[str, Said]:
    """Limits, sampling, the choice among the tools and the form of the answer."""
    names = [tool.name for tool in tools if tool.kind != "hosted"]
    choices = ["auto", "none", "required", ":nothing", *(f":{name}" for name in names)]
    drawn: dict[str, Any] = {
        "choice": st.sampled_from(choices),
        "parallel": st.booleans(),
        "max_tokens": st.integers(1, 10_000),
        "temperature": st.sampled_from([0, Decimal("0.5"), 1, Decimal("1.50000000000000000001")]),
        "top_p": st.sampled_from([1, Decimal("0.9")]),
        "stop": st.lists(WORDS | st.just(" "), max_size=3),
        "user": st.sampled_from(["u", "u" * 65, "\ud83d"]),
        "form": st.sampled_from([*_FORMS, {}]),
        "effort": st.sampled_from(["none", "low", "high"]),
        "stream": st.booleans(),
        "own": st.just([1]),
        "safety_identifier": st.just("s"),
        "prompt_cache_key": st.just("k"),
        "verbosity": st.just("low"),
        "top_k": st.just(4),
    }
    if protocol == "responses":
        del drawn["stop"]
    if protocol == "messages":
        for name in ("safety_identifier", "prompt_cache_key", "verbosity"):
            del drawn[name]
        drawn["form"] = st.sampled_from(_FORMS)
    chosen = draw(st.lists(st.sampled_from(list(drawn)), unique=True, max_size=6))
    facts = {name: Said(draw(drawn[name])) for name in chosen}
    if protocol == "messages":
        facts.setdefault("max_tokens", Said(1000))
    elif names and draw(_SELDOM):
        facts["allowed"] = Said(names[: draw(st.integers(1, 2))])
        facts["choice"] = Said(draw(st.sampled_from(["auto", "required"])))
    return facts
