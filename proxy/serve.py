"""Runs the gateway under uvicorn, in one process or in several, until it is told to stop.

SIGTERM and SIGINT drain: the socket is closed, so that new clients are refused at once; running
requests end, for up to ``server.drain_seconds``.  What still runs then is cancelled and its
connection broken off, so that no client takes its answer for complete.
"""

from __future__ import annotations

import errno
import gc
import os
import signal
import socket
from asyncio import CancelledError
from collections.abc import Callable
from functools import partial
from logging import LogRecord, getLogger
from typing import Any

import structlog
import uvicorn

from toolwire.config.model import Server, Settings
from toolwire.proxy import logging
from toolwire.proxy.app import create_app
from toolwire.proxy.asgi import ASGIApp, Receive, Scope, Send
from toolwire.proxy.connection import ClientConnection
from toolwire.proxy.errors import ToolwireError

KEEP_ALIVE_SECONDS = 75
"""How long an unused connection of a client is kept.  Longer than the 60 s of what usually stands
in front, for who closes first must not be who may be sent a request in that moment.
https://docs.aws.amazon.com/elasticloadbalancing/latest/application/edit-load-balancer-attributes.html"""

BACKLOG = 2048
"""Connections that may wait to be accepted."""

_ANY = {"0.0.0.0": "127.0.0.1", "::": "::1"}
"""Addresses to listen on that are all of the machine; one of them is always there."""

_log = structlog.get_logger("toolwire")


class CannotListen(Exception):
    """The address cannot be listened on; ``str()`` says why and what to do."""


def serve(settings: Settings, listening: Callable[[str], None]) -> int:
    """Serves until SIGTERM or SIGINT; the exit status, 0 after a drain.

    ``listening`` is called with the gateway's URL as soon as clients may connect.  Raises
    ``CannotListen``.  To be called in the main thread, which gets the signals.
    """
    app = _app_for(settings)  # what cannot be built is told now, not by each worker
    server = settings.server
    with listen(server.host, server.port) as listener:
        one = server.workers == 1
        run = _one_process(app, server, listener) if one else _workers(settings, listener)
        host, port = listener.getsockname()[:2]
        _log.info("listening", host=host, port=port, workers=server.workers)
        listening(url_of(listener))
        status = run()
    _log.info("stopped")
    return status


def listen(host: str, port: int) -> socket.socket:
    """A listening socket; port 0 takes one that is free.  Raises ``CannotListen``."""
    try:
        family, _, _, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        both = host == "::" and socket.has_dualstack_ipv6()
        return socket.create_server(address, family=family, backlog=BACKLOG, dualstack_ipv6=both)
    except OSError as error:
        where = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
        raise CannotListen(f"cannot listen on {where}: {_reason(error)}") from error


def _reason(error: OSError) -> str:
    if isinstance(error, socket.gaierror):  # its numbers are of another kind
        return str(error.strerror)
    if error.errno == errno.EADDRINUSE:
        return "the port is in use; --port takes another one, and --port 0 any that is free"
    return os.strerror(error.errno) if error.errno else str(error)


def url_of(listener: socket.socket) -> str:
    """Under which URL this machine reaches what listens there."""
    host, port = listener.getsockname()[:2]
    host = _ANY.get(host, host)
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def uvicorn_config(
    app: Callable[..., Any], server: Server, *, factory: bool = False
) -> uvicorn.Config:
    """How uvicorn runs ``app``.  What it would log itself is only what went wrong, for the access
    log tells of requests, and the events below of the rest."""
    return uvicorn.Config(
        app,
        factory=factory,
        workers=server.workers,
        interface="asgi3",
        http=ClientConnection,
        ws="none",
        lifespan="on",
        log_config=None,
        log_level="debug" if server.log_level == "debug" else "warning",
        access_log=False,
        proxy_headers=False,  # nobody here asks for a client's address
        server_header=False,
        date_header=False,  # the upstream's own passes through; two would be wrong
        backlog=BACKLOG,
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=server.drain_seconds,  # type: ignore[arg-type]  # may be a float
    )


class _Server(uvicorn.Server):
    """The server of a single process; says so when it begins to drain."""

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        seconds = self.config.timeout_graceful_shutdown
        _log.info("draining", requests=len(self.server_state.tasks), at_most_seconds=seconds)
        await super().shutdown(sockets)


def _one_process(app: ASGIApp, server: Server, listener: socket.socket) -> Callable[[], int]:
    """What runs the server here; a signal already counts before it is called."""
    running = _Server(uvicorn_config(app, server))
    for signal_ in (signal.SIGTERM, signal.SIGINT):
        # uvicorn installs the same ones, but sends itself the signal once more when it is done,
        # which would make the exit status that of a killed process.
        signal.signal(signal_, running.handle_exit)

    def run() -> int:
        running.run(sockets=[listener])
        return 0

    return run


def _workers(settings: Settings, listener: socket.socket) -> Callable[[], int]:
    """What runs the workers; a signal already counts before it is called."""
    from toolwire.proxy.workers import Workers

    config = uvicorn_config(partial(_app_for, settings), settings.server, factory=True)
    return Workers(config, listener).supervise


def _app_for(settings: Settings) -> ASGIApp:
    """The log and the app of this process; a worker calls it too, in a fresh interpreter."""
    logging.configure(settings.server.log_level, settings.server.log_format)
    getLogger("uvicorn.error").addFilter(_is_news)
    app = create_app(settings)
    # What is here now stays to the end: the collector need not look at it again and again.
    gc.collect()
    gc.freeze()
    # What a request makes goes with it, nearly all of it without the collector.  To look after each
    # 700 objects, as is the default, was 7 % of a converted request's time.
    gc.set_threshold(10_000)
    return _Under(settings.server.root_path, app) if settings.server.root_path else app


class _Under:
    """Takes requests as a reverse proxy passes them on, with ``server.root_path`` or without."""

    def __init__(self, root_path: str, app: ASGIApp) -> None:
        self._root_path = root_path
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and f"{scope['path']}/".startswith(f"{self._root_path}/"):
            # https://asgi.readthedocs.io/en/latest/specs/www.html: the path holds the root path
            scope = {**scope, "root_path": self._root_path}
        await self._app(scope, receive, send)


def _is_news(record: LogRecord) -> bool:
    """An answer that was broken off on purpose is a line of the access log, and no traceback."""
    error = record.exc_info[1] if record.exc_info else None
    return not isinstance(error, ToolwireError | CancelledError)
