"""The innermost app here: notes what the forwarder would send, and plays a recorded answer."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from msgspec import Struct

from toolwire.config.model import Upstream
from toolwire.proxy.asgi import Headers, Receive, Scope, Send
from toolwire.proxy.errors import ClientDisconnected
from toolwire.proxy.exchange import Body, Exchange
from toolwire.proxy.forward import Forwarder
from toolwire.proxy.headers import CREDENTIALS

MASK = "***"
_EVENT_END = re.compile(rb"(?<=\n\n)|(?<=\r\n\r\n)|(?<=\r\r)")


class RecordedAnswer(Struct, frozen=True):
    """What an upstream answered once."""

    status: int
    headers: Headers
    body: bytes

    @property
    def is_stream(self) -> bool:
        """Whether it is played event by event."""
        return any(value.startswith(b"text/event-stream") for _, value in self.headers)

    @property
    def writes(self) -> list[bytes]:
        """The body as it is played: each event of a stream in a write of its own."""
        pieces = _EVENT_END.split(self.body) if self.is_stream else [self.body]
        return [piece for piece in pieces if piece]


class Sent(Struct, frozen=True):
    """What would be sent.  Secrets are masked: the key, and whatever header is neither the
    client's own nor well known, for it may be one."""

    method: str
    url: str
    headers: list[tuple[str, str]]
    body: bytes


class RecordedUpstream(Forwarder):
    """``note`` is told what is sent; ``begin`` the number of each write that is played, from 1, and
    one more for the end.  Without an answer the exchange ends here, as if the client had left.
    """

    def __init__(
        self,
        upstream: Upstream,
        answer: RecordedAnswer | None,
        *,
        client_headers: Headers,
        note: Callable[[Sent], None],
        begin: Callable[[int], None],
    ) -> None:
        super().__init__(upstream)
        self._recorded = answer
        self._client_headers = client_headers
        self._note = note
        self._begin = begin

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        whole = isinstance(receive, Body) and receive.buffered
        body = await _all_of(receive)
        self._note(self._sent(scope, body, streamed=not whole))
        answer = self._recorded
        if answer is None:
            raise ClientDisconnected
        headers = list(answer.headers)
        await send({"type": "http.response.start", "status": answer.status, "headers": headers})
        writes = answer.writes
        for step, data in enumerate(writes, 1):
            self._begin(step)
            await send({"type": "http.response.body", "body": data, "more_body": True})
        self._begin(len(writes) + 1)
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    def _sent(self, scope: Scope, body: bytes, *, streamed: bool) -> Sent:
        url = self._url(scope)
        headers = self._request_headers.of(scope, streamed=streamed)
        own = {  # what the HTTP client adds
            "host": url.host_port_subcomponent or "",
            "content-length": str(len(body)),
        }
        known = [*self._client_headers, *_encoded(Exchange.of(scope).profile({}).headers.items())]
        shown = [(name.decode(), _shown(name, value, known)) for name, value in headers]
        shown = [pair for pair in shown if pair[0] not in own]
        return Sent(scope["method"], str(url), [*own.items(), *shown], body)


async def _all_of(receive: Receive) -> bytes:
    pieces, more = [], True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientDisconnected
        pieces.append(message.get("body", b""))
        more = message.get("more_body", False)
    return b"".join(pieces)


def _shown(name: bytes, value: bytes, known: Headers) -> str:
    text = value.decode("latin-1")
    if (name, value) == (b"accept-encoding", b"identity"):
        return text
    if (name, value) in known and name not in CREDENTIALS:
        return text
    scheme, space, _ = text.partition(" ")
    return f"{scheme} {MASK}" if space and name == b"authorization" else MASK


def _encoded(headers: Iterable[tuple[str, str]]) -> Headers:
    return [(name.lower().encode(), value.encode()) for name, value in headers]
