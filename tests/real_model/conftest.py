"""A real model behind each of the three protocols, and each official client in front of it."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator
from typing import Any

import pytest
from msgspec import Struct

from tests.e2e.clients.chat import ChatClient
from tests.e2e.clients.messages import MessagesClient
from tests.e2e.clients.responses import ResponsesClient
from tests.e2e.conversation import Reply, Tool, Wanted
from tests.e2e.gateway import RunningGateway, running
from tests.e2e.strict import StrictTransport
from tests.real_model import server as llama_cpp
from tests.real_model.server import ModelServer

Client = ChatClient | MessagesClient | ResponsesClient
CLIENTS: dict[str, type[Client]] = {
    kind.protocol: kind for kind in (ChatClient, MessagesClient, ResponsesClient)
}
UPSTREAMS = ["chat", "messages", "responses"]
PAIRS = list(itertools.product(CLIENTS, UPSTREAMS))

CONFIGURATION = """\
[server]
auth = "off"
"""
UPSTREAM = """
[[upstreams]]
name = "{name}"
protocol = "{name}"
provider = "llamacpp"
base_url = "{url}"
models = ["gemma"]
"""

FORECAST = Tool(
    "get_forecast",
    {
        "type": "object",
        "properties": {
            "city": {"type": "string", "maxLength": 12},
            "days": {"type": "integer", "minimum": 1, "maximum": 9},
        },
        "required": ["city", "days"],
        "additionalProperties": False,
    },
)
TIME = Tool(
    "get_time",
    {
        "type": "object",
        "properties": {"city": {"type": "string", "maxLength": 12}},
        "required": ["city"],
        "additionalProperties": False,
    },
)


class Pair(Struct):
    """A client, and the protocol that the model's server is asked in."""

    client: Client
    upstream: str

    @property
    def converts(self) -> bool:
        return self.client.protocol != self.upstream

    def ask(
        self,
        history: str | list[Any],
        *,
        stream: bool,
        more: dict[str, Any] | None = None,
        **wanted: Any,
    ) -> Reply:
        """The answer to a text, or to a history."""
        if isinstance(history, str):
            history = self.client.user(history)
        model = f"{self.upstream}/gemma"
        return self.client.ask(model, history, Wanted(**wanted), stream=stream, **(more or {}))


@pytest.fixture(scope="session")
def model_server(pytestconfig: pytest.Config) -> Iterator[ModelServer]:
    """llama.cpp's server; without its packages the tests are skipped, but fail in CI."""
    if reason := llama_cpp.missing():
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)
    with llama_cpp.serving(pytestconfig.cache.mkdir("real_model")) as server:
        yield server


@pytest.fixture(scope="session")
def gateway(
    model_server: ModelServer, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RunningGateway]:
    """`toolwire serve` in front of the model's server, once for each of its endpoints."""
    folder = tmp_path_factory.mktemp("gateway")
    file = folder / "toolwire.toml"
    upstreams = [UPSTREAM.format(name=name, url=model_server.url) for name in UPSTREAMS]
    file.write_text("".join([CONFIGURATION, *upstreams]), "utf-8")
    with running("serve", "--config", str(file), state=folder) as gateway:
        yield gateway


@pytest.fixture(scope="session")
def transport() -> Iterator[StrictTransport]:
    transport = StrictTransport()
    yield transport
    transport.close()


@pytest.fixture
def heard(transport: StrictTransport) -> Iterator[StrictTransport]:
    """What the clients hear in this test, all of which has to be strictly valid."""
    transport.heard.clear()
    yield transport
    assert transport.problems() == []


@pytest.fixture(params=PAIRS, ids=">".join)
def pair(request: pytest.FixtureRequest, gateway: RunningGateway, heard: StrictTransport) -> Pair:
    """Each client on each of the server's endpoints."""
    protocol, upstream = request.param
    return Pair(CLIENTS[protocol](gateway.url, heard), upstream)


@pytest.fixture(params=[False, True], ids=["whole", "streamed"])
def stream(request: pytest.FixtureRequest) -> bool:
    """Whether the answer comes as a stream."""
    return bool(request.param)
