"""An answer means the same in the client's protocol, and once more when it is given back."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.fuzz.conversation import (
    Conversation,
    Json,
    Piece,
    Said,
    Tool,
    Turn,
    arguments_of,
    dumps,
    loads,
)
from tests.fuzz.conversation import settled as settled_conversation
from tests.fuzz.conversation_answers import Reply, read, replies, write
from tests.fuzz.conversation_carried import Anything, comparable
from tests.fuzz.conversation_drawn import VENDOR
from tests.fuzz.test_round_trips import QUIRKS, SPOKEN, TRIPS
from toolwire.proxy.convert_answer import AnswerConversion
from toolwire.proxy.protocols import json as lossless
from toolwire.proxy.protocols.convert import Converted, convert_request
from toolwire.proxy.protocols.registry import CODECS

FREE = "free form"
NAMES = ["f", "n" * 99, "mcp.files/read"]
rich = settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))


def asked(client: str, upstream: str, history: list[Turn] | None = None) -> Converted:
    """A request with tools whose names no upstream takes, and a free-form one."""
    tools = [Tool("function", name) for name in NAMES]
    if client != "messages":
        tools.append(Tool("freeform", FREE))
    turns = [Turn("user", [Piece("text", "w")]), *(history or [])]
    said = Conversation(turns, tools, {"max_tokens": Said(9)})
    document = lossless.decode(dumps(SPOKEN[client].write(said)))
    quirks = QUIRKS[upstream, False]
    return convert_request(CODECS[client], CODECS[upstream], document, quirks, VENDOR)


def names_of(upstream: str, converted: Converted) -> list[str]:
    return [tool.name for tool in SPOKEN[upstream].read(converted.document).tools]


def answered(client: str, upstream: str, document: Json, converted: Converted) -> Json:
    conversion = AnswerConversion(
        CODECS[client], CODECS[upstream], converted, remember=lambda _: None, vendor=VENDOR
    )
    answer = conversion.answer(lossless.decode(dumps(document)))
    found: Json = loads(lossless.encode(answer))
    return found


def settled(pieces: list[Piece], client: str, upstream: str) -> list[Piece]:
    said = comparable(Conversation([Turn("assistant", pieces)]), client, "messages")
    turns = settled_conversation(said).turns
    return turns[0].pieces if turns else []


def seen(piece: Piece, client: str, upstream: str, names: dict[str, str]) -> list[Piece]:
    """``piece`` of an upstream's answer, as its client has it."""
    piece = Piece(piece.kind, piece.value, piece.id, names.get(piece.name, piece.name))
    if piece.kind in ("thinking", "sealed"):
        if piece.kind == "sealed" and upstream == "responses":
            return []  # nobody else could read it
        value = Anything() if piece.kind == "sealed" and client == "responses" else piece.value
        return [Piece(piece.kind, value)]
    if piece.kind == "call" and piece.name == FREE:
        piece.kind, piece.value = "freeform", loads(piece.value)["input"]
    elif piece.kind == "call" and client == "messages" and arguments_of(piece.value)[0] != "object":
        piece.value = "{}"
    return [piece]


@pytest.mark.parametrize(("client", "upstream"), TRIPS)
@rich
@given(st.data())
def test_an_answer_means_the_same(client: str, upstream: str, data: st.DataObject) -> None:
    converted = asked(client, upstream)
    sent = names_of(upstream, converted)
    objects = upstream == "messages"
    reply: Reply = data.draw(replies(upstream, sent, free=client != "messages", objects=objects))
    answer = answered(client, upstream, write(upstream, reply), converted)
    found = read(client, answer)

    mine = dict(zip(sent, [*NAMES, FREE], strict=False))
    pieces = [one for piece in reply.pieces for one in seen(piece, client, upstream, mine)]
    unsigned = [Piece(p.kind, p.value) if p.kind == "thinking" else p for p in found.pieces]
    bare = [Piece(p.kind, p.value) if p.kind == "sealed" else p for p in unsigned]
    assert settled(bare, client, upstream) == settled(pieces, client, upstream)
    refused = any(piece.kind == "refusal" for piece in reply.pieces) and reply.stop != "length"
    assert found.stop in ("done", "filtered") if refused else found.stop == reply.meant()
    assert found.usage == reply.usage


@pytest.mark.parametrize(("client", "upstream"), TRIPS)
@rich
@given(st.data())
def test_an_answer_comes_back_as_it_was(client: str, upstream: str, data: st.DataObject) -> None:
    """With the signatures, which the client has no use for, and under the upstream's names."""
    converted = asked(client, upstream)
    sent = names_of(upstream, converted)
    reply: Reply = data.draw(replies(upstream, sent, free=client != "messages", objects=True))
    answer = answered(client, upstream, write(upstream, reply), converted)

    document = given_back(client, answer)
    quirks = QUIRKS[upstream, False]
    codecs = CODECS[client], CODECS[upstream]
    back = convert_request(*codecs, lossless.decode(dumps(document)), quirks, VENDOR).document
    turns = SPOKEN[upstream].read(loads(lossless.encode(back))).turns
    found = [piece for turn in turns if turn.role == "assistant" for piece in turn.pieces]
    expected = [piece for piece in reply.pieces if comes_back(piece, upstream)]
    assert settled(found, client, upstream) == settled(expected, client, upstream)


def comes_back(piece: Piece, upstream: str) -> bool:
    """Thinking goes back as its text, or signed; what Responses sealed is not given out."""
    if piece.kind not in ("thinking", "sealed"):
        return True
    return upstream == "chat" or (
        upstream == "messages" and bool(piece.id or piece.value == "ZGF0YQ==")
    )


def given_back(client: str, answer: Json) -> Json:
    """The next request, with the answer in its history as it came."""
    said = Conversation(
        [Turn("user", [Piece("text", "w")])], _tools(client), {"max_tokens": Said(9)}
    )
    document: Json = SPOKEN[client].write(said)
    after = SPOKEN[client].write(Conversation([Turn("user", [Piece("text", "w")])]))
    if client == "responses":
        document["input"] += [*answer["output"], *after["input"]]
    else:
        message: Any = (
            answer["choices"][0]["message"]
            if client == "chat"
            else {"role": "assistant", "content": answer["content"]}
        )
        document["messages"] += [message, *after["messages"]]
    return document


def _tools(client: str) -> list[Tool]:
    tools = [Tool("function", name) for name in NAMES]
    return [*tools, Tool("freeform", FREE)] if client != "messages" else tools
