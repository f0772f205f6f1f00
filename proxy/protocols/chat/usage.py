"""Token counts.  ``prompt_tokens`` includes what was read from and written to a cache.

https://platform.openai.com/docs/api-reference/chat/object (usage)
"""

from __future__ import annotations

from typing import Any

from toolwire.proxy.protocols.chat.wire import Chunk, CompletionDetails, PromptDetails, WireUsage
from toolwire.proxy.protocols.neutral import Usage


def read(usage: WireUsage | None) -> Usage | None:
    """The neutral counts; None where the upstream told none."""
    if usage is None:
        return None
    prompt = usage.prompt_tokens_details or PromptDetails()
    completion = usage.completion_tokens_details or CompletionDetails()
    own = usage.prompt_cache_hit_tokens or usage.cached_tokens
    return Usage(
        input=usage.prompt_tokens,
        output=usage.completion_tokens,
        cached=prompt.cached_tokens or own or prompt.cached_tokens,
        cache_written=prompt.cache_write_tokens,
        reasoning=completion.reasoning_tokens,
    )


def of_chunk(chunk: Chunk) -> WireUsage | None:
    """The counts that a chunk tells, wherever it does."""
    if chunk.usage is not None:
        return chunk.usage
    if chunk.x_groq is not None:
        return chunk.x_groq.usage
    return chunk.choices[-1].usage if chunk.choices else None


def write(usage: Usage) -> dict[str, Any]:
    """The ``usage`` object; details stand in it where they are known."""
    prompt, completion = usage.input or 0, usage.output or 0
    document: dict[str, Any] = {
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": prompt + completion,
    }
    details = {"cached_tokens": usage.cached, "cache_write_tokens": usage.cache_written}
    if known := {name: count for name, count in details.items() if count is not None}:
        document["prompt_tokens_details"] = known
    if usage.reasoning is not None:
        document["completion_tokens_details"] = {"reasoning_tokens": usage.reasoning}
    return document
