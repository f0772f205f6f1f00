"""The ear between an SDK and the gateway: it hears every answer, and holds it to the SDK's types.

The SDKs construct their objects without validating them; other clients are not so patient. So what
passes here has to be strictly what `openai.types` and `anthropic.types` say, and streams have to
keep the rules of ``stream_rules``.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from typing import Any

import anthropic.types as messages_types
import httpx2
import openai.types.chat as chat_types
import openai.types.responses as responses_types
from msgspec import Struct
from pydantic import TypeAdapter, ValidationError

from tests.e2e.stream_rules import DONE, RULES, Json

PROTOCOLS = {
    "/v1/chat/completions": "chat",
    "/v1/messages": "messages",
    "/v1/responses": "responses",
}
_ANSWERS: dict[str, TypeAdapter[Any]] = {
    "chat": TypeAdapter(chat_types.ChatCompletion),
    "messages": TypeAdapter(messages_types.Message),
    "responses": TypeAdapter(responses_types.Response),
}
_EVENTS: dict[str, TypeAdapter[Any]] = {
    "chat": TypeAdapter(chat_types.ChatCompletionChunk),
    "messages": TypeAdapter(messages_types.RawMessageStreamEvent),
    "responses": TypeAdapter(responses_types.ResponseStreamEvent),
}
_ERROR_KEYS = {
    "chat": {"message", "type", "param", "code"},
    "messages": {"type", "message"},
    "responses": {"message", "type", "param", "code"},
}


class Heard(Struct):
    """One request and what was answered to it."""

    path: str
    request: Json
    status: int
    headers: httpx2.Headers
    raw: bytes = b""
    whole: bool = False
    """Whether the body was read to its end."""


class StrictEar:
    """Keeps what is said in ``heard``."""

    def __init__(self) -> None:
        self.heard: list[Heard] = []

    def hear(self, body: bytes, request: httpx2.Request, response: httpx2.Response) -> Heard:
        """A request with this body and the head of its answer, whose body is still to come."""
        said = json.loads(body) if body else {}
        heard = Heard(request.url.path, said, response.status_code, response.headers)
        self.heard.append(heard)
        return heard

    def problems(self) -> list[str]:
        """What is wrong with what was heard, which is forgotten now."""
        heard, self.heard = self.heard, []
        return [f"{one.path}: {problem}" for one in heard for problem in problems(one)]


class StrictTransport(StrictEar, httpx2.BaseTransport):
    """Passes everything on as it is."""

    def __init__(self) -> None:
        super().__init__()
        self._inner = httpx2.HTTPTransport()

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        response = self._inner.handle_request(request)
        heard = self.hear(request.read(), request, response)
        response.stream = _HeardStream(response.stream, heard)
        return response

    def close(self) -> None:
        self._inner.close()


class AsyncStrictTransport(StrictEar, httpx2.AsyncBaseTransport):
    """The same for the SDKs' clients on asyncio."""

    def __init__(self) -> None:
        super().__init__()
        self._inner = httpx2.AsyncHTTPTransport()

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        response = await self._inner.handle_async_request(request)
        heard = self.hear(await request.aread(), request, response)
        response.stream = _AsyncHeardStream(response.stream, heard)
        return response

    async def aclose(self) -> None:
        await self._inner.aclose()


class _HeardStream(httpx2.SyncByteStream):
    def __init__(self, stream: Any, heard: Heard) -> None:
        self._stream = stream
        self._heard = heard

    def __iter__(self) -> Iterator[bytes]:
        for piece in self._stream:
            self._heard.raw += piece
            yield piece
        self._heard.whole = True

    def close(self) -> None:
        self._stream.close()


class _AsyncHeardStream(httpx2.AsyncByteStream):
    def __init__(self, stream: Any, heard: Heard) -> None:
        self._stream = stream
        self._heard = heard

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for piece in self._stream:
            self._heard.raw += piece
            yield piece
        self._heard.whole = True

    async def aclose(self) -> None:
        await self._stream.aclose()


def problems(heard: Heard) -> Iterator[str]:
    """What is wrong with one answer of the three endpoints; nothing is, with that of another."""
    protocol = PROTOCOLS.get(heard.path)
    if protocol is None or not heard.whole:  # the client left in the middle
        return
    if not heard.headers.get("x-request-id"):
        yield "no x-request-id"
    if heard.status >= 400:
        yield from _error_problems(protocol, json.loads(heard.raw))
    elif heard.headers["content-type"].startswith("text/event-stream"):
        found = list(events(heard.raw))
        for event in found:
            yield from _event_problems(protocol, event)
        yield from RULES[protocol](found, heard.request)
    else:
        yield from _invalid(_ANSWERS[protocol], json.loads(heard.raw))


def events(raw: bytes) -> Iterator[Any]:
    """The documents of a stream, and "[DONE]"; a name says what the document says."""
    text = raw.decode().replace("\r\n", "\n")  # both are legal, and pass as they come
    for block in text.split("\n\n"):
        lines = [line for line in block.split("\n") if line and not line.startswith(":")]
        if not lines:
            continue
        *names, data = lines
        assert data.startswith("data: "), block
        event = data.removeprefix("data: ")
        document: Any = DONE if event == DONE else json.loads(event)
        assert names == ([f"event: {document['type']}"] if "type" in document else []), block
        yield document
    assert text.endswith("\n\n")


def _event_problems(protocol: str, event: Any) -> Iterator[str]:
    if event == DONE or event.get("type") == "ping":
        return
    if "error" in event:
        yield from _error_problems(protocol, event)
    else:
        yield from _invalid(_EVENTS[protocol], event)


def _error_problems(protocol: str, document: Json) -> Iterator[str]:
    error = document.get("error")
    if not isinstance(error, dict) or not _ERROR_KEYS[protocol] <= error.keys():
        yield f"an error of another shape: {document}"
    elif not error["message"] or not isinstance(error["message"], str):
        yield f"an error without a message: {document}"
    elif protocol == "messages" and document.get("type") != "error":
        yield f"an error without its type: {document}"


def _invalid(adapter: TypeAdapter[Any], value: Any) -> Iterator[str]:
    try:
        adapter.validate_json(json.dumps(value), strict=True)
    except ValidationError as error:
        yield f"{error}\n{value}"
