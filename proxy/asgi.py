"""The ASGI types, by name (https://asgi.readthedocs.io/en/latest/specs/main.html)."""

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Headers = list[tuple[bytes, bytes]]
ASGIApp = Callable[[Scope, Receive, Send], Awaitable[None]]


def route_path(scope: Scope) -> str:
    """The path without what the app is mounted at (``root_path``), which may stand before it.

    https://asgi.readthedocs.io/en/latest/specs/www.html#http-connection-scope
    """
    path: str = scope["path"]
    root: str = scope.get("root_path", "").rstrip("/")
    return path[len(root) :] if root and path.startswith(f"{root}/") else path
