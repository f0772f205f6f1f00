"""Keeps responses, so that clients can go on from them and ask for them again.

An upstream that does not speak Responses keeps nothing, but its clients' conversations may rest on
ids.  What they say by an id is looked up here: for ``previous_response_id`` the whole conversation
before is put before the new input (``instructions`` are not: they do not carry over), for an
``item_reference`` the item itself.  Ids that are not in the store go inwards as they are, for an
upstream that speaks Responses has a store of its own.

Each answer of another upstream is kept, unless the request says ``store: false``, and is there
before its last event or byte is sent.  ``GET`` and ``DELETE /v1/responses/{id}`` and ``GET
/v1/responses/{id}/input_items`` are answered from the store; other ids are asked of the upstream
that speaks Responses, where there is one.  A client finds only what was answered to its own key.

While the database fails requests are answered all the same; what is not kept is reported in the
header ``x-toolwire-dropped: store``, as far as it is known by then, in the log and in a counter.

Source: https://platform.openai.com/docs/api-reference/responses

Stands outside of routing, and inside of auth.  The database is set in ``[responses_store]``.

    [middlewares.response_store]
    enabled = true
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from typing import ClassVar
from urllib.parse import parse_qs

from toolwire import config
from toolwire.config.model import Upstream
from toolwire.proxy.asgi import ASGIApp, Message, Receive, Scope, Send, route_path
from toolwire.proxy.errors import InvalidRequest, NotFound
from toolwire.proxy.exchange import Body, Exchange, endpoint, open_body
from toolwire.proxy.models import Catalog
from toolwire.proxy.protocols import json
from toolwire.proxy.store import NoStore, Store, StoredResponse
from toolwire.proxy.store.keeping import KeptAnswer
from toolwire.proxy.store.listing import input_items_page
from toolwire.proxy.store.resolving import resolve
from toolwire.proxy.store.unresolved import note

_PATH = re.compile(r"(?:/v1)?/responses/([^/]+)(?:/(input_items|cancel))?/?")
_METHODS = {("GET", None), ("DELETE", None), ("GET", "input_items"), ("POST", "cancel")}


class Options(config.Options, frozen=True, kw_only=True, forbid_unknown_fields=True):
    per_upstream: ClassVar[bool] = False


class ResponseStore:
    """See the module.  ``store`` is closed by whoever opened it."""

    def __init__(
        self,
        app: ASGIApp,
        options: Options | None = None,
        *,
        store: Store | None = None,
        upstreams: Sequence[Upstream] = (),
    ) -> None:
        self.app = app
        self.store = store or NoStore("this gateway has no response store")
        self.catalog = Catalog(upstreams)
        native = [upstream for upstream in upstreams if upstream.protocol == "responses"]
        self.native = native[0] if native else None
        self.needed = not upstreams or len(native) < len(upstreams)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        codec = endpoint(scope)
        if self.needed and codec is not None and codec.name == "responses":
            await self._create(scope, receive, send)
        elif self.needed and (asked := _asked(scope)) is not None:
            await self._stored(*asked, scope, receive, send)
        else:
            await self.app(scope, receive, send)

    async def _create(self, scope: Scope, receive: Receive, send: Send) -> None:
        scope, body = open_body(scope, receive)
        owner = _owner(scope)
        data = await body.encoded()
        resolved = await resolve(self.store, owner, data, is_native=self._is_native)
        if resolved.missing is not None:
            scope = note(scope, resolved.missing)
        if resolved.body is not None:
            Exchange.of(scope).changes["response_continued"] += 1
            body = await _replaced(body, resolved.body)
        await KeptAnswer(scope, send, self.store, owner, resolved).run(self.app, scope, body)

    def _is_native(self, model: str) -> bool:
        candidates = self.catalog.candidates(model)
        return bool(candidates) and candidates[0][0].protocol == "responses"

    async def _stored(
        self, name: str, what: str | None, scope: Scope, receive: Receive, send: Send
    ) -> None:
        """Answers for the response ``name``, or lets another one do so."""
        owner = _owner(scope)
        if scope["method"] == "DELETE":
            if await self.store.delete(owner, name):
                deleted = {"id": name, "object": "response", "deleted": True}
                await _reply(send, json.encode(deleted))
                return
        elif (stored := await self.store.find(owner, name)) is not None:
            await _reply(send, _shown(stored, what, scope["query_string"]))
            return
        if self.native is None:
            why = f" {self.store.absent}" if self.store.absent else ""
            raise NotFound(f"Response with id '{name}' not found.{why}", param="response_id")
        Exchange.of(scope).upstream = self.native
        await self.app(scope, receive, send)


def _asked(scope: Scope) -> tuple[str, str | None] | None:
    """The id in the path of a stored response, and which part of it is asked for."""
    if scope["type"] != "http":
        return None
    found = _PATH.fullmatch(route_path(scope))
    if found is None or (scope["method"], found[2]) not in _METHODS:
        return None
    return found[1], found[2]


def _owner(scope: Scope) -> str:
    """Whose request it is: a digest of all credentials shown, for a client shows the same ones each
    time, and one that shows another's beside its own is still not the other."""
    shown = set()
    for name, credential in scope["headers"]:
        if name == b"authorization":
            shown.add(re.sub(rb"(?i)^bearer +", b"", credential).strip())
        elif name in (b"x-api-key", b"api-key"):
            shown.add(credential)
    if not shown:
        return ""
    return hashlib.sha256(b"toolwire response owner\0" + b"\0".join(sorted(shown))).hexdigest()


def _shown(stored: StoredResponse, what: str | None, query: bytes) -> bytes:
    if what == "input_items":
        return json.encode(input_items_page(stored, query))
    if what == "cancel":
        raise InvalidRequest(
            "only a response that was created with background=true can be cancelled",
            param="response_id",
        )
    if parse_qs(query).get(b"stream", [b""])[-1] == b"true":
        raise InvalidRequest(
            "only a response that was created with background=true can be streamed again",
            param="stream",
        )
    return stored.response


async def _replaced(body: Body, data: bytes) -> Body:
    """A body of ``data``, which survives a reset; ``body`` goes on to tell of a disconnect."""
    await body()
    pending: list[Message] = [{"type": "http.request", "body": data, "more_body": False}]

    async def receive() -> Message:
        return pending.pop() if pending else await body()

    return Body(receive)


async def _reply(send: Send, body: bytes) -> None:
    headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body))]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": body, "more_body": False})
