"""What stands around the choices of a chunk, repaired."""

from __future__ import annotations

import time
from typing import Any

from toolwire.proxy.protocols.chat.calls import Count
from toolwire.proxy.protocols.chat.wire import WireUsage, usage_in
from toolwire.proxy.protocols.identifiers import random_id

OBJECT = "chat.completion.chunk"
WHOLE = "chat.completion"
"""The object of an answer that is no stream, with which one server ends its streams, too."""

_HEAD = ("id", "object", "created", "model")


class Envelope:
    """``head`` is what all chunks of the stream have in common, as far as it was told; ``usage``
    the last counts."""

    def __init__(self) -> None:
        self.head: dict[str, Any] = {}
        self.usage: WireUsage | None = None

    def repair(self, document: dict[str, Any], count: Count) -> None:
        """Repairs a chunk in place; ``count`` is called for each thing that was changed."""
        if not isinstance(document.get("choices"), list):
            count("choices_missing")
            document["choices"] = []
        if not all(isinstance(choice, dict) for choice in document["choices"]):
            count("choice_not_an_object")
            document["choices"] = [c for c in document["choices"] if isinstance(c, dict)]
        if document.get("object") in (None, "", WHOLE):
            count("object_added")
            document["object"] = OBJECT
        if document.get("id") is None:
            count("id_added")
            document["id"] = self.head.get("id") or random_id("chatcmpl-")
        if document.get("created") is None:
            count("created_added")
            document["created"] = self.head.get("created") or int(time.time())
        if document.get("model") is None and "model" in self.head:
            count("model_added")
            document["model"] = self.head["model"]
        self.head |= {name: document[name] for name in _HEAD if document.get(name)}
        if (counts := usage_in(document)) is not None:
            self.usage = counts
