"""The way from one request to its answer."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping

from msgspec.structs import replace
from starlette.responses import Response

from toolwire.proxy.demo.delivery import Delivered, Delivery
from toolwire.proxy.demo.dialects import Dialect
from toolwire.proxy.demo.documents import bytes_of, parse
from toolwire.proxy.demo.neutral import Json, Protocol
from toolwire.proxy.demo.quirks import HEADER, Quirk, asked_for
from toolwire.proxy.demo.refusals import Refusal
from toolwire.proxy.demo.script import play

BAD_KEY = "bad-key"
"""The one API key that is refused."""

_JSON = "application/json"
_SSE = "text/event-stream"


def complete(raw: bytes, headers: Mapping[str, str], dialect: Dialect, delay: float) -> Response:
    """The answer to a request for a completion, as a document or as a stream.

    `delay` is the pause of the quirk `slow`, in seconds. Raises Refusal.
    """
    body = checked(raw, headers, dialect.protocol)
    quirks = asked_for(body.get("model"), headers.get(HEADER, ""), dialect.protocol)
    for quirk in quirks:
        if quirk.before:
            quirk.before(dialect.protocol)
    dialect.check(body, headers)
    for quirk in quirks:
        if quirk.check:
            quirk.check(body)
    return _answered(body, dialect, quirks, delay, headers_for(raw, dialect.protocol))


def answer_or_refuse(raw: bytes, protocol: Protocol, make: Callable[[], Response]) -> Response:
    """What `make` returns; the vendor's error where it raises Refusal or `raw` nests too deep."""
    try:
        return make()
    except Refusal as raised:
        refusal = raised
    except RecursionError:
        refusal = Refusal("The JSON body of your request is nested too deep.")
    headers = {**headers_for(raw, protocol), **refusal.headers}
    if refusal.page is not None:
        return Response(refusal.page, refusal.status, headers, media_type="text/html")
    body = refusal.body(protocol, _request_id(raw))
    return Response(bytes_of(body), refusal.status, headers, media_type=_JSON)


def checked(raw: bytes, headers: Mapping[str, str], protocol: Protocol) -> Json:
    """The body of a request with an acceptable key. Raises Refusal."""
    check_key(headers, protocol)
    try:
        body = parse(raw)
    except ValueError as error:  # UnicodeDecodeError is one too
        raise Refusal(f"We could not parse the JSON body of your request: {error}") from None
    if not isinstance(body, dict):
        raise Refusal("The body of the request has to be a JSON object.")
    return body


def check_key(headers: Mapping[str, str], protocol: Protocol) -> None:
    """Any key will do, and none, but for the bad one. Raises Refusal."""
    if BAD_KEY in (headers.get("x-api-key"), headers.get("authorization", "").split(" ")[-1]):
        if protocol is Protocol.MESSAGES:
            raise Refusal("invalid x-api-key", status=401)
        raise Refusal(f"Incorrect API key provided: {BAD_KEY}.", status=401, code="invalid_api_key")


def headers_for(raw: bytes, protocol: Protocol) -> dict[str, str]:
    """What the vendor says beside each answer: the request's id, and how many may follow."""
    if protocol is Protocol.MESSAGES:
        return {
            "request-id": _request_id(raw),
            "anthropic-ratelimit-requests-limit": "1000",
            "anthropic-ratelimit-requests-remaining": "999",
        }
    return {
        "x-request-id": _request_id(raw),
        "openai-version": "2020-10-01",
        "x-ratelimit-limit-requests": "1000",
        "x-ratelimit-remaining-requests": "999",
    }


def _answered(
    body: Json, dialect: Dialect, quirks: list[Quirk], delay: float, headers: dict[str, str]
) -> Response:
    prompt = dialect.read(body)
    if any(quirk.thinks and quirk.thinks(body) for quirk in quirks):
        prompt = replace(prompt, thinking=True)
    completion = play(prompt)
    answer = dialect.answer(body, prompt, completion)
    delivery = Delivery()
    for quirk in quirks:
        if quirk.answer:
            quirk.answer(answer)
        if quirk.delivery:
            delivery = quirk.delivery(delivery, delay)
    if not prompt.stream:
        document = bytes_of(answer)
        headers["content-length"] = str(len(document))
        halves = [document[: len(document) // 2], document[len(document) // 2 :]]
        return Delivered(halves, delivery, media_type=_JSON, headers=headers)
    events = dialect.events(prompt, completion, answer)
    for quirk in quirks:
        if quirk.events:
            events = quirk.events(events, answer, dialect.protocol)
    pieces = [event.encode(delivery.newline) for event in events]
    headers["cache-control"] = "no-cache"
    return Delivered(pieces, delivery, media_type=_SSE, headers=headers)


def _request_id(raw: bytes) -> str:
    return f"req_{hashlib.sha256(raw).hexdigest()[:24]}"
