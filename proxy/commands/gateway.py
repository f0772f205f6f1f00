"""What ``serve`` and ``demo`` have in common: they run a gateway."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from toolwire.config.model import Server, Settings


def run_gateway(settings: Settings, listening: Callable[[str], None]) -> int:
    """Serves until it is told to stop; the exit status.

    ``listening`` is called with the gateway's own URL as soon as clients may connect.
    """
    from toolwire.proxy.serve import CannotListen, serve

    try:
        return serve(settings, listening)
    except CannotListen as error:
        print(f"toolwire: {error}", file=sys.stderr)
        return 1


def writes_for_people(server: Server) -> bool:
    """Whether somebody at a terminal reads what is written, as in ``proxy.logging``."""
    form = server.log_format
    return form == "console" or (form == "auto" and sys.stderr.isatty())
