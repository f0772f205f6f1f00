"""Options that commands share, and the settings that they and the configuration file make up."""

from __future__ import annotations

import os
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from toolwire.config.model import Settings

_LEVELS = ("debug", "info", "warning", "error")
_FORMATS = ("auto", "console", "json")


def add_config_option(parser: ArgumentParser) -> None:
    """``--config``."""
    parser.add_argument(
        "--config",
        type=Path,
        metavar="FILE",
        help="the configuration (default: $TOOLWIRE_CONFIG, else ./toolwire.toml)",
    )


def add_server_options(parser: ArgumentParser, host: str = "", port: str = "") -> None:
    """``--host``, ``--port`` and those of the log; ``host`` and ``port`` tell the defaults."""
    parser.add_argument(
        "--host", metavar="ADDRESS", help=f"where to listen{host}; 0.0.0.0: on all addresses"
    )
    parser.add_argument(
        "--port", type=int, metavar="NUMBER", help=f"TCP port{port}; 0: any that is free"
    )
    parser.add_argument("--log-level", choices=_LEVELS, help="the least that is logged")
    parser.add_argument(
        "--log-format",
        choices=_FORMATS,
        help="for people (console) or programs (json); auto: console on a terminal, else json",
    )


def overrides(arguments: Namespace) -> dict[str, object]:
    """What the command line says in the place of the file, in the shape of the file."""
    names = ("host", "port", "workers", "log_level", "log_format")
    given = {name: getattr(arguments, name, None) for name in names}
    return {"server": {name: value for name, value in given.items() if value is not None}}


def settings_of(arguments: Namespace) -> Settings:
    """The settings that the arguments name.  Raises ``ConfigError`` with every mistake."""
    from toolwire.config.load import load
    from toolwire.proxy.stack import OPTIONS

    return load(
        arguments.config, environ=os.environ, options=OPTIONS, overrides=overrides(arguments)
    )
