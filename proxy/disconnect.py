"""Notices that the client left, and cancels what is being done for it."""

from __future__ import annotations

import asyncio
from types import TracebackType
from typing import Self

from toolwire.proxy.asgi import Receive
from toolwire.proxy.errors import ClientDisconnected


class cancelled_by_disconnect:
    """Cancels the block when ``receive`` (given to ``start``) says that the client is gone.

    The block then raises ``ClientDisconnected``.  Works as ``asyncio.timeout`` does, with a
    disconnect in the place of the clock.
    """

    def __init__(self) -> None:
        self._watch: asyncio.Task[None] | None = None
        self._gone = False

    async def __aenter__(self) -> Self:
        task = asyncio.current_task()
        if task is None:
            raise RuntimeError("must run inside a task")
        self._task = task
        return self

    def start(self, receive: Receive) -> None:
        """From here on nothing else reads from ``receive``: what comes can only be a disconnect."""
        self._watch = asyncio.create_task(self._wait(receive))

    def stop(self) -> None:
        """The client may leave now: everything is done."""
        if self._watch is not None:
            self._watch.cancel()

    async def _wait(self, receive: Receive) -> None:
        while (await receive())["type"] != "http.disconnect":
            pass
        self._gone = True
        self._task.cancel()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        self.stop()
        if self._gone and kind is asyncio.CancelledError and self._task.uncancel() <= 0:
            raise ClientDisconnected from error
