"""What some quirks change in an answer or in the events of a stream."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest

from toolwire.proxy.demo.documents import parse
from toolwire.proxy.demo.neutral import Json, Protocol
from toolwire.proxy.demo.sse import DONE, Event, named

_MESSAGE = "The upstream failed in the middle of the stream."


def empty_ids(answer: Json) -> None:
    """Calls have the id ""."""
    for call in _calls(answer):
        call["id"] = ""


def arguments_object(answer: Json) -> None:
    """Arguments are the object itself, not its text; text that was cut short stays text."""
    for call in _calls(answer):
        if call["type"] == "function":
            try:
                call["function"]["arguments"] = parse(call["function"]["arguments"])
            except ValueError:
                continue


def stop_beside_calls(answer: Json) -> None:
    """An answer with calls says that it is done."""
    if answer.get("stop_reason") == "tool_use":
        answer["stop_reason"] = "end_turn"
    for choice in answer.get("choices", ()):
        if choice["finish_reason"] == "tool_calls":
            choice["finish_reason"] = "stop"


def think_tags(answer: Json) -> None:
    """The thinking stands in the text, between tags."""
    message = answer["choices"][0]["message"]
    if thinking := message.pop("reasoning_content", None):
        message["content"] = f"<think>\n{thinking}\n</think>\n\n{message['content'] or ''}"


def missing_index(events: list[Event], answer: Json, protocol: Protocol) -> list[Event]:
    """The pieces of calls do not say which call they belong to."""
    for delta in _deltas(events):
        for piece in delta.get("tool_calls", ()):
            del piece["index"]
    return events


def role_every_chunk(events: list[Event], answer: Json, protocol: Protocol) -> list[Event]:
    """Each delta says that it is the assistant's."""
    for delta in _deltas(events):
        delta["role"] = "assistant"
    return events


def usage_every_chunk(events: list[Event], answer: Json, protocol: Protocol) -> list[Event]:
    """Each chunk counts the tokens so far."""
    total = answer["usage"]
    chunks = [event.data for event in events if event is not DONE]
    for i, chunk in enumerate(chunks, start=1):
        spoken = (
            total["completion_tokens"] if i == len(chunks) else min(i, total["completion_tokens"])
        )
        counts = {"completion_tokens": spoken, "total_tokens": total["prompt_tokens"] + spoken}
        chunk["usage"] = {**total, **counts}
    return events


def no_done(events: list[Event], answer: Json, protocol: Protocol) -> list[Event]:
    """The stream ends without [DONE]."""
    return [event for event in events if event is not DONE]


def interleaved(events: list[Event], answer: Json, protocol: Protocol) -> list[Event]:
    """The pieces of parallel calls take turns."""
    by_call: dict[int, list[Event]] = {}
    for event in events:
        for index in _call_indices(event):
            by_call.setdefault(index, []).append(event)
    if not by_call:
        return events
    mixed = [event for turn in zip_longest(*by_call.values()) for event in turn if event]
    first = events.index(by_call[0][0])
    return [*events[:first], *mixed, *events[first + len(mixed) :]]


def error_in_the_middle(events: list[Event], answer: Json, protocol: Protocol) -> list[Event]:
    """Half of the stream, then the protocol's error event, then nothing."""
    half = events[: max(1, len(events) // 2)]
    return [*half, *_ERRORS[protocol](half, answer)]


def _chat_error(half: list[Event], answer: Json) -> Iterator[Event]:
    error = {"message": _MESSAGE, "type": "server_error", "param": None, "code": None}
    yield Event({"error": error})


def _messages_error(half: list[Event], answer: Json) -> Iterator[Event]:
    error = {"type": "overloaded_error", "message": "Overloaded"}
    yield named({"type": "error", "error": error})


def _responses_error(half: list[Event], answer: Json) -> Iterator[Event]:
    number = half[-1].data["sequence_number"] + 1
    error = {"code": "server_error", "message": _MESSAGE}
    yield named({"type": "error", **error, "param": None, "sequence_number": number})
    failed = {**answer, "status": "failed", "error": error, "output": [], "usage": None}
    failed |= {"completed_at": None, "incomplete_details": None}
    yield named({"type": "response.failed", "response": failed, "sequence_number": number + 1})


_ERRORS = {
    Protocol.CHAT: _chat_error,
    Protocol.MESSAGES: _messages_error,
    Protocol.RESPONSES: _responses_error,
}


def _calls(answer: Json) -> list[Json]:
    return [c for choice in answer["choices"] for c in choice["message"].get("tool_calls", ())]


def _deltas(events: list[Event]) -> Iterator[Json]:
    for event in events:
        for choice in event.data["choices"] if event is not DONE else ():
            yield choice["delta"]


def _call_indices(event: Event) -> list[int]:
    return [piece["index"] for delta in _deltas([event]) for piece in delta.get("tool_calls", ())]
