"""``toolwire demo``: the gateway in front of the scripted upstream, with nothing to configure."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING

from toolwire.proxy.commands.gateway import run_gateway
from toolwire.proxy.commands.settings import add_server_options, overrides

if TYPE_CHECKING:
    from toolwire.config.model import Settings

SUMMARY = "try the gateway out: no key, no network, nothing to configure"

HELP = """\
Runs the gateway in front of a built-in upstream that follows a script: it calls the tools that it
is offered, with arguments made from their schemas, and answers from what the tools said. It speaks
OpenAI Chat Completions, OpenAI Responses and Anthropic Messages, streaming and not, for any model
name, and plays faults when the name asks for them. It prints what to type.

Use it to see how things work, and to test a client or an agent of your own offline."""

EXAMPLES = """\
  toolwire demo
  toolwire demo --port 9000
  toolwire demo --host 0.0.0.0        lets other machines in, as a container needs it"""

_CONFIGURATION = Path(__file__).with_name("demo.toml")
_WELCOME = Path(__file__).with_name("demo.txt")


def add_options(parser: ArgumentParser) -> None:
    """Its options."""
    add_server_options(parser, " (default: 127.0.0.1)", " (default: 8080)")


def run(arguments: Namespace) -> int:
    """Serves until it is told to stop."""
    with demo_upstream() as url:
        settings = settings_for(url, overrides(arguments))
        return run_gateway(settings, lambda own: print(welcome(own), flush=True))


@contextmanager
def demo_upstream() -> Iterator[str]:
    """The scripted upstream, in a thread of its own; its URL, on a free port of this machine."""
    from threading import Thread

    import uvicorn

    from toolwire.proxy.demo import create_demo
    from toolwire.proxy.serve import listen, url_of

    listener = listen("127.0.0.1", 0)
    config = uvicorn.Config(
        create_demo(),
        ws="none",
        lifespan="off",
        log_config=None,
        log_level="warning",
        access_log=False,
        server_header=False,
    )
    running = uvicorn.Server(config)
    thread = Thread(target=running.run, args=([listener],), name="demo-upstream", daemon=True)
    thread.start()
    try:
        yield url_of(listener)
    finally:  # by now the gateway has drained, so nobody is served any more
        running.should_exit = running.force_exit = True
        thread.join()


def settings_for(upstream_url: str, overrides: dict[str, object]) -> Settings:
    """The settings of a gateway in front of the scripted upstream."""
    from toolwire.config.load import loads
    from toolwire.proxy.stack import OPTIONS

    return loads(
        _CONFIGURATION.read_text("utf-8"),
        environ={"DEMO_UPSTREAM": upstream_url},
        options=OPTIONS,
        overrides=overrides,
        file=_CONFIGURATION.name,
    )


def welcome(url: str) -> str:
    """What to type, for a gateway at ``url``."""
    from toolwire.proxy.demo import QUIRKS

    quirks = "\n".join(f"  {quirk.name:<20}{quirk.doc}" for quirk in QUIRKS.values())
    text = Template(_WELCOME.read_text("utf-8"))
    return text.substitute(URL=url, QUIRKS=quirks)
