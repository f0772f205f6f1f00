"""The built-in scripted upstream: an ASGI application that speaks all three protocols."""

from __future__ import annotations

from collections.abc import Callable

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from toolwire.proxy.demo import catalogue, dialects
from toolwire.proxy.demo.documents import bytes_of, fingerprint
from toolwire.proxy.demo.embeddings import embeddings
from toolwire.proxy.demo.exchange import (
    answer_or_refuse,
    check_key,
    checked,
    complete,
    headers_for,
)
from toolwire.proxy.demo.messages.check import check_countable
from toolwire.proxy.demo.neutral import Json, Protocol
from toolwire.proxy.demo.refusals import Refusal
from toolwire.proxy.demo.responses.memory import ResponseMemory


def create_demo(*, delay: float = 0.05, kept_responses: int = 256) -> Starlette:
    """The demo upstream.

    `delay` is the pause of the quirk `slow`, in seconds before each event; `kept_responses` is how
    many responses are stored for `previous_response_id`. It needs no key, no network, no lifespan.
    """
    demo = _Demo(delay, ResponseMemory(kept_responses))
    return Starlette(
        routes=[
            Route("/v1/chat/completions", demo.chat, methods=["POST"]),
            Route("/v1/messages", demo.messages, methods=["POST"]),
            Route("/v1/messages/count_tokens", demo.count_tokens, methods=["POST"]),
            Route("/v1/responses", demo.responses, methods=["POST"]),
            Route("/v1/responses/{response_id}", demo.stored_response, methods=["GET", "DELETE"]),
            Route("/v1/embeddings", demo.embeddings, methods=["POST"]),
            Route("/v1/models", demo.models),
            Route("/v1/models/{name:path}", demo.model),
            Route("/healthz", demo.healthz),
        ],
        exception_handlers={HTTPException: _no_such_route},
    )


class _Demo:
    """One method for each route."""

    def __init__(self, delay: float, memory: ResponseMemory) -> None:
        self._delay = delay
        self._memory = memory
        self._responses = dialects.responses(memory)

    async def chat(self, request: Request) -> Response:
        return await self._complete(request, dialects.CHAT)

    async def messages(self, request: Request) -> Response:
        return await self._complete(request, dialects.MESSAGES)

    async def responses(self, request: Request) -> Response:
        return await self._complete(request, self._responses)

    async def _complete(self, request: Request, dialect: dialects.Dialect) -> Response:
        raw = await request.body()

        def make() -> Response:
            return complete(raw, request.headers, dialect, self._delay)

        return answer_or_refuse(raw, dialect.protocol, make)

    async def count_tokens(self, request: Request) -> Response:
        def count(body: Json) -> Json:
            check_countable(body, request.headers)
            return {"input_tokens": fingerprint(body)[1]}

        return await _document(request, Protocol.MESSAGES, count)

    async def embeddings(self, request: Request) -> Response:
        return await _document(request, Protocol.CHAT, embeddings)

    async def stored_response(self, request: Request) -> Response:
        """GET gives the stored answer, DELETE forgets it."""
        response_id = request.path_params["response_id"]

        def find() -> Json:
            stored = self._memory.get(response_id)
            if stored is None:
                raise Refusal(f"Response with id '{response_id}' not found.", status=404)
            if request.method == "DELETE":
                self._memory.forget(response_id)
                return {"id": response_id, "object": "response", "deleted": True}
            return stored.answer

        return _found(request, Protocol.RESPONSES, find)

    async def models(self, request: Request) -> Response:
        protocol = _protocol_of(request)
        return _found(request, protocol, lambda: catalogue.models(protocol))

    async def model(self, request: Request) -> Response:
        protocol, name = _protocol_of(request), request.path_params["name"]
        return _found(request, protocol, lambda: catalogue.model(protocol, name))

    async def healthz(self, request: Request) -> Response:
        return JSONResponse({"status": "ok"})


async def _document(
    request: Request, protocol: Protocol, answer: Callable[[Json], Json]
) -> Response:
    """The plain JSON answer to a JSON body."""
    raw = await request.body()

    def make() -> Response:
        body = checked(raw, request.headers, protocol)
        return _json(answer(body), headers_for(raw, protocol))

    return answer_or_refuse(raw, protocol, make)


def _found(request: Request, protocol: Protocol, find: Callable[[], Json]) -> Response:
    """The plain JSON answer to a request without a body."""
    asked = request.url.path.encode()

    def make() -> Response:
        check_key(request.headers, protocol)
        return _json(find(), headers_for(asked, protocol))

    return answer_or_refuse(asked, protocol, make)


def _json(document: Json, headers: dict[str, str]) -> Response:
    return Response(bytes_of(document), headers=headers, media_type="application/json")


def _protocol_of(request: Request) -> Protocol:
    """Whose shape the client expects: Anthropic's clients name a version with each request."""
    anthropic = "anthropic-version" in request.headers
    return Protocol.MESSAGES if anthropic else Protocol.CHAT


async def _no_such_route(request: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 404
    message = f"Unknown request URL: {request.method} {request.url.path}."
    refusal = Refusal(message, status=status, code="unknown_url")
    return JSONResponse(refusal.body(_protocol_of(request), "req_unknown_url"), status)
