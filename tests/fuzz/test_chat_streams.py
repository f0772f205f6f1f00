"""Any legal chat stream, whatever is cut or mixed in it, says the same in every protocol."""

from __future__ import annotations

import itertools
import json
import random
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.fuzz.answers import encoded
from tests.fuzz.assembly import ASSEMBLE, Said
from tests.fuzz.inside import PATHS
from tests.fuzz.test_hostile_streams import split, streamed

STOPS = {
    "chat": {"stop": "stop", "tool_calls": "tool_calls", "length": "length"},
    "messages": {"stop": "end_turn", "tool_calls": "tool_use", "length": "max_tokens"},
    "responses": {"stop": "completed", "tool_calls": "completed", "length": "max_output_tokens"},
}
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8) | st.just("\U0001f600\u00e9"),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=6,
)
NAMES = st.from_regex(r"[a-zA-Z0-9_-]{1,12}", fullmatch=True)


@dataclass
class Call:
    id: str
    name: str
    arguments: str


@st.composite
def calls(draw: st.DrawFn) -> list[Call]:
    """Calls with arguments of any spacing and escapes, or of none."""
    found = []
    for place in range(draw(st.integers(0, 4))):
        value = draw(st.dictionaries(st.text(max_size=4), VALUES, max_size=3))
        arguments = json.dumps(
            value,
            ensure_ascii=draw(st.booleans()),
            separators=draw(st.sampled_from([(",", ":"), (", ", ": "), (" , ", " :\n")])),
        )
        if not value and draw(st.booleans()):
            arguments = ""
        found.append(Call(f"call_{place}{draw(NAMES)}", draw(NAMES), arguments))
    return found


def pieces_of(chance: random.Random, text: str) -> list[str]:
    """``text`` in random pieces, none of them empty."""
    edges = sorted({0, len(text), *(chance.randrange(len(text) + 1) for _ in range(3))})
    return [text[start:end] for start, end in itertools.pairwise(edges)]


def mixed(
    chance: random.Random, reasoning: str, text: str, made: list[Call], finish: str
) -> list[dict[str, Any]]:
    """The chunks of a stream: reasoning first, then text and calls in any legal mixture."""
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}]
    deltas += [{"reasoning_content": piece} for piece in pieces_of(chance, reasoning)]
    queues: list[list[dict[str, Any]]] = [[{"content": piece} for piece in pieces_of(chance, text)]]
    for index, call in enumerate(made):
        head = {
            "index": index,
            "id": call.id,
            "type": "function",
            "function": {"name": call.name, "arguments": ""},
        }
        rest = [
            {"index": index, "function": {"arguments": piece}}
            for piece in pieces_of(chance, call.arguments)
        ]
        queues.append([{"tool_calls": [piece]} for piece in [head, *rest]])
    begun = 0  # calls begin in the order of their index
    while any(queues):
        open_queues = [queue for queue in queues[: begun + 2] if queue]
        queue = chance.choice(open_queues)
        begun = max(begun, next(at for at, found in enumerate(queues) if found is queue))
        deltas.append(queue.pop(0))
    head = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    chunks = [
        {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
        for delta in deltas
    ]
    if chance.random() < 0.3:  # several calls, or a call and the finish, in one chunk
        chunks = _joined(chance, chunks)
    end = {"index": 0, "delta": {}, "finish_reason": finish}
    usage = {"prompt_tokens": 9, "completion_tokens": 5, "total_tokens": 14}
    if chance.random() < 0.5:
        return [*chunks, {**head, "choices": [end], "usage": usage}]
    return [*chunks, {**head, "choices": [end]}, {**head, "choices": [], "usage": usage}]


def _joined(chance: random.Random, chunks: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Neighbouring chunks of calls as one, now and then."""
    joined = [chunks[0]]
    for chunk in chunks[1:]:
        before = joined[-1]["choices"][0]["delta"]
        delta = chunk["choices"][0]["delta"]
        if "tool_calls" in before and "tool_calls" in delta and chance.random() < 0.5:
            before["tool_calls"] = [*before["tool_calls"], *delta["tool_calls"]]
        else:
            joined.append(chunk)
    return joined


@pytest.mark.parametrize("client", PATHS)
@settings(max_examples=200, deadline=None)
@given(
    reasoning=st.text(max_size=12),
    text=st.text(max_size=12),
    made=calls(),
    cut_off=st.booleans(),
    seed=st.integers(0, 1 << 30),
    places=st.lists(st.integers(0, 20_000), max_size=12),
)
async def test_it_says_the_same(
    client: str,
    reasoning: str,
    text: str,
    made: list[Call],
    cut_off: bool,
    seed: int,
    places: list[int],
) -> None:
    chance = random.Random(seed)
    if cut_off and made and made[-1].arguments:
        made[-1].arguments = made[-1].arguments[: chance.randrange(len(made[-1].arguments))]
    finish = "length" if cut_off else "tool_calls" if made else "stop"
    chunks = mixed(chance, reasoning, text, made, finish)
    body = b"".join(encoded("chat", chunks))
    reply = await streamed(client, "chat", split(body, places))
    said = ASSEMBLE[client](reply.body)
    if client == "messages":  # it takes no white space alone in a history: its clients get none
        said.text, said.reasoning = squash(said.text), squash(said.reasoning)
        text, reasoning = squash(text), squash(reasoning)
    assert (said.text, said.reasoning) == (text, reasoning)
    assert said.stop == STOPS[client][finish]
    assert [(call_id, name) for call_id, name, _ in in_order(said, made)] == [
        (call.id, call.name) for call in made
    ]
    for (_, _, arguments), call in zip(in_order(said, made), made, strict=True):
        assert arguments == call.arguments or (call.arguments, arguments) == ("", "{}")
        assert arguments or client == "chat" or cut_off


def squash(text: str) -> str:
    return "".join(text.split())


def in_order(said: Said, made: list[Call]) -> list[tuple[str, str, str]]:
    """The calls in the order of their index: an answer may finish them in another one."""
    places = {call.id: place for place, call in enumerate(made)}
    return sorted(said.calls, key=lambda call: places[call[0]])
