"""The protocols, by name and by path.  A fourth one is one more folder and one more line here."""

from __future__ import annotations

from functools import lru_cache

from toolwire.proxy.protocols.chat import CODEC as CHAT
from toolwire.proxy.protocols.codec import Codec
from toolwire.proxy.protocols.messages import CODEC as MESSAGES
from toolwire.proxy.protocols.responses import CODEC as RESPONSES

CODECS: dict[str, Codec] = {codec.name: codec for codec in (CHAT, MESSAGES, RESPONSES)}


@lru_cache(256)
def codec_for_path(path: str) -> Codec | None:
    """The codec whose endpoint ``path`` is, whatever stands before it (``/llm/v1/messages``)."""
    for codec in CODECS.values():
        if path.endswith(codec.path):
            # OpenAI's Assistants API has a /threads/{id}/messages that is something else
            return None if "/threads/" in path else codec
    return None
