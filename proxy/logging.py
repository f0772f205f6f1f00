"""The log: structlog, one event a line; for people on a terminal, JSON otherwise.

What the standard library's loggers say (the server's, aiohttp's) takes the same way, so that the
whole output has one form.  Everything goes to standard error.
"""

from __future__ import annotations

import logging
import sys
from typing import Any

import msgspec
import structlog

_LEVELS = {"debug": 10, "info": 20, "warning": 30, "error": 40}
_encoder = msgspec.json.Encoder(enc_hook=str)


def configure(level: str = "info", form: str = "auto") -> None:
    """``level``: debug, info, warning or error.  ``form``: auto, console or json."""
    console = form == "console" or (form == "auto" and sys.stderr.isatty())
    shared: list[Any] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    if console:
        renderer: list[Any] = [structlog.dev.ConsoleRenderer()]
        factory: Any = structlog.PrintLoggerFactory(sys.stderr)
    else:
        renderer = [structlog.processors.format_exc_info, _render_json]
        factory = structlog.BytesLoggerFactory(sys.stderr.buffer)
    structlog.configure(
        processors=[*shared, *renderer],
        wrapper_class=structlog.make_filtering_bound_logger(_LEVELS[level]),
        logger_factory=factory,
        cache_logger_on_first_use=True,
    )
    _take_over_standard_logging(level)


def _render_json(_: Any, __: str, event: dict[str, Any]) -> bytes:
    try:
        return _encoder.encode(event)
    except UnicodeEncodeError:  # a lone surrogate in a client's model name
        shown = {k: _printable(v) for k, v in event.items()}
        return _encoder.encode(shown)


def _printable(value: Any) -> str:
    return str(value).encode("utf-8", "replace").decode()


class _ToStructlog(logging.Handler):
    """Passes a record of the standard library on."""

    def emit(self, record: logging.LogRecord) -> None:
        logger = structlog.get_logger(record.name)
        logger.log(record.levelno, record.getMessage(), exc_info=record.exc_info or None)


def _take_over_standard_logging(level: str) -> None:
    root = logging.getLogger()
    root.handlers[:] = [_ToStructlog()]
    root.setLevel(max(_LEVELS[level], logging.INFO))
    for name in ("uvicorn", "uvicorn.error", "uvicorn.asgi"):
        logger = logging.getLogger(name)
        logger.handlers.clear()
        logger.propagate = True
    logging.getLogger("uvicorn.access").disabled = True
