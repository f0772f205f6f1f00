"""Log probabilities of the tokens of an answer's text: the same in both of OpenAI's protocols.

https://platform.openai.com/docs/api-reference/chat/object (``choices[].logprobs``),
https://platform.openai.com/docs/api-reference/responses/object (``output_text.logprobs``)
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from msgspec import Raw

from toolwire.proxy.protocols import json
from toolwire.proxy.protocols.neutral import Delta, Request, StreamEvent

INCLUDED = "message.output_text.logprobs"
"""How a request for Responses asks for them, in ``include``."""

Token = dict[str, Any]


def are_included(request: Request) -> bool:
    """Whether a client of Responses asks for them."""
    return request.protocol == "responses" and INCLUDED in request.extra.get("include", ())


def read_tokens(entries: object) -> list[Token] | None:
    """The tokens in ``entries``, each with all that clients' types demand; None where there are
    none."""
    if not isinstance(entries, list):
        return None
    return [_with_others(entry) for entry in entries if _is_token(entry)] or None


def add_tokens(tokens: Iterable[Raw], key: int, events: list[StreamEvent]) -> None:
    """Puts ``tokens`` beside the text of part ``key`` in ``events``, or after them where there is
    none."""
    try:
        told = read_tokens(json.decode(b"[%b]" % b",".join([bytes(token) for token in tokens])))
    except ValueError:  # broken inside
        return
    if told is None:
        return
    for event in events:
        if type(event) is Delta and event.key == key:
            event.logprobs = told
            return
    events.append(Delta(key, "", told))


def _with_others(entry: Token) -> Token:
    others = entry.get("top_logprobs")
    others = others if isinstance(others, list) else []
    return {
        **_with_bytes(entry),
        "top_logprobs": [_with_bytes(other) for other in others if _is_token(other)],
    }


def _with_bytes(entry: Token) -> Token:
    """Chat may leave the bytes out, Responses may not."""
    if isinstance(entry.get("bytes"), list):
        return entry
    return {**entry, "bytes": list(entry["token"].encode("utf-8", "surrogatepass"))}


def _is_token(entry: object) -> bool:
    return isinstance(entry, dict) and isinstance(entry.get("token"), str) and "logprob" in entry
