"""Whole answers of each protocol: drawn, written and read."""

from __future__ import annotations

import json
from dataclasses import dataclass

from hypothesis import strategies as st

from tests.fuzz import conversation_chat, conversation_messages, conversation_responses
from tests.fuzz.conversation import Conversation, Json, Piece, Turn
from tests.fuzz.conversation_drawn import NO_OBJECTS, OBJECTS, WORDS

Usage = tuple[int, int, int, int, int]
"""Input (with both that follow), read from a cache, written to one, output, reasoning."""

_FINISHES = {
    "done": "stop",
    "calls": "tool_calls",
    "length": "length",
    "filtered": "content_filter",
}
_REASONS = {"done": "end_turn", "calls": "tool_use", "length": "max_tokens", "filtered": "refusal"}
_INCOMPLETE = {"length": "max_output_tokens", "filtered": "content_filter"}


@dataclass
class Reply:
    """``stop``: done, calls, length or filtered."""

    pieces: list[Piece]
    stop: str
    usage: Usage

    def meant(self) -> str:
        """Calls are what an answer that has some is for."""
        called = any(piece.kind in ("call", "freeform") for piece in self.pieces)
        return "calls" if self.stop == "done" and called else self.stop


@st.composite
def replies(
    draw: st.DrawFn, protocol: str, names: list[str], *, free: bool, objects: bool = False
) -> Reply:
    """An answer that calls ``names``, of which the last is a wrapped free-form tool if ``free``."""
    thinking = [Piece("thinking", draw(WORDS))]
    sealed = [Piece("sealed", "ZGF0YQ==")]
    signed = [Piece("thinking", draw(WORDS), "c2ln")]
    options = {"chat": [thinking], "messages": [thinking, signed, sealed, signed + sealed]}
    options["responses"] = [thinking, sealed]
    pieces = draw(st.sampled_from([[], *options[protocol]]))[:]
    pieces += [Piece("text", text) for text in draw(st.lists(WORDS, max_size=2))]
    calls = [_call(draw, f"call_{n}", names, free, objects) for n in range(draw(st.integers(0, 3)))]
    if not calls and protocol != "messages" and draw(st.booleans()):
        pieces.append(Piece("refusal", draw(WORDS)))
    stop = draw(st.sampled_from(["done", "length", "filtered"]))
    pieces = pieces + calls or [Piece("text", "w")]
    counts = draw(st.tuples(*[st.integers(0, 9)] * 5))
    fresh, cached, written, output, reasoning = counts
    return Reply(pieces, stop, (fresh + cached + written, cached, written, output, reasoning))


def _call(draw: st.DrawFn, call_id: str, names: list[str], free: bool, objects: bool) -> Piece:
    name = draw(st.sampled_from(names))
    if free and name == names[-1]:
        return Piece("call", json.dumps({"input": draw(WORDS)}), call_id, name)
    return Piece("call", draw(OBJECTS if objects else OBJECTS | NO_OBJECTS), call_id, name)


# ------------------------------------------------------------------------------------- write
def write(protocol: str, reply: Reply) -> Json:
    return _WRITERS[protocol](reply)


def _chat(reply: Reply) -> Json:
    (message,) = conversation_chat.write(_spoken(reply))["messages"]
    total, cached, written, output, reasoning = reply.usage
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [{"index": 0, "message": message, "finish_reason": _FINISHES[reply.stop]}],
        "usage": {
            "prompt_tokens": total,
            "completion_tokens": output,
            "total_tokens": total + output,
            "prompt_tokens_details": {"cached_tokens": cached, "cache_write_tokens": written},
            "completion_tokens_details": {"reasoning_tokens": reasoning},
        },
    }


def _messages(reply: Reply) -> Json:
    (message,) = conversation_messages.write(_spoken(reply))["messages"]
    content = message["content"]
    total, cached, written, output, reasoning = reply.usage
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": [{"type": "text", "text": content}] if isinstance(content, str) else content,
        "stop_reason": _REASONS[reply.stop],
        "stop_sequence": None,
        "usage": {
            "input_tokens": total - cached - written,
            "cache_read_input_tokens": cached,
            "cache_creation_input_tokens": written,
            "output_tokens": output,
            "output_tokens_details": {"thinking_tokens": reasoning},
        },
    }


def _responses(reply: Reply) -> Json:
    total, cached, written, output, reasoning = reply.usage
    reason = _INCOMPLETE.get(reply.stop)
    return {
        "id": "resp_1",
        "object": "response",
        "created_at": 1,
        "model": "m",
        "status": "incomplete" if reason else "completed",
        "incomplete_details": {"reason": reason} if reason else None,
        "output": conversation_responses.write(_spoken(reply))["input"],
        "usage": {
            "input_tokens": total,
            "input_tokens_details": {"cached_tokens": cached, "cache_write_tokens": written},
            "output_tokens": output,
            "output_tokens_details": {"reasoning_tokens": reasoning},
            "total_tokens": total + output,
        },
    }


_WRITERS = {"chat": _chat, "messages": _messages, "responses": _responses}


def _spoken(reply: Reply) -> Conversation:
    return Conversation([Turn("assistant", reply.pieces)])


# -------------------------------------------------------------------------------------- read
def read(protocol: str, answer: Json) -> Reply:
    return _READERS[protocol](answer)


def _read_chat(answer: Json) -> Reply:
    (choice,) = answer["choices"]
    (turn,) = conversation_chat.read({"messages": [choice["message"]]}).turns
    usage = answer["usage"]
    read = usage["prompt_tokens_details"]
    counts = (
        usage["prompt_tokens"],
        read["cached_tokens"],
        read["cache_write_tokens"],
        usage["completion_tokens"],
        usage["completion_tokens_details"]["reasoning_tokens"],
    )
    words = {wire: word for word, wire in _FINISHES.items()}
    return _read(turn.pieces, words[choice["finish_reason"]], counts)


def _read_messages(answer: Json) -> Reply:
    message = {"role": "assistant", "content": answer["content"]}
    (turn,) = conversation_messages.read({"messages": [message]}).turns
    usage = answer["usage"]
    cached, written = usage["cache_read_input_tokens"], usage["cache_creation_input_tokens"]
    counts = (
        usage["input_tokens"] + cached + written,
        cached,
        written,
        usage["output_tokens"],
        usage["output_tokens_details"]["thinking_tokens"],
    )
    words = {wire: word for word, wire in _REASONS.items()}
    return _read(turn.pieces, words[answer["stop_reason"]], counts)


def _read_responses(answer: Json) -> Reply:
    turns = conversation_responses.read({"input": answer["output"]}).turns
    pieces = [piece for turn in turns for piece in turn.pieces]
    usage = answer["usage"]
    read = usage["input_tokens_details"]
    counts = (
        usage["input_tokens"],
        read["cached_tokens"],
        read["cache_write_tokens"],
        usage["output_tokens"],
        usage["output_tokens_details"]["reasoning_tokens"],
    )
    words = {wire: word for word, wire in _INCOMPLETE.items()}
    details = answer["incomplete_details"]
    return _read(pieces, words[details["reason"]] if details else "done", counts)


def _read(pieces: list[Piece], stop: str, usage: Usage) -> Reply:
    reply = Reply(pieces, stop, usage)
    return Reply(pieces, reply.meant(), usage)


_READERS = {"chat": _read_chat, "messages": _read_messages, "responses": _read_responses}
