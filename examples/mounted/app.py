"""An app that mounts the gateway under /llm, and one middleware of it elsewhere."""

import hashlib
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from middlewares.served_by import ServedBy
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Mount, Route

import config
from toolwire.config.load import load
from toolwire.middlewares.key_canonicalization import KeyCanonicalization
from toolwire.proxy.app import create_app
from toolwire.proxy.stack import OPTIONS

gateway = create_app(load(config.GATEWAY_FILE, environ=os.environ, options=OPTIONS))


async def fingerprint(request: Request) -> JSONResponse:
    """The same for requests that differ only in the order of their keys: a key for a cache."""
    return JSONResponse({"fingerprint": hashlib.sha256(await request.body()).hexdigest()})


@asynccontextmanager
async def lifespan(_: Starlette) -> AsyncIterator[None]:
    yield
    await gateway.aclose()


app = Starlette(
    routes=[
        Mount("/llm", gateway),
        Mount(
            "/fingerprints",
            routes=[Route("/v1/chat/completions", fingerprint, methods=["POST"])],
            middleware=[Middleware(KeyCanonicalization)],
        ),
    ],
    middleware=[Middleware(ServedBy, name=config.NAME)],
    lifespan=lifespan,
)
