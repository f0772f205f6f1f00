"""``toolwire explain``: what would be done with a request, or an answer, and why."""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from toolwire.proxy.commands.settings import add_config_option, settings_of

if TYPE_CHECKING:
    from toolwire.config.model import Settings
    from toolwire.proxy.explain.explanation import Explanation
    from toolwire.proxy.explain.given import Given, Source
    from toolwire.proxy.explain.shown import Shown

SUMMARY = "show what would be sent for a request, and what was changed on the way"

HELP = """\
Reads a client's request and shows what the gateway would do with it, without sending anything:
which upstream is asked and why, what each middleware changes, the upstream request, and what could
not be carried. With --answer it shows in the same way what becomes of an answer or stream that was
recorded from the upstream, up to what the client's SDK makes of it. Secrets are shown as stars.

The request is JSON. A record (--record) holds both, as one JSON object: "request"; "response" or,
for a stream, "sse" with its text; "status"; "protocol". Without a request the plainest one stands
in for it. Without a configuration three upstreams are assumed, one for each protocol: chat, which
is asked for any model, messages and responses.

The exit status is 0 when the request would be served, 1 when the gateway itself would refuse it or
the answer, and 2 when the input or the configuration is wrong."""

EXAMPLES = """\
  toolwire explain request.json
  toolwire explain request.json --config toolwire.toml --upstream deepseek
  toolwire explain request.json --only body --raw
  toolwire explain request.json --answer stream.sse
  toolwire explain --answer stream.sse --protocol messages --only answer
  toolwire explain --record recording.json --format json"""

_CONFIGURATION = Path(__file__).with_name("explain.toml")
_PROTOCOLS = ("chat", "messages", "responses")
_STDIN = "-"


def add_options(parser: ArgumentParser) -> None:
    """Its options."""
    parser.add_argument(
        "request",
        nargs="?",
        metavar="REQUEST",
        help="a client's request; - or nothing: standard input",
    )
    add_config_option(parser)
    parser.add_argument(
        "--protocol",
        choices=_PROTOCOLS,
        help="what the client speaks (default: recognised from the request)",
    )
    parser.add_argument(
        "--upstream", metavar="NAME", help="which upstream is asked (default: as routing chooses)"
    )
    parser.add_argument(
        "--answer", metavar="FILE", help="what the upstream answered: JSON, or the text of a stream"
    )
    parser.add_argument(
        "--status", type=int, metavar="NUMBER", help="the status of the answer (default: 200)"
    )
    parser.add_argument("--record", metavar="FILE", help="a request and its answer in one file")
    parser.add_argument(
        "--header",
        action="append",
        default=[],
        metavar="NAME:VALUE",
        help="a header that the client sends; may be repeated",
    )
    _add_output_options(parser)


def _add_output_options(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--only",
        action="append",
        default=[],
        metavar="PART",
        help="routing, changes, request, body, losses, answer or a middleware; may be repeated",
    )
    parser.add_argument("--raw", action="store_true", help="bodies as their very bytes")
    parser.add_argument("--format", choices=("text", "json"), default="text", help="default: text")
    parser.add_argument(
        "--color",
        choices=("auto", "always", "never"),
        default="auto",
        help="auto: on a terminal, unless NO_COLOR is set",
    )


def run(arguments: Namespace) -> int:
    """Explains and prints."""
    settings, configuration = _settings(arguments)
    import asyncio

    from toolwire.proxy.explain.explanation import explain
    from toolwire.proxy.explain.given import InputError
    from toolwire.proxy.explain.shown import shown
    from toolwire.proxy.stack import order

    try:
        chosen = shown(arguments.only, order(settings.middlewares), raw=arguments.raw)
        given = _given(arguments)
        with _log_on_stderr():
            explanation = asyncio.run(
                explain(settings, given, upstream=arguments.upstream, configuration=configuration)
            )
    except InputError as error:
        print(f"toolwire: {error}", file=sys.stderr)
        return 2
    _write(_rendered(explanation, chosen, arguments))
    return 1 if explanation.reply is not None and explanation.reply.refuses else 0


def _settings(arguments: Namespace) -> tuple[Settings, str]:
    """The settings, and where they are from."""
    from toolwire.config.load import find, loads
    from toolwire.config.problems import ConfigError
    from toolwire.proxy.stack import OPTIONS

    try:
        file = find(arguments.config, os.environ)
    except ConfigError:  # none is named, and there is none in the current folder
        text = _CONFIGURATION.read_text("utf-8")
        built_in = loads(text, environ={}, options=OPTIONS, file=_CONFIGURATION.name)
        return built_in, "none: one upstream without peculiarities for each protocol"
    return settings_of(arguments), str(file)


def _given(arguments: Namespace) -> Given:
    """What the arguments name, read.  Raises ``InputError``."""
    from toolwire.proxy.explain.given import InputError, given

    if arguments.request and arguments.record:
        raise InputError("expected a request or --record, got both")
    named = [arguments.request, arguments.answer, arguments.record]
    if named.count(_STDIN) > 1:
        raise InputError("expected one input from standard input, got two")
    asked = arguments.request
    if not any(named):
        asked = _STDIN
    return given(
        _read(asked),
        answer=_read(arguments.answer),
        record=_read(arguments.record),
        protocol=arguments.protocol,
        status=arguments.status,
        headers=arguments.header,
    )


def _read(name: str | None) -> Source | None:
    from toolwire.proxy.explain.given import InputError, Source

    if name is None:
        return None
    if name == _STDIN:
        return Source("standard input", sys.stdin.buffer.read())
    try:
        return Source(name, Path(name).read_bytes())
    except OSError as error:
        raise InputError(f"{name}: expected a readable file: {error.strerror}") from None


@contextmanager
def _log_on_stderr() -> Iterator[None]:
    """What a middleware logs is kept apart from what is printed."""
    import structlog

    before = structlog.get_config()
    structlog.configure(logger_factory=structlog.PrintLoggerFactory(sys.stderr))
    try:
        yield
    finally:
        structlog.configure(**before)


def _rendered(explanation: Explanation, chosen: Shown, arguments: Namespace) -> bytes:
    if arguments.format == "json":
        from toolwire.proxy.explain.document import as_document
        from toolwire.proxy.explain.pretty import pretty
        from toolwire.proxy.protocols import json

        return pretty(json.encode(as_document(explanation, chosen))).encode() + b"\n"
    from toolwire.proxy.explain.paint import Paint, wants_colour
    from toolwire.proxy.explain.text import as_text

    colours = wants_colour(arguments.color, os.environ, terminal=sys.stdout.isatty())
    return as_text(explanation, chosen, Paint(colours))


def _write(text: bytes) -> None:
    """To standard output; a reader that has seen enough (``| head``) may close it."""
    try:
        sys.stdout.flush()
        sys.stdout.buffer.write(text)
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        # what is still buffered would fail again when the interpreter ends
        # https://docs.python.org/3/library/signal.html#note-on-sigpipe
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
