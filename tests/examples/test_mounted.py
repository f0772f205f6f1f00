"""examples/mounted, started as its README says."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp
import pytest
from anthropic import AsyncAnthropic
from openai import AsyncOpenAI

from tests.proxy.gateway import NAMESPACE
from tests.proxy.live import GUARD_SECONDS, serving
from toolwire.proxy.demo.app import create_demo

FOLDER = Path(__file__).parents[2] / "examples" / "mounted"
TOOL = {
    "name": "get_weather",
    "description": "The weather in a city",
    "parameters": {"type": "object", "properties": {"city": {"type": "string"}}},
}


@contextlib.asynccontextmanager
async def started(**environ: str) -> AsyncIterator[str]:
    """The example under uvicorn, in its own folder; its URL."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "uvicorn", "app:app", "--port", "0"),
        cwd=FOLDER,
        stderr=asyncio.subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(NAMESPACE), "PYTHONDONTWRITEBYTECODE": "1", **environ},
    )
    assert process.stderr is not None
    url, said = "", b""
    async with asyncio.timeout(GUARD_SECONDS):
        while not url and (line := await process.stderr.readline()):
            said += line
            if b"running on " in line:
                url = line.split(b"running on ")[1].split()[0].decode()
    try:
        assert url, said.decode()
        yield url
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.send_signal(signal.SIGTERM)
        _, rest = await process.communicate()
    assert b"Traceback" not in rest, rest.decode()


@pytest.fixture
async def url() -> AsyncIterator[str]:
    async with serving(create_demo()) as demo, started(LLM_URL=demo, LLM_KEY="sk-demo") as url:
        yield url


async def test_the_gateway_is_mounted(url: str) -> None:
    async with aiohttp.ClientSession() as client:
        async with client.get(url + "/llm/healthz") as answer:
            assert (answer.status, await answer.text()) == (200, "ok\n")
            assert answer.headers["x-served-by"] == "library"  # the app's own middleware
        async with client.get(url + "/llm/metrics") as answer:
            assert b"toolwire_requests" in await answer.read()
        async with client.get(url + "/llm/v1/models") as answer:
            assert (await answer.json())["object"] == "list"
        async with client.get(url + "/llm/elsewhere/v1/models") as answer:
            assert answer.status == 404


async def test_the_sdks_work_through_it(url: str) -> None:
    async with AsyncOpenAI(base_url=f"{url}/llm/v1", api_key="any") as openai:
        completion = await openai.chat.completions.create(
            model="demo",
            messages=[{"role": "user", "content": "weather?"}],
            tools=[{"type": "function", "function": TOOL}],
            tool_choice="required",
        )
        assert completion.choices[0].finish_reason == "tool_calls"
        response = await openai.responses.create(model="demo", input="hello")
        assert response.output_text
    async with (
        AsyncAnthropic(base_url=f"{url}/llm", api_key="any") as anthropic,
        anthropic.messages.stream(
            model="demo", max_tokens=100, messages=[{"role": "user", "content": "hello"}]
        ) as stream,
    ):
        assert await stream.get_final_text()


async def test_one_middleware_stands_alone(url: str) -> None:
    fingerprints = set()
    async with aiohttp.ClientSession() as client:
        for body in (b'{"model": "m", "a": [1, 2]}', b'{"a":[1,2],"model":"m"}'):
            path = url + "/fingerprints/v1/chat/completions"
            async with client.post(path, data=body) as answer:
                assert answer.status == 200
                fingerprints.add((await answer.json())["fingerprint"])
    assert len(fingerprints) == 1
