"""Why an answer ended: ``finish_reason``, its synonyms among upstreams, and the neutral stop.

https://platform.openai.com/docs/api-reference/chat/object (choices.finish_reason)
"""

from __future__ import annotations

from typing import Any

from toolwire.proxy.protocols.neutral import Stop

STOPS: dict[str, Stop] = {
    "stop": Stop.DONE,
    "tool_calls": Stop.CALLS,
    "function_call": Stop.CALLS,
    "length": Stop.LENGTH,
    "content_filter": Stop.FILTERED,
    # words without a documented twin, which pass as they are where the client speaks chat
    "insufficient_system_resource": Stop.LENGTH,  # DeepSeek: broken off, but no error
    "abort": Stop.LENGTH,  # vLLM and SGLang
    "sensitive": Stop.FILTERED,  # Zhipu
    "model_context_window_exceeded": Stop.CONTEXT,  # Zhipu
}

WORDS: dict[Stop, str] = {
    Stop.DONE: "stop",
    Stop.SEQUENCE: "stop",
    Stop.CALLS: "tool_calls",
    Stop.LENGTH: "length",
    Stop.CONTEXT: "length",
    Stop.PAUSED: "length",  # the turn is unfinished, and no word here says that better
    Stop.FILTERED: "content_filter",
}

SYNONYMS: dict[str, str] = {
    "eos": "stop",  # Together
    "eos_token": "stop",  # Text Generation Inference
    "stop_sequence": "stop",
    "end_turn": "stop",  # gateways in front of Claude
    "tool_use": "tool_calls",
    "max_tokens": "length",
    "model_length": "length",  # Mistral
}
"""What upstreams say in the place of the documented words."""

FAILED = ("error", "network_error")
"""Mistral's and OpenRouter's word, and Zhipu's, for an answer that broke off:
https://docs.mistral.ai/api, https://openrouter.ai/docs/api-reference/errors,
https://docs.z.ai/api-reference/llm/chat-completion."""


def corrected(word: str, *, calls: bool, legacy_call: bool = False) -> str:
    """The documented word for ``word``; a plain end beside calls is an end for their sake, and an
    end for the sake of calls that are not there a plain one, for clients would wait for them.

    "" is what some upstreams write for a plain end.  An unknown word stays as it is.
    """
    word = SYNONYMS.get(word, word) or "stop"
    if word not in _PLAIN_ENDS:
        return word
    if calls:
        return "tool_calls"
    return "function_call" if legacy_call else "stop"


def of_two(before: str, after: str) -> str:
    """The reason that counts of two that one choice was given: the later, for some upstreams give
    one with every chunk, unless it is a plain end that would hide another."""
    hides = corrected(after, calls=False) in _PLAIN_ENDS
    return before if hides and corrected(before, calls=False) not in _PLAIN_ENDS else after


_PLAIN_ENDS = ("stop", "tool_calls", "function_call")


def stop_of(word: str, *, calls: bool) -> Stop:
    """The neutral stop; ``calls``: the answer has some, so that a client would wait in vain
    where it has none."""
    stop = STOPS.get(corrected(word, calls=calls), Stop.CALLS if calls else Stop.DONE)
    return Stop.DONE if stop is Stop.CALLS and not calls else stop


def matched(stop: Stop, sequence: Any) -> tuple[Stop, str | None]:
    """The same stop, unless the upstream told which of the client's sequences it was.

    vLLM tells it in ``stop_reason``, SGLang in ``matched_stop``; a number is a token of the model.
    https://docs.vllm.ai/en/latest/api/vllm/outputs.html
    """
    if stop is Stop.DONE and isinstance(sequence, str):
        return Stop.SEQUENCE, sequence
    return stop, None


def word_of(stop: Stop | None, *, calls: bool, legacy: bool = False) -> str:
    """The word for a neutral stop, corrected by whether the answer has calls; ``legacy``: these
    stand in ``function_call``."""
    word = WORDS[stop or Stop.DONE]
    if word == "tool_calls":
        word = "stop"
    return corrected(word, calls=calls and not legacy, legacy_call=calls and legacy)
