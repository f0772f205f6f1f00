"""Keeps an eye on one exchange with an upstream: a client that leaves, an upstream that is silent.

Most answers are over in a moment, so nothing is set up for them but one timer: the client is
listened to only when the answer takes longer than ``GRACE_SECONDS``, and silence is measured by
comparing times when the timer rings.
"""

from __future__ import annotations

import asyncio
from types import TracebackType
from typing import Self

from toolwire.proxy.asgi import Receive
from toolwire.proxy.errors import ClientDisconnected

GRACE_SECONDS = 0.2
"""How long a client that has left may go unnoticed."""


class Silence(Exception):
    """Nothing came for ``seconds``."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds


class Watch:
    """Cancels its block when the client leaves (``ClientDisconnected``) or when nothing comes for
    too long (``Silence``).

    Works as ``asyncio.timeout`` does.  ``client`` is where a disconnect can come from, once the
    request's body is over; ``patience`` is how long the next sign of life may take, ``heard`` says
    that there was one.  Entered once.
    """

    def __init__(self, patience: float) -> None:
        self._loop = asyncio.get_running_loop()
        self._patience = patience
        self._heard_at = self._loop.time()
        self._client: Receive | None = None
        self._listening: asyncio.Task[None] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._cause: type[Exception] | None = None

    async def __aenter__(self) -> Self:
        task = asyncio.current_task()
        if task is None:
            raise RuntimeError("a watch runs inside a task")
        self._task = task
        self._timer = self._loop.call_later(min(GRACE_SECONDS, self._patience), self._look)
        return self

    def client(self, receive: Receive) -> None:
        """From here on nothing else reads from ``receive``: what comes can only be a disconnect."""
        self._client = receive

    def heard(self, patience: float) -> None:
        """The upstream gave a sign of life; the next may take ``patience`` seconds."""
        self._patience = patience
        self._heard_at = self._loop.time()

    def pause(self) -> None:
        """It is not the upstream that is waited for."""
        self._heard_at = float("inf")

    def stop(self) -> None:
        """Everything is done."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._listening is not None:
            self._listening.cancel()

    def _look(self) -> None:
        left = self._heard_at + self._patience - self._loop.time()
        if left <= 0:
            self._cancel(Silence)
            return
        if self._client is not None and self._listening is None:
            self._listening = self._loop.create_task(self._listen(self._client))
        wait = left if self._listening is not None else GRACE_SECONDS
        self._timer = self._loop.call_later(min(wait, self._patience), self._look)

    async def _listen(self, receive: Receive) -> None:
        while (await receive())["type"] != "http.disconnect":
            pass
        self._cancel(ClientDisconnected)

    def _cancel(self, cause: type[Exception]) -> None:
        if self._timer is not None and self._cause is None:
            self._cause = cause
            self._task.cancel()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        self.stop()
        if self._cause is None or kind is not asyncio.CancelledError or self._task.uncancel() > 0:
            return
        if self._cause is Silence:
            raise Silence(self._patience) from error
        raise ClientDisconnected from error
