"""The demo upstream behind a real server on loopback, and the official clients pointed at it."""

from __future__ import annotations

import threading
import time
from collections.abc import AsyncIterator, Iterator

import pytest
import uvicorn
from anthropic import AsyncAnthropic
from openai import AsyncOpenAI

from toolwire.proxy.demo import create_demo


@pytest.fixture(scope="session")
def url() -> Iterator[str]:
    """Base URL of a running demo, without /v1."""
    config = uvicorn.Config(
        create_demo(delay=0.001), port=0, lifespan="off", log_level="critical", ws="none"
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        assert thread.is_alive(), "the demo did not start"
        time.sleep(0.001)
    yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    server.should_exit = True
    thread.join()


@pytest.fixture
async def openai(url: str) -> AsyncIterator[AsyncOpenAI]:
    async with AsyncOpenAI(base_url=f"{url}/v1", api_key="any", max_retries=0) as client:
        yield client


@pytest.fixture
async def anthropic(url: str) -> AsyncIterator[AsyncAnthropic]:
    async with AsyncAnthropic(base_url=url, api_key="any", max_retries=0) as client:
        yield client
