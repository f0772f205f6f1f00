"""The command line: ``toolwire`` and the name of a command; also ``python -m toolwire.proxy``.

Exit status: 0 when all went well, also after a stop by signal; 1 when the command failed; 2 when
the command line or the configuration is wrong.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Sequence

from toolwire.config.problems import ConfigError
from toolwire.proxy.commands import check, demo, explain, serve
from toolwire.proxy.commands.command import Command

COMMANDS: dict[str, Command] = {"serve": serve, "check": check, "explain": explain, "demo": demo}

_HELP = """\
A reverse proxy for LLM traffic in which tool calling works everywhere: clients of OpenAI Chat
Completions, OpenAI Responses and Anthropic Messages use upstreams that speak any of the three."""

_FIRST_STEPS = """\
first steps:
  toolwire demo                          try it out: no key, no network, nothing to configure
  toolwire serve --config toolwire.toml  put it in front of your own upstreams
  toolwire serve --help                  shows what such a file looks like"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command that ``arguments`` (those of the process) name; the exit status."""
    parser = _parser()
    chosen = parser.parse_args(arguments)
    if chosen.version:
        print(_version())
        return 0
    if chosen.command is None:
        parser.print_help(sys.stderr)
        return 2
    try:
        return COMMANDS[chosen.command].run(chosen)
    except ConfigError as error:
        print(_told(error), file=sys.stderr)
        return 2


def _parser() -> ArgumentParser:
    parser = ArgumentParser(
        "toolwire",
        description=_HELP,
        epilog=_FIRST_STEPS,
        formatter_class=RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="store_true", help="print the version and exit")
    commands = parser.add_subparsers(dest="command", title="commands", metavar="COMMAND")
    for name, command in COMMANDS.items():
        command.add_options(
            commands.add_parser(
                name,
                help=command.SUMMARY,
                description=command.HELP,
                epilog=f"examples:\n{command.EXAMPLES}",
                formatter_class=RawDescriptionHelpFormatter,
            )
        )
    return parser


def _version() -> str:
    from importlib import metadata

    try:
        return f"toolwire {metadata.version('toolwire')}"
    except metadata.PackageNotFoundError:
        return "toolwire, of a checkout that is not installed"


def _told(error: ConfigError) -> str:
    count = len(error.problems)
    found = "1 mistake" if count == 1 else f"{count} mistakes"
    lines = "\n".join(f"  {problem}" for problem in error.problems)
    return f"toolwire: the configuration has {found}:\n{lines}"


if __name__ == "__main__":
    sys.exit(main())
