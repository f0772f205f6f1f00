"""The log: structlog, one event a line; for people on a terminal, JSON otherwise.

What the standard library's loggers say (the server's, aiohttp's) takes the same way, so that the
whole output has one form.  Everything goes to standard error.
"""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import MutableMapping
from functools import lru_cache
from typing import Any

import msgspec
import structlog

_LEVELS = {"debug": 10, "info": 20, "warning": 30, "error": 40}
_encoder = msgspec.json.Encoder(enc_hook=str)


def configure(level: str = "info", form: str = "auto") -> None:
    """``level``: debug, info, warning or error.  ``form``: auto, console or json."""
    console = form == "console" or (form == "auto" and sys.stderr.isatty())
    processors: list[Any]
    if console:
        processors = [
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            # the default shows the variables of every frame, and so keys and bodies
            structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback),
        ]
        factory: Any = structlog.PrintLoggerFactory(sys.stderr)
    else:
        processors = [_render_json]
        factory = structlog.BytesLoggerFactory(sys.stderr.buffer)
    structlog.configure(
        processors=processors,
        wrapper_class=structlog.make_filtering_bound_logger(_LEVELS[level]),
        logger_factory=factory,
        cache_logger_on_first_use=True,
    )
    _take_over_standard_logging(level)


def _render_json(_: Any, level: str, event: dict[str, Any]) -> bytes:
    """One object: time, level, event, the rest.  One step for all: every request logs."""
    seconds = time.time()
    line: MutableMapping[str, Any] = {
        "timestamp": f"{_to_the_second(int(seconds))}.{int(seconds % 1 * 1e6):06d}Z",
        "level": "error" if level == "exception" else level,
        "event": event.pop("event", ""),
        **event,
    }
    if line.get("exc_info"):
        line = structlog.processors.format_exc_info(_, level, line)
    try:
        return _encoder.encode(line)
    except UnicodeEncodeError:  # a lone surrogate in a client's model name
        return _encoder.encode(_printable(line))


@lru_cache(1)
def _to_the_second(seconds: int) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds))


def _printable(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, dict):
        return {_printable(key): _printable(inner) for key, inner in value.items()}
    return [_printable(inner) for inner in value] if isinstance(value, list) else value


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
