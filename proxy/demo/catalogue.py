"""The models that the demo lists, in the shape of either vendor. It answers to any other name too.

https://platform.openai.com/docs/api-reference/models
https://docs.anthropic.com/en/api/models-list
"""

from __future__ import annotations

from toolwire.proxy.demo.neutral import Json
from toolwire.proxy.demo.quirks import MODEL, QUIRKS

_CREATED = 1_767_225_600
_CREATED_AT = "2026-01-01T00:00:00Z"
NAMES = [MODEL, *(f"{MODEL}+{name}" for name in QUIRKS)]
"""The demo model and, for each quirk, the model that plays it."""


def openai_model(name: str) -> Json:
    """One model, as OpenAI describes it."""
    return {"id": name, "object": "model", "created": _CREATED, "owned_by": "toolwire"}


def openai_models() -> Json:
    """All models, as OpenAI lists them."""
    return {"object": "list", "data": [openai_model(name) for name in NAMES]}


def anthropic_model(name: str) -> Json:
    """One model, as Anthropic describes it."""
    return {
        "type": "model",
        "id": name,
        "display_name": name,
        "created_at": _CREATED_AT,
        "lifecycle": "active",
    }


def anthropic_models() -> Json:
    """All models, as Anthropic lists them, on one page."""
    return {
        "data": [anthropic_model(name) for name in NAMES],
        "has_more": False,
        "first_id": NAMES[0],
        "last_id": NAMES[-1],
    }
