"""The SDKs' asynchronous clients, and the guard that keeps frameworks at home."""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import AsyncIterator
from typing import Any

import httpx2
import pytest
from anthropic import AsyncAnthropic
from openai import AsyncOpenAI

from tests.e2e.gateway import RunningGateway
from tests.e2e.strict import AsyncStrictTransport


@pytest.fixture(autouse=True)
def loopback_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """Frameworks like to report home: here nobody gets further than this machine."""
    connect: Any = socket.socket.connect

    def connect_to_loopback(self: socket.socket, address: Any) -> None:
        assert ipaddress.ip_address(address[0]).is_loopback, address
        connect(self, address)

    monkeypatch.setattr(socket.socket, "connect", connect_to_loopback)


@pytest.fixture
async def transport() -> AsyncIterator[AsyncStrictTransport]:
    """All that the framework hears has to be strictly valid."""
    transport = AsyncStrictTransport()
    yield transport
    assert transport.problems() == []


@pytest.fixture
async def openai(
    gateway: RunningGateway, transport: AsyncStrictTransport
) -> AsyncIterator[AsyncOpenAI]:
    async with AsyncOpenAI(
        base_url=f"{gateway.url}/v1",
        api_key="any",
        max_retries=0,
        http_client=httpx2.AsyncClient(transport=transport),
    ) as client:
        yield client


@pytest.fixture
async def anthropic(
    gateway: RunningGateway, transport: AsyncStrictTransport
) -> AsyncIterator[AsyncAnthropic]:
    async with AsyncAnthropic(
        base_url=gateway.url,
        api_key="any",
        max_retries=0,
        http_client=httpx2.AsyncClient(transport=transport),
    ) as client:
        yield client
