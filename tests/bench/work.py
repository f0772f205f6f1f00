"""What is measured: requests as clients send them, and the answers of a canned upstream."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

EVENTS = 200
WRITES = 20

Document = dict[str, Any]


@dataclass(frozen=True)
class Work:
    """One kind of request, and what it may cost beside a bare pass-through (DESIGN.md)."""

    name: str
    client: str
    upstream: str
    body: bytes
    aim: float
    requests: int


PATHS = {"chat": "/chat/completions", "messages": "/messages", "responses": "/responses"}
_FILLER = "The quick brown fox jumps over the lazy dog. "


def _parameters(fields: int) -> Document:
    properties = {
        f"field_{number}": {"type": "string", "description": _FILLER} for number in range(fields)
    }
    return {"type": "object", "properties": properties, "required": ["field_0"]}


def chat_request(size: int, *, stream: bool = False) -> bytes:
    """An agent's history of about ``size`` bytes, with tools, calls and results."""
    messages: list[Document] = [{"role": "system", "content": _FILLER * (1 if size < 4096 else 20)}]
    tools: list[Document] = []
    body = {"model": "model-1", "messages": messages, "tools": tools, "stream": stream}
    if stream:
        body["stream_options"] = {"include_usage": True}
    number = 0
    while len(json.dumps(body)) < size - 200:
        number += 1
        if len(tools) < 12 and size > 4096:
            function = {"name": f"tool_{number}", "parameters": _parameters(4)}
            tools.append({"type": "function", "function": function})
        arguments = json.dumps({"path": f"/src/file_{number}.py", "field_0": _FILLER})
        call = {"id": f"call_{number}", "type": "function"}
        call["function"] = {"name": "tool_1", "arguments": arguments}  # type: ignore[assignment]
        messages.append({"role": "user", "content": _FILLER * 2})
        if size > 4096:
            messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": _FILLER * 8})
    messages.append({"role": "user", "content": "Go on."})
    if not tools:
        del body["tools"]
    return json.dumps(body).encode()


def messages_request(size: int, *, stream: bool = False) -> bytes:
    """The same for an Anthropic client."""
    tools = [{"name": f"tool_{n}", "input_schema": _parameters(4)} for n in range(1, 13)]
    messages: list[Document] = []
    body = {"model": "model-1", "max_tokens": 4096, "system": _FILLER * 20, "stream": stream}
    body |= {"messages": messages, "tools": tools}
    number = 0
    while len(json.dumps(body)) < size - 200:
        number += 1
        use = {"type": "tool_use", "id": f"toolu_{number}", "name": "tool_1"}
        use["input"] = {"path": f"/src/file_{number}.py", "field_0": _FILLER}  # type: ignore[assignment]
        result = {"type": "tool_result", "tool_use_id": use["id"], "content": _FILLER * 8}
        messages.append({"role": "user", "content": _FILLER * 2})
        messages.append({"role": "assistant", "content": [use]})
        messages.append({"role": "user", "content": [result]})
    messages.append({"role": "user", "content": "Go on."})
    return json.dumps(body).encode()


def coding_agent_request() -> bytes:
    """What a coding agent asks first, in the proportions of Claude Code: nearly all of it tools."""
    tools = [
        {"name": f"tool_{n}", "description": _FILLER * 50, "input_schema": _parameters(6)}
        for n in range(25)
    ]
    mark = {"type": "ephemeral"}
    system = [{"type": "text", "text": _FILLER * 65, "cache_control": mark} for _ in range(2)]
    content = [{"type": "text", "text": _FILLER * 45} for _ in range(3)]
    messages = [{"role": "user", "content": content}]
    body = {"model": "model-1", "max_tokens": 32000, "system": system, "stream": False}
    return json.dumps(body | {"messages": messages, "tools": tools}).encode()


_CHAT_HEAD = {"id": "chatcmpl-1", "created": 1700000000, "model": "model-1"}
_CHAT_USAGE = {"prompt_tokens": 3000, "completion_tokens": 200, "total_tokens": 3200}
_TEXT = [f"word{number} " for number in range(EVENTS)]


def _chat_answer() -> Document:
    message = {"role": "assistant", "content": _FILLER * 16}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    return {**_CHAT_HEAD, "object": "chat.completion", "choices": [choice], "usage": _CHAT_USAGE}


def _messages_answer() -> Document:
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "model-1",
        "content": [{"type": "text", "text": _FILLER * 16}],
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 3000, "output_tokens": 200},
    }


def _chat_events() -> list[bytes]:
    def chunk(delta: Document, finish: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        return _data({**_CHAT_HEAD, "object": "chat.completion.chunk", "choices": [choice]})

    usage = {**_CHAT_HEAD, "object": "chat.completion.chunk", "choices": [], "usage": _CHAT_USAGE}
    return [
        chunk({"role": "assistant", "content": ""}),
        *(chunk({"content": text}) for text in _TEXT[: EVENTS - 4]),
        chunk({}, "stop"),
        _data(usage),
        b"data: [DONE]\n\n",
    ]


def _messages_events() -> list[bytes]:
    message = {**_messages_answer(), "content": [], "stop_reason": None}
    text = {"type": "text", "text": ""}
    stop = {"stop_reason": "end_turn", "stop_sequence": None}
    return [
        _named({"type": "message_start", "message": message}),
        _named({"type": "content_block_start", "index": 0, "content_block": text}),
        *(
            _named(
                {
                    "type": "content_block_delta",
                    "index": 0,
                    "delta": {"type": "text_delta", "text": word},
                }
            )
            for word in _TEXT[: EVENTS - 5]
        ),
        _named({"type": "content_block_stop", "index": 0}),
        _named({"type": "message_delta", "delta": stop, "usage": {"output_tokens": 200}}),
        _named({"type": "message_stop"}),
    ]


def _data(document: Document) -> bytes:
    return b"data: %b\n\n" % json.dumps(document, separators=(",", ":")).encode()


def _named(document: Document) -> bytes:
    return b"event: %b\n" % document["type"].encode() + _data(document)


def _pieces(events: list[bytes]) -> list[bytes]:
    step = len(events) // WRITES
    return [b"".join(events[at : at + step]) for at in range(0, len(events), step)]


ANSWERS = {"chat": _chat_answer(), "messages": _messages_answer()}
STREAMS = {"chat": _pieces(_chat_events()), "messages": _pieces(_messages_events())}

WORK = [
    Work("1 KB chat request", "chat", "chat", chat_request(1024), 1.35, 1500),
    Work("16 KB agent request", "chat", "chat", chat_request(16 * 1024), 1.9, 1000),
    Work("200 KB agent request", "chat", "chat", chat_request(200 * 1024), 3.0, 300),
    Work("200-event stream", "chat", "chat", chat_request(1024, stream=True), 1.6, 400),
    Work("16 KB, messages on chat", "messages", "chat", messages_request(16 * 1024), 2.5, 800),
    Work("16 KB, chat on messages", "chat", "messages", chat_request(16 * 1024), 2.5, 800),
    Work("coding agent, messages on chat", "messages", "chat", coding_agent_request(), 2.5, 500),
    Work(
        "stream, messages on chat",
        "messages",
        "chat",
        messages_request(8192, stream=True),
        5.0,
        300,
    ),
    Work("stream, chat on messages", "chat", "messages", chat_request(1024, stream=True), 5.0, 300),
]
