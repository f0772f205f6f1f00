"""``toolwire check``: is the configuration right, and what does it come to?"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from toolwire.proxy.commands.settings import add_config_option, settings_of

SUMMARY = "check a configuration file and show what it comes to"

HELP = """\
Checks a configuration file as serve does, without listening or asking any upstream. Prints each
upstream, and the stack of middlewares that a request to it passes, outermost first, with those
options that are not the default. Secrets are never printed.

The exit status is 0 when the file is right, and 2, with every mistake, when it is not."""

EXAMPLES = """\
  toolwire check
  toolwire check --config toolwire.toml && toolwire serve --config toolwire.toml"""


def add_options(parser: ArgumentParser) -> None:
    """Its options."""
    add_config_option(parser)


def run(arguments: Namespace) -> int:
    """Checks and prints."""
    settings = settings_of(arguments)
    from toolwire.proxy.commands.report import report

    print(report(settings))
    return 0
