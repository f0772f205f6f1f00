"""Answers ``GET /v1/models`` and ``GET /v1/models/{id}`` from the configuration.

Lists the models that upstreams are configured with by name (globs name none), plain and as
``upstream/model`` where two upstreams serve the same; in the shape of Anthropic's API where the
client sends ``anthropic-version``, else in OpenAI's.  A model that only matches a glob exists, too.

Sources: https://platform.openai.com/docs/api-reference/models and
https://docs.anthropic.com/en/api/models-list

Stands inside of auth and outside of routing.

    [middlewares.model_list]
    enabled = true
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from toolwire import config
from toolwire.config.model import Upstream
from toolwire.proxy.asgi import ASGIApp, Receive, Scope, Send, route_path
from toolwire.proxy.errors import ModelNotFound
from toolwire.proxy.models import Catalog
from toolwire.proxy.protocols import json

_PATH = "/v1/models"
_UNKNOWN_TIME = 0
_UNKNOWN_DATE = "1970-01-01T00:00:00Z"


class Options(config.Options, frozen=True, kw_only=True, forbid_unknown_fields=True):
    per_upstream: ClassVar[bool] = False


class ModelList:
    """See the module."""

    def __init__(
        self, app: ASGIApp, options: Options | None = None, *, upstreams: Sequence[Upstream] = ()
    ) -> None:
        self.app = app
        self.catalog = Catalog(upstreams)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        model = _asked(scope)
        if model is None:
            await self.app(scope, receive, send)
            return
        anthropic = any(name == b"anthropic-version" for name, _ in scope["headers"])
        body = json.encode(self._one(model, anthropic) if model else self._all(anthropic))
        headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body))]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": body, "more_body": False})

    def _all(self, anthropic: bool) -> dict[str, Any]:
        listed = self.catalog.listed()
        if not anthropic:
            return {"object": "list", "data": [_openai(name, owner) for name, owner in listed]}
        data = [_anthropic(name) for name, _ in listed]
        ends = {"first_id": data[0]["id"], "last_id": data[-1]["id"]} if data else {}
        return {"data": data, "has_more": False, "first_id": None, "last_id": None, **ends}

    def _one(self, model: str, anthropic: bool) -> dict[str, Any]:
        candidates = self.catalog.candidates(model)
        if not candidates:
            raise ModelNotFound(self.catalog.missing(model), param="model")
        return _anthropic(model) if anthropic else _openai(model, candidates[0][0].name)


def _asked(scope: Scope) -> str | None:
    """ "" for the list, a name for one model, None for another request."""
    if scope["type"] != "http" or scope["method"] not in ("GET", "HEAD"):
        return None
    path = route_path(scope)
    if not path.startswith("/v1/"):
        path = "/v1" + path
    if path.rstrip("/") == _PATH:
        return ""
    return path[len(_PATH) + 1 :] if path.startswith(_PATH + "/") else None


def _openai(name: str, owner: str) -> dict[str, Any]:
    return {"id": name, "object": "model", "created": _UNKNOWN_TIME, "owned_by": owner}


def _anthropic(name: str) -> dict[str, Any]:
    return {"type": "model", "id": name, "display_name": name, "created_at": _UNKNOWN_DATE}
