"""One gateway for the whole run, and each official client on each of the three upstreams."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import pytest
from msgspec import Struct

from tests.e2e.clients.chat import ChatClient
from tests.e2e.clients.messages import MessagesClient
from tests.e2e.clients.responses import ResponsesClient
from tests.e2e.configured import CLIENT_KEY, configured
from tests.e2e.conversation import Reply, Wanted
from tests.e2e.gateway import RunningGateway, running
from tests.e2e.observed import Observed, observed
from tests.e2e.strict import StrictTransport

UPSTREAMS = ["chat", "messages", "responses"]
Client = ChatClient | MessagesClient | ResponsesClient
_CLIENTS: list[type[Client]] = [ChatClient, MessagesClient, ResponsesClient]


class Pair(Struct):
    """A client, and the protocol of the upstream that its model's name chooses."""

    client: Client
    upstream: str

    def model(self, *quirks: str) -> str:
        """The demo's model, with its quirks."""
        return f"{self.upstream}/" + "+".join(["demo", *quirks])

    def ask(
        self,
        history: str | list[Any],
        *quirks: str,
        stream: bool = False,
        more: dict[str, Any] | None = None,
        **wanted: Any,
    ) -> Reply:
        """The answer to a text, or to a history; ``more`` is said in the client's own words."""
        if isinstance(history, str):
            history = self.client.user(history)
        return self.client.ask(
            self.model(*quirks), history, Wanted(**wanted), stream=stream, **(more or {})
        )


@pytest.fixture(scope="session")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningGateway]:
    """`toolwire demo`."""
    with running("demo", state=tmp_path_factory.mktemp("state")) as gateway:
        yield gateway


@pytest.fixture(scope="session")
def transport() -> Iterator[StrictTransport]:
    transport = StrictTransport()
    yield transport
    transport.close()


@pytest.fixture(scope="session")
def clients(gateway: RunningGateway, transport: StrictTransport) -> dict[str, Client]:
    """The official clients by their protocol."""
    return {kind.protocol: kind(gateway.url, transport) for kind in _CLIENTS}


@pytest.fixture(scope="session")
def upstream_seen() -> Iterator[Observed]:
    """The demo upstream behind the configured gateway."""
    with observed() as upstream:
        yield upstream


@pytest.fixture
def demo(upstream_seen: Observed) -> Observed:
    """The same, without what earlier tests asked."""
    upstream_seen.seen.clear()
    upstream_seen.failures = 0
    return upstream_seen


@pytest.fixture(scope="session")
def configured_clients(
    upstream_seen: Observed, transport: StrictTransport, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[str, Client]]:
    """The official clients by their protocol, pointed at the configured gateway."""
    with configured(upstream_seen.url, tmp_path_factory.mktemp("configured")) as gateway:
        yield {kind.protocol: kind(gateway.url, transport, key=CLIENT_KEY) for kind in _CLIENTS}


@pytest.fixture
def heard(transport: StrictTransport) -> Iterator[StrictTransport]:
    """What the clients hear in this test, all of which has to be strictly valid."""
    transport.heard.clear()
    yield transport
    assert transport.problems() == []


@pytest.fixture(params=[kind.protocol for kind in _CLIENTS])
def client(
    request: pytest.FixtureRequest, clients: dict[str, Client], heard: StrictTransport
) -> Client:
    """Each client."""
    return clients[request.param]


@pytest.fixture(params=UPSTREAMS)
def upstream(request: pytest.FixtureRequest) -> str:
    """The protocol of each upstream."""
    return str(request.param)


_PAIRS = list(itertools.product([kind.protocol for kind in _CLIENTS], UPSTREAMS))


@pytest.fixture(params=_PAIRS, ids=">".join)
def pair(
    request: pytest.FixtureRequest, clients: dict[str, Client], heard: StrictTransport
) -> Pair:
    """Each client on each upstream."""
    protocol, upstream = request.param
    return Pair(clients[protocol], upstream)


@pytest.fixture(params=list(itertools.permutations(UPSTREAMS, 2)), ids=">".join)
def crossing(
    request: pytest.FixtureRequest, clients: dict[str, Client], heard: StrictTransport
) -> Pair:
    """The pairs between whose protocols the gateway converts."""
    protocol, upstream = request.param
    return Pair(clients[protocol], upstream)


@pytest.fixture(params=_PAIRS, ids=">".join)
def configured_pair(
    request: pytest.FixtureRequest,
    configured_clients: dict[str, Client],
    demo: Observed,
    heard: StrictTransport,
) -> Pair:
    """Each client on each upstream, through the configured gateway."""
    protocol, upstream = request.param
    return Pair(configured_clients[protocol], upstream)


@pytest.fixture(params=[False, True], ids=["whole", "streamed"])
def stream(request: pytest.FixtureRequest) -> bool:
    """Whether the answer comes as a stream."""
    return bool(request.param)
