"""A gateway with a file of its own: keys, limits, and upstreams of which some cannot be reached."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Iterator
from pathlib import Path

from tests.e2e.gateway import RunningGateway, running

CLIENT_KEY = "key-of-a-client"
UPSTREAM_KEY = "key-of-the-upstream"
MAX_BODY_BYTES = 200_000
_HEAD = f"""
[server]
client_keys = ["{CLIENT_KEY}"]
max_body_bytes = {MAX_BODY_BYTES}
"""
_SERVED = 'models = ["demo*"]'
_UPSTREAMS = """
[[upstreams]]
name = "{protocol}"
protocol = "{protocol}"
provider = "{provider}"
base_url = "{url}"
api_key = "{key}"
{served}

[[upstreams]]
name = "badkey-{protocol}"
protocol = "{protocol}"
base_url = "{url}"
api_key = "bad-key"
{served}

[[upstreams]]
name = "closed-{protocol}"
protocol = "{protocol}"
base_url = "{closed}"
{served}

[[upstreams]]
name = "impatient-{protocol}"
protocol = "{protocol}"
base_url = "{url}"
first_byte_seconds = 0.1
{served}

[[upstreams]]
name = "rejecting-{protocol}"
protocol = "{protocol}"
base_url = "{url}"
on_loss = "reject"
{served}
"""
_PECULIAR = """
[[upstreams]]
name = "bailian"
protocol = "chat"
provider = "bailian"
base_url = "{url}"
{served}

[[upstreams]]
name = "deepseek"
protocol = "chat"
provider = "deepseek"
base_url = "{url}"
{served}

[[upstreams]]
name = "tagged"
protocol = "chat"
base_url = "{url}"
{served}
[upstreams.profile]
think_tags = true
"""
_PROVIDERS = {"chat": "openai", "messages": "anthropic", "responses": "openai"}


@contextlib.contextmanager
def configured(url: str, folder: Path) -> Iterator[RunningGateway]:
    """`toolwire serve` in front of the upstream at ``url``."""
    with socket.socket() as nobody_listens:
        nobody_listens.bind(("127.0.0.1", 0))
        closed = f"http://127.0.0.1:{nobody_listens.getsockname()[1]}"
        same = {"url": url, "closed": closed, "key": UPSTREAM_KEY, "served": _SERVED}
        tables = [
            _UPSTREAMS.format(protocol=protocol, provider=provider, **same)
            for protocol, provider in _PROVIDERS.items()
        ]
        file = folder / "toolwire.toml"
        file.write_text(_HEAD + "".join([*tables, _PECULIAR.format(**same)]))
        with running("serve", "--config", str(file), state=folder) as gateway:
            yield gateway
