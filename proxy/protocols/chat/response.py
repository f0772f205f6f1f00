"""Whole answers: read and written.

https://platform.openai.com/docs/api-reference/chat/object
"""

from __future__ import annotations

import time
from typing import Any

from toolwire.proxy.errors import BadUpstreamAnswer
from toolwire.proxy.protocols.chat import finish, oddities, reasoning_blocks
from toolwire.proxy.protocols.chat import usage as token_counts
from toolwire.proxy.protocols.chat.annotations import read_annotations, write_annotations
from toolwire.proxy.protocols.chat.answer_repair import OBJECT
from toolwire.proxy.protocols.chat.calls_write import is_legacy, write_calls
from toolwire.proxy.protocols.chat.errors import error_document, read_error
from toolwire.proxy.protocols.chat.joined_choices import joined
from toolwire.proxy.protocols.chat.wire import usage_in
from toolwire.proxy.protocols.fields import unknown
from toolwire.proxy.protocols.identifiers import random_id
from toolwire.proxy.protocols.logprobs import Token, read_tokens
from toolwire.proxy.protocols.neutral import (
    Answer,
    Call,
    Losses,
    Part,
    Refusal,
    Request,
    Stop,
    Text,
    Thinking,
    Usage,
)

_EXTRA = ("service_tier", "system_fingerprint")
_SERVICE_TIERS = ("auto", "default", "flex", "scale", "priority", "fast")
"""Other protocols have words of their own for this, which no client of this one knows."""


# -------------------------------------------------------------------------------------- read
def read_answer(document: dict[str, Any]) -> Answer:
    """The first choice of an answer that was repaired.

    Raises ``BadUpstreamAnswer`` for an error in an answer's place and for what has no choices.
    """
    if error_document(document) is not None:
        raise BadUpstreamAnswer(read_error(document).message)
    choices = document.get("choices")
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
        raise BadUpstreamAnswer("the upstream's answer has no choices")
    choice = joined(choices, "message", lambda _: None, all_one=True)[0]
    word = choice["finish_reason"]
    if word in finish.FAILED:
        raise BadUpstreamAnswer(f"the upstream broke the answer off: its finish_reason is {word!r}")
    logprobs = choice.get("logprobs")
    logprobs = logprobs if isinstance(logprobs, dict) else {}
    parts = _read_message(choice["message"], read_tokens(logprobs.get("content")))
    calls = any(isinstance(part, Call) for part in parts)
    stop, sequence = finish.matched(
        finish.stop_of(word, calls=calls), choice.get("stop_reason") or choice.get("matched_stop")
    )
    created = document.get("created")
    return Answer(
        id=document["id"],
        model=_text(document.get("model")),
        parts=parts,
        stop=stop,
        stop_sequence=sequence,
        usage=usage_of(document),
        created=created if type(created) is int else None,
        extra=_extra(document, logprobs, parts) or None,
    )


def _extra(document: dict[str, Any], logprobs: dict[str, Any], parts: list[Part]) -> dict[str, Any]:
    """With the log probabilities that are of no visible text: a refusal's, those of calls."""
    extra = {name: document[name] for name in _EXTRA if document.get(name)}
    beside = ("content",) if any(isinstance(part, Text) and part.text for part in parts) else ()
    if others := {name: told for name, told in logprobs.items() if told and name not in beside}:
        extra["logprobs"] = others
    return extra


def usage_of(document: dict[str, Any]) -> Usage | None:
    """The token counts of an answer; None where it tells none."""
    return token_counts.read(usage_in(document))


def _read_message(message: dict[str, Any], tokens: list[Token] | None) -> list[Part]:
    parts: list[Part] = [*_read_thinking(message)]
    text = _text(message.get("content"))
    citations = read_annotations(message.get("annotations"))
    if text or citations is not None:
        parts.append(Text(text, citations=citations, logprobs=tokens if text else None))
    if refusal := _text(message.get("refusal")):
        parts.append(Refusal(refusal))
    calls = message.get("tool_calls")
    if isinstance(calls, list):
        parts += [_read_call(call) for call in calls if isinstance(call, dict)]
    legacy = message.get("function_call")
    if isinstance(legacy, dict) and (name := _text(legacy.get("name"))):
        arguments = oddities.arguments(legacy.get("arguments"))
        parts.append(Call(random_id("call_"), name, arguments))
    return parts


def _read_thinking(message: dict[str, Any]) -> list[Thinking]:
    blocks = message.get(reasoning_blocks.BLOCKS)
    if isinstance(blocks, list) and (signed := reasoning_blocks.read_blocks(blocks)):
        return signed
    names = ("reasoning_content", "reasoning", "reasoning_text")
    text = next((text for name in names if (text := _text(message.get(name)))), "")
    text = text or oddities.detailed(message.get("reasoning_details"))
    return [Thinking(text, origin="chat")] if text else []


def _read_call(call: dict[str, Any]) -> Call:
    custom = call["type"] == "custom"
    body = call.get(call["type"])
    body = body if isinstance(body, dict) else {}
    return Call(
        id=call["id"],
        name=_text(body.get("name")),
        arguments=oddities.arguments(body.get("input" if custom else "arguments")),
        custom=custom,
        extra=extra_of_call(call),
    )


def extra_of_call(call: dict[str, Any]) -> dict[str, Any] | None:
    """The fields of a call that are not documented, for ``Call.extra``; ``index`` says nothing."""
    return unknown(call, _CALL_FIELDS) or None


_CALL_FIELDS = frozenset({"id", "type", "index", "function", "custom", "cache_control"})


# ------------------------------------------------------------------------------------- write
def write_answer(answer: Answer, request: Request, losses: Losses) -> dict[str, Any]:
    """A ``chat.completion`` with one choice."""
    calls = [part for part in answer.parts if isinstance(part, Call)]
    legacy, cut = is_legacy(request), answer.stop is Stop.LENGTH
    texts = [part for part in answer.parts if isinstance(part, Text)]
    message = _write_message(answer.parts) | write_calls(calls, cut=cut, legacy=legacy)
    if annotations := write_annotations(texts, losses):
        message["annotations"] = annotations
    tokens = [token for text in texts for token in text.logprobs or ()]
    document: dict[str, Any] = {
        "id": answer.id or random_id("chatcmpl-"),
        "object": OBJECT,
        "created": int(time.time()) if answer.created is None else answer.created,
        "model": answer.model or request.model,
        "choices": [
            {
                "index": 0,
                "message": message,
                "logprobs": {"content": tokens, "refusal": None} if tokens else None,
                "finish_reason": finish.word_of(answer.stop, calls=bool(calls), legacy=legacy),
            }
        ],
    }
    if answer.usage is not None:
        document["usage"] = token_counts.write(answer.usage)
    extra = answer.extra or {}
    if (tier := extra.get("service_tier")) in _SERVICE_TIERS:
        document["service_tier"] = tier
    if isinstance(fingerprint := extra.get("system_fingerprint"), str):
        document["system_fingerprint"] = fingerprint
    return document


def _write_message(parts: list[Part]) -> dict[str, Any]:
    """The message without its calls."""
    text = "".join([part.text for part in parts if isinstance(part, Text)])
    refusal = "".join([part.text for part in parts if isinstance(part, Refusal)])
    thoughts = [part for part in parts if isinstance(part, Thinking)]
    message: dict[str, Any] = {
        "role": "assistant",
        "content": text or (None if refusal or any(isinstance(p, Call) for p in parts) else ""),
        "refusal": refusal or None,
    }
    if reasoning := "".join([thought.text for thought in thoughts]):
        message["reasoning_content"] = reasoning
    if blocks := [block for thought in thoughts if (block := reasoning_blocks.block_of(thought))]:
        message[reasoning_blocks.BLOCKS] = blocks
        if vendor := next((thought.vendor for thought in thoughts if thought.vendor), None):
            message[reasoning_blocks.VENDOR] = vendor
    return message


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
