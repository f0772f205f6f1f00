"""Which protocol a request or an answer is of, by what only that protocol has."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from toolwire.proxy.protocols import json, sse
from toolwire.proxy.protocols.neutral import Protocol


class Recognised(NamedTuple):
    """A protocol, and what it was recognised by."""

    protocol: Protocol
    by: str


_MESSAGES_FIELDS = (
    "system",
    "stop_sequences",
    "mcp_servers",
    "output_config",
    "context_management",
)
_MESSAGES_BLOCKS = frozenset(
    "tool_use tool_result thinking redacted_thinking image document server_tool_use".split()
)
_MESSAGES_CHOICES = ("auto", "any", "none", "tool")
_CHAT_FIELDS = (
    "max_completion_tokens",
    "response_format",
    "stream_options",
    "parallel_tool_calls",
    "reasoning_effort",
    "functions",
    "stop",
    "n",
    "seed",
    "frequency_penalty",
    "presence_penalty",
    "logprobs",
)
_SYSTEM_ROLES = ("system", "developer")
"""Chat's, but Messages takes ``system`` among its messages, too."""


def of_request(document: dict[str, Any]) -> Recognised:
    """The protocol that a client's request is written in.

    A plain conversation may be of chat or of messages; only messages demands ``max_tokens``.
    """
    if "input" in document or "messages" not in document:
        return Recognised("responses", "input" if "input" in document else "no messages in it")
    if found := next(_signs_of_chat(document), None):
        return Recognised("chat", found)
    if found := next(_signs_of_messages(document), None):
        return Recognised("messages", found)
    for place, message in enumerate(_dicts(document["messages"])):
        if message.get("role") in _SYSTEM_ROLES:
            return Recognised("chat", f"messages[{place}].role")
    if "max_tokens" in document:
        return Recognised("messages", "max_tokens, and nothing that only chat has")
    return Recognised("chat", "messages, without the max_tokens that Messages demands")


def _signs_of_chat(document: dict[str, Any]) -> Iterator[str]:
    yield from (name for name in _CHAT_FIELDS if name in document)
    for place, tool in enumerate(_dicts(document.get("tools"))):
        if "function" in tool:
            yield f"tools[{place}].function"
    for place, message in enumerate(_dicts(document.get("messages"))):
        if message.get("role") == "tool":
            yield f"messages[{place}].role"
        if "tool_calls" in message:
            yield f"messages[{place}].tool_calls"
        if any("_url" in str(part.get("type")) for part in _dicts(message.get("content"))):
            yield f"messages[{place}].content"


def _signs_of_messages(document: dict[str, Any]) -> Iterator[str]:
    yield from (name for name in _MESSAGES_FIELDS if name in document)
    for place, tool in enumerate(_dicts(document.get("tools"))):
        if "input_schema" in tool or ("name" in tool and "function" not in tool):
            yield f"tools[{place}]"
    choice = document.get("tool_choice")
    if isinstance(choice, dict) and choice.get("type") in _MESSAGES_CHOICES:
        yield "tool_choice"
    thinking = document.get("thinking")
    if isinstance(thinking, dict) and ("budget_tokens" in thinking or "display" in thinking):
        yield "thinking"
    for place, message in enumerate(_dicts(document.get("messages"))):
        for block in _dicts(message.get("content")):
            if block.get("type") in _MESSAGES_BLOCKS:
                yield f"messages[{place}].content, a block of type {block['type']}"


def of_answer(body: bytes) -> Protocol | None:
    """The protocol that an upstream's answer or stream is written in; None for one that does not
    tell, as an error."""
    for document in _documents(body):
        kind = document.get("type")
        if "choices" in document or str(document.get("object")).startswith("chat.completion"):
            return "chat"
        if kind in ("message", "message_start"):
            return "messages"
        if document.get("object") == "response" or str(kind).startswith("response."):
            return "responses"
    return None


def model_of(body: bytes) -> str | None:
    """The model that an answer or a stream names."""
    for document in _documents(body):
        for holder in (document, document.get("message"), document.get("response")):
            if isinstance(holder, dict) and isinstance(model := holder.get("model"), str) and model:
                return model
    return None


def is_stream(body: bytes) -> bool:
    """Whether a body is server-sent events, by its first line."""
    first = body.removeprefix(b"\xef\xbb\xbf").lstrip(b"\r\n")
    return first.startswith((b"data:", b"event:", b"id:", b"retry:", b":"))


def events_in(body: bytes) -> list[sse.Event]:
    """The events of a stream."""
    decoder = sse.Decoder()
    return [*decoder.feed(body), *decoder.flush()]


def _documents(body: bytes) -> Iterator[dict[str, Any]]:
    texts = [event.data for event in events_in(body)] if is_stream(body) else [body]
    for text in texts:
        if text is None:
            continue
        try:
            document = json.decode(text)
        except ValueError:
            continue
        if isinstance(document, dict):
            yield document


def _dicts(value: Any) -> list[dict[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []
