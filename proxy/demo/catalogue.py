"""The models that the demo lists, in the shape of either vendor. It answers to any other name too.

https://platform.openai.com/docs/api-reference/models
https://docs.anthropic.com/en/api/models-list
"""

from __future__ import annotations

from toolwire.proxy.demo.documents import CREATED
from toolwire.proxy.demo.neutral import Json, Protocol
from toolwire.proxy.demo.quirks import MODEL, QUIRKS

_CREATED_AT = "2026-01-01T00:00:00Z"
NAMES = [MODEL, *(f"{MODEL}+{name}" for name in QUIRKS)]
"""The demo model and, for each quirk, the model that plays it."""


def model(protocol: Protocol, name: str) -> Json:
    """One model, as the vendor of that protocol describes it."""
    if protocol is not Protocol.MESSAGES:
        return {"id": name, "object": "model", "created": CREATED, "owned_by": "toolwire"}
    dated = {"created_at": _CREATED_AT, "lifecycle": "active"}
    return {"type": "model", "id": name, "display_name": name, **dated}


def models(protocol: Protocol) -> Json:
    """All models, as that vendor lists them, on one page."""
    described = [model(protocol, name) for name in NAMES]
    if protocol is not Protocol.MESSAGES:
        return {"object": "list", "data": described}
    return {"data": described, "has_more": False, "first_id": NAMES[0], "last_id": NAMES[-1]}
