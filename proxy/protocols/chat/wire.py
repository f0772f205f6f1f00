"""The chunks of a Chat Completions stream, in the vendor's own words.

Only what is read here stands in the structs; msgspec skips all else.  A chunk of an odd upstream
(numbers as text, content as a list) does not fit them: ``lenient_chunk`` takes what can be had.
"""

from __future__ import annotations

from functools import cache
from typing import Any, TypeVar

import msgspec
from msgspec import Raw, Struct

from toolwire.proxy.protocols import json

S = TypeVar("S", bound=Struct)

# No chunk holds a reference to itself, so the collector need not look at them (gc=False).


class FunctionDelta(Struct, gc=False):
    """https://platform.openai.com/docs/api-reference/chat-streaming/streaming"""

    name: str | None = None
    arguments: str | None = None


class CustomDelta(Struct, gc=False):
    """The twin of ``FunctionDelta`` in a call of type ``custom``."""

    name: str | None = None
    input: str | None = None


class CallDelta(Struct, gc=False):
    """An entry of ``delta.tool_calls``.

    ``extra_content`` is Google's: https://ai.google.dev/gemini-api/docs/thought-signatures
    """

    index: int | None = None
    id: str | None = None
    type: str | None = None
    function: FunctionDelta | None = None
    custom: CustomDelta | None = None
    extra_content: Any = None


class Delta(Struct, gc=False):
    """``reasoning_content`` is DeepSeek's name, ``reasoning`` that of vLLM, Groq and OpenRouter,
    ``reasoning_text`` GitHub Copilot's: https://api-docs.deepseek.com/guides/thinking_mode,
    https://openrouter.ai/docs/use-cases/reasoning-tokens,
    https://github.com/earendil-works/pi/pull/1502.  ``reasoning_details`` is OpenRouter's
    too, and says the same again in pieces that bear a type.  ``reasoning_blocks`` is our own:
    signed thinking blocks of a Messages upstream."""

    content: str | None = None
    role: str | None = None
    tool_calls: list[CallDelta] | None = None
    reasoning_content: str | None = None
    reasoning: str | None = None
    reasoning_text: str | None = None
    reasoning_details: Any = None
    refusal: str | None = None
    function_call: FunctionDelta | None = None
    reasoning_blocks: list[Any] | None = None
    annotations: list[Any] | None = None


class ChunkLogprobs(Struct, gc=False):
    """The tokens stay raw JSON, so that no digit is lost."""

    content: list[Raw] | None = None


class PromptDetails(Struct, gc=False):
    cached_tokens: int | None = None
    cache_write_tokens: int | None = None


class CompletionDetails(Struct, gc=False):
    reasoning_tokens: int | None = None


class WireUsage(Struct, gc=False):
    """https://platform.openai.com/docs/api-reference/chat/object (usage).

    ``prompt_cache_hit_tokens`` is DeepSeek's: https://api-docs.deepseek.com/guides/kv_cache, and
    ``cached_tokens`` outside of the details Kimi's: https://platform.kimi.ai/docs/api/chat
    """

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    prompt_tokens_details: PromptDetails | None = None
    completion_tokens_details: CompletionDetails | None = None
    prompt_cache_hit_tokens: int | None = None
    cached_tokens: int | None = None


class ChunkChoice(Struct, gc=False):
    """``usage`` is Kimi's place for it: https://platform.kimi.ai/docs/api/chat"""

    index: int = 0
    delta: Delta | None = None
    finish_reason: str | None = None
    logprobs: ChunkLogprobs | None = None
    stop_reason: Any = None  # vLLM's and SGLang's: which stop sequence it was
    matched_stop: Any = None
    usage: WireUsage | None = None


class GroqFields(Struct, gc=False):
    """Groq's own: the last chunk of a stream tells its counts here, too, or here alone.
    https://console.groq.com/docs/api-reference#chat-create"""

    usage: WireUsage | None = None


class Chunk(Struct, gc=False):
    """https://platform.openai.com/docs/api-reference/chat-streaming/streaming"""

    id: str | None = None
    object: str | None = None
    created: int | None = None
    model: str | None = None
    choices: list[ChunkChoice] | None = None
    usage: WireUsage | None = None
    x_groq: GroqFields | None = None
    error: Any = None


_decoder = msgspec.json.Decoder(Chunk)


def decode_chunk(data: bytes) -> Chunk | None:
    """The chunk in ``data``; None where it is no JSON, or its types are not the documented ones."""
    try:
        return _decoder.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def lenient_chunk(document: dict[str, Any]) -> Chunk:
    """The chunk in a document of odd types: each field of a wrong type counts as absent."""
    return _fitting(Chunk, document)


_MISFITS = (msgspec.ValidationError, UnicodeEncodeError)
"""The second: a lone surrogate, which msgspec meets when it says what does not fit."""


def usage_in(document: dict[str, Any]) -> WireUsage | None:
    """The token counts of a chunk or a whole answer, whatever stands there."""
    choices = document.get("choices")
    last = choices[-1] if isinstance(choices, list) and choices else None
    for place in (document, document.get("x_groq"), last):
        told = lenient_usage(place.get("usage")) if isinstance(place, dict) else None
        if told is not None:
            return told
    return None


def lenient_usage(value: Any) -> WireUsage | None:
    """The token counts in ``value``, whatever it is."""
    if not isinstance(value, dict):
        return None
    try:
        return msgspec.convert(value, WireUsage)
    except _MISFITS:
        return _fitting(WireUsage, value)


_NESTED: dict[str, type[Struct]] = {
    "delta": Delta,
    "logprobs": ChunkLogprobs,
    "function": FunctionDelta,
    "custom": CustomDelta,
    "function_call": FunctionDelta,
    "usage": WireUsage,
    "x_groq": GroqFields,
    "prompt_tokens_details": PromptDetails,
    "completion_tokens_details": CompletionDetails,
}
_NESTED_LISTS: dict[str, type[Struct]] = {"choices": ChunkChoice, "tool_calls": CallDelta}


_fields = cache(msgspec.structs.fields)


def _fitting(kind: type[S], document: dict[str, Any]) -> S:
    fields: dict[str, Any] = {}
    for info in _fields(kind):
        value = document.get(info.name)
        if info.name in _NESTED:
            value = _fitting(_NESTED[info.name], value) if isinstance(value, dict) else None
        elif info.name in _NESTED_LISTS and isinstance(value, list):
            value = [
                _fitting(_NESTED_LISTS[info.name], entry)
                for entry in value
                if isinstance(entry, dict)
            ]
        elif info.type == list[Raw] | None:
            value = [Raw(json.encode(e)) for e in value] if isinstance(value, list) else None
        elif not _fits(value, info.type):
            continue
        if value is not None:
            fields[info.name] = value
    return kind(**fields)


def _fits(value: Any, kind: Any) -> bool:
    try:
        msgspec.convert(value, kind)
    except _MISFITS:
        return False
    return True
