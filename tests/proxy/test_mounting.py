"""The gateway under a path: in Mounts of any depth, and behind a root path of the server."""

from __future__ import annotations

from typing import Any

import aiohttp
import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.routing import Mount, Router
from yarl import URL

from tests.proxy.live import answering, serving, settings_for
from toolwire.proxy.app import create_app
from toolwire.proxy.asgi import route_path

ASK = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "hi"}]}
ANSWER = (
    b'{"id":"c1","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,'
    b'"message":{"role":"assistant","content":"hello"},"finish_reason":"stop"}]}'
)


def mounted(app: Any, *paths: str) -> Any:
    for path in reversed(paths):
        app = Router([Mount(path, app)])
    return app


@pytest.mark.parametrize(
    ("mounts", "at"),
    [
        ([], ""),
        (["/llm"], "/llm"),
        (["/v1"], "/v1"),
        (["/a", "/b/c"], "/a/b/c"),
        (["/v1", "/messages"], "/v1/messages"),
        (["/{tenant}"], "/a%20b%2Dc"),
        (["/teams/{tenant}/llm"], "/teams/%C3%A9/llm"),
    ],
)
@pytest.mark.parametrize("root_path", ["", "/proxied"])
async def test_every_path_is_found(mounts: list[str], at: str, root_path: str) -> None:
    async with answering(ANSWER) as upstream:
        gateway = create_app(settings_for(upstream.url, models=["m", "*"]))
        async with (
            serving(mounted(gateway, *mounts), root_path=root_path) as url,
            aiohttp.ClientSession() as client,
        ):
            url += at

            async def get(path: str) -> tuple[int, bytes]:
                async with client.get(URL(url + path, encoded=True)) as answer:
                    return answer.status, await answer.read()

            assert await get("/healthz") == (200, b"ok\n")
            assert await get("/") == (200, b"toolwire: the API is under /v1/\n")
            assert (await get("/metrics"))[0] == 200
            assert b'"id":"m"' in (await get("/v1/models"))[1]
            assert b'"id":"m"' in (await get("/v1/models/m"))[1]
            await get("/v1/files/a%2Fb?x=%201")
            assert upstream.request.target == "/v1/files/a%2Fb?x=%201"
            for path in ("/v1/chat/completions", "/chat/completions", "/v1/messages"):
                async with client.post(URL(url + path, encoded=True), json=ASK) as answer:
                    assert answer.status == 200, await answer.text()
                    assert b"hello" in await answer.read()
                assert upstream.request.target == "/v1/chat/completions"
        await gateway.aclose()


@pytest.mark.parametrize(
    ("root_path", "path", "expected"),
    [
        ("", "/v1/models", "/v1/models"),
        ("/llm", "/llm/v1/models", "/v1/models"),
        ("/llm/", "/llm/v1/models", "/v1/models"),
        ("/llm", "/v1/models", "/v1/models"),  # a server that takes the root path off
        ("/llm", "/llmx/v1", "/llmx/v1"),
        ("/v1", "/v1/v1/models", "/v1/models"),
    ],
)
def test_the_path_inside_of_a_mount(root_path: str, path: str, expected: str) -> None:
    assert route_path({"path": path, "root_path": root_path}) == expected


async def test_a_foreign_stack_around_it() -> None:
    """What other apps put around whatever they mount."""
    async with answering(ANSWER) as upstream:
        gateway = create_app(settings_for(upstream.url))
        app = Starlette(
            routes=[Mount("/llm", gateway)],
            middleware=[Middleware(GZipMiddleware, minimum_size=10)],
        )
        async with (
            serving(app) as url,
            aiohttp.ClientSession() as client,
            client.post(url + "/llm/v1/chat/completions", json=ASK) as answer,
        ):
            assert answer.headers["content-encoding"] == "gzip"
            assert (await answer.json())["choices"][0]["message"]["content"] == "hello"
        await gateway.aclose()


async def test_it_works_again_after_it_was_closed() -> None:
    async with answering(ANSWER) as upstream:
        gateway = create_app(settings_for(upstream.url))
        async with serving(gateway) as url, aiohttp.ClientSession() as client:
            for _ in range(2):
                async with client.post(url + "/v1/chat/completions", json=ASK) as answer:
                    assert answer.status == 200
                await gateway.aclose()
