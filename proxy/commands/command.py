"""What a command is: a module with these names, listed in ``__main__``."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import Protocol


class Command(Protocol):
    """Its module imports nothing slow at the top: all of them are loaded before one is chosen."""

    SUMMARY: str
    """One line, for the list of commands."""

    HELP: str
    """What it does, for somebody who has never used it."""

    EXAMPLES: str
    """What to type, one example a line."""

    def add_options(self, parser: ArgumentParser) -> None:
        """Declares its options."""

    def run(self, arguments: Namespace) -> int:
        """Does it; the exit status.  Raises ``ConfigError`` for a wrong configuration."""
