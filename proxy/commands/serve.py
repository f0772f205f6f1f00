"""``toolwire serve``: the gateway for a configuration file."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from toolwire.proxy.commands.gateway import run_gateway, writes_for_people
from toolwire.proxy.commands.settings import (
    add_config_option,
    add_server_options,
    settings_of,
)

if TYPE_CHECKING:
    from toolwire.config.model import Settings

SUMMARY = "run the gateway for a configuration file"

HELP = """\
Runs the gateway for a configuration file. All mistakes in the file are told before it starts.

A file that is enough, toolwire.toml:

  [[upstreams]]
  name = "deepseek"
  protocol = "chat"                 # what it speaks: chat, messages or responses
  provider = "deepseek"             # the profile of its quirks, or "generic"
  base_url = "https://api.deepseek.com"
  api_key = "${DEEPSEEK_API_KEY}"   # from the environment
  models = ["deepseek-*"]           # which models it is asked for

What stands on the command line wins over the file. SIGTERM and Ctrl+C let running requests end,
for up to server.drain_seconds, and take no new ones."""

EXAMPLES = """\
  toolwire serve
  toolwire serve --config toolwire.toml --port 9000
  toolwire serve --config toolwire.toml --host 0.0.0.0 --workers 4 --log-format json"""


def add_options(parser: ArgumentParser) -> None:
    """Its options."""
    add_config_option(parser)
    add_server_options(parser)
    parser.add_argument(
        "--workers", type=int, metavar="NUMBER", help="processes that share the port"
    )


def run(arguments: Namespace) -> int:
    """Serves until it is told to stop."""
    settings = settings_of(arguments)

    def listening(url: str) -> None:
        if writes_for_people(settings.server):
            print(next_steps(settings, url), flush=True)

    return run_gateway(settings, listening)


def next_steps(settings: Settings, url: str) -> str:
    """What somebody at a terminal does next."""
    names = ", ".join(upstream.name for upstream in settings.upstreams)
    asked = settings.server.auth == "keys" and settings.server.client_keys
    key = "one of server.client_keys" if asked else "anything: no client is asked for one"
    return f"""
toolwire listens on {url} (upstreams: {names})

  OpenAI clients      OPENAI_BASE_URL={url}/v1
  Anthropic clients   ANTHROPIC_BASE_URL={url}
  their API key       {key}
  models, metrics     {url}/v1/models  {url}/metrics
  stop                Ctrl+C lets running requests end; a second one does not wait
"""
