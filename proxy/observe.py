"""What the log and the metrics see of an answer: noted once, where nobody stands between them."""

from __future__ import annotations

import time
from collections.abc import Callable

from toolwire.proxy.asgi import Headers, Message, Scope, Send
from toolwire.proxy.exchange import Exchange

CLIENT_CLOSED = 499
"""nginx's word for a client that left before it was answered."""


class Observation:
    """The ``send`` that notes status, bytes and the time of the first byte, and passes all on.

    ``on_stream`` is called when the answer turns out to be a stream.
    """

    __slots__ = (
        "bytes_out",
        "finished",
        "first_byte_at",
        "on_stream",
        "send",
        "status",
        "streaming",
        "upstream_id",
    )

    def __init__(self, send: Send) -> None:
        self.send = send
        self.status = CLIENT_CLOSED
        self.bytes_out = 0
        self.first_byte_at: float | None = None
        self.streaming = False
        self.on_stream: Callable[[], None] | None = None
        self.finished = False
        self.upstream_id = ""

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.body":
            if body := message.get("body"):
                if self.first_byte_at is None:
                    self.first_byte_at = time.perf_counter()
                self.bytes_out += len(body)
            self.finished = not message.get("more_body", False)
        elif message["type"] == "http.response.start":
            self._begin(message["status"], message["headers"])
        await self.send(message)

    def _begin(self, status: int, headers: Headers) -> None:
        self.status = status
        for name, value in headers:
            if name == b"content-type":
                self.streaming = value[:17].lower() == b"text/event-stream"
            elif name == b"x-request-id" or name == b"request-id":
                self.upstream_id = value.decode("latin-1")
        if self.streaming and self.on_stream is not None:
            self.on_stream()


def observe(scope: Scope, send: Send) -> tuple[Exchange, Observation]:
    """The exchange of this request and what is seen of its answer: by the one that observes it
    already, unless somebody who may change the answer stands between."""
    return Exchange.of(scope), send if isinstance(send, Observation) else Observation(send)
