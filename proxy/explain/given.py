"""What somebody wants explained: a request, and perhaps what an upstream answered to it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from msgspec import Struct, field

from toolwire.proxy.asgi import Headers
from toolwire.proxy.errors import InvalidRequest
from toolwire.proxy.explain import recognition
from toolwire.proxy.explain.upstream import RecordedAnswer
from toolwire.proxy.protocols import json
from toolwire.proxy.protocols.neutral import Protocol
from toolwire.proxy.protocols.registry import CODECS, codec_for_path

_HEADER = re.compile(r"([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([\t\x20-\x7e\x80-\xff]*)")
"""https://www.rfc-editor.org/rfc/rfc9110#section-5.5"""

_NOT_ASKED = "(the question is not known)"


class InputError(ValueError):
    """What was given cannot be explained; the message says where it is wrong and what was
    expected."""


class Source(Struct, frozen=True):
    """Something that was read: ``name`` is the file's, or ``standard input``."""

    name: str
    data: bytes


class Given(Struct, frozen=True, kw_only=True):
    """A request as a client posts it, and the answer to it.

    ``recognised_by`` is why it is taken for ``protocol``; empty where that was said.  ``stand_in``:
    only an answer was given, and a plain request stands in for the one that led to it.
    """

    protocol: Protocol
    recognised_by: str = ""
    body: bytes
    headers: Headers = field(default_factory=list)
    stand_in: bool = False
    answer: RecordedAnswer | None = None
    answer_protocol: Protocol | None = None

    @property
    def path(self) -> str:
        """Where a client posts it."""
        return "/v1" + CODECS[self.protocol].path


def given(
    request: Source | None,
    *,
    answer: Source | None = None,
    record: Source | None = None,
    protocol: Protocol | None = None,
    status: int | None = None,
    headers: Sequence[str] = (),
) -> Given:
    """What is to be explained.

    ``record`` holds a request and its answer in one JSON object: ``request``; ``response`` (JSON,
    or text) or ``sse`` (the text of a stream); ``status``, 200 where there is none; ``protocol``,
    or ``path``, of both.  What is given beside it counts instead.  Raises ``InputError``.
    """
    if request is not None:
        _check_request(request)
    held = _Record(record) if record is not None else None
    played, spoken = _played(answer, held, status)
    body = request.data if request is not None else None
    if body is None and held is not None and held.protocol in (None, protocol or held.protocol):
        body, protocol = held.request, protocol or held.protocol
    if body is None and played is None:
        raise InputError("expected a request or an answer to explain, got neither")
    lines = [_header(header) for header in headers]
    by = ""
    if protocol is None:
        protocol, by = _recognised(body, lines, spoken)
    return Given(
        protocol=protocol,
        recognised_by=by,
        body=_stand_in(protocol, played) if body is None else body,
        headers=_with_content_type(lines),
        stand_in=body is None,
        answer=played,
        answer_protocol=spoken,
    )


def _played(
    answer: Source | None, held: _Record | None, status: int | None
) -> tuple[RecordedAnswer | None, Protocol | None]:
    """The answer, and what it is written in, as far as that is known."""
    if answer is not None:
        played: RecordedAnswer | None = _answer(answer.data, status or 200)
    else:
        played = held.answer(status) if held is not None else None
    if played is None:
        return None, None
    told = held.protocol if held is not None and answer is None else None
    return played, told or recognition.of_answer(played.body)


class _Record:
    def __init__(self, source: Source) -> None:
        document = _object(source)
        self._document = document
        self.protocol: Protocol | None = self._protocol(source.name)
        request = document.get("request")
        if request is not None and not isinstance(request, dict):
            raise InputError(f"{source.name}: request: expected an object or null")
        self.request = json.encode(request) if request else None
        if not {"request", "response", "sse"} & document.keys():
            raise InputError(
                f"{source.name}: expected a record: an object with request, and response or sse"
            )

    def _protocol(self, name: str) -> Protocol | None:
        told, path = self._document.get("protocol"), self._document.get("path")
        if told is not None:
            if not isinstance(told, str) or told not in CODECS:
                raise InputError(f"{name}: protocol: expected one of {', '.join(CODECS)}")
            return CODECS[told].name
        codec = codec_for_path(path.partition("?")[0]) if isinstance(path, str) else None
        return codec.name if codec else None

    def answer(self, status: int | None) -> RecordedAnswer | None:
        document = self._document
        told = document.get("status")
        code = status or (told if isinstance(told, int) else 200)
        if isinstance(stream := document.get("sse"), str):
            return _answer(stream.encode("utf-8", "surrogatepass"), code)
        if "response" not in document:
            return None
        response = document["response"]
        body = response.encode() if isinstance(response, str) else json.encode(response)
        return _answer(b"" if response is None else body, code)


def _check_request(source: Source) -> None:
    """The gateway would refuse it with these words, too."""
    document = _object(source)
    if "request" in document and {"response", "sse", "protocol"} & document.keys():
        raise InputError(
            f"{source.name}: expected a client's request, got a record of a request and its "
            f"answer: give it as --record {source.name}"
        )


def _object(source: Source) -> dict[str, Any]:
    try:
        return json.decode_object(source.data, what=source.name)
    except InvalidRequest as error:
        raise InputError(error.message) from None


def _answer(body: bytes, status: int) -> RecordedAnswer:
    if not 200 <= status <= 599:
        raise InputError(f"expected the status of an answer, from 200 to 599, got {status}")
    kind = b"application/json"
    if recognition.is_stream(body):
        kind = b"text/event-stream"
    elif body.lstrip()[:1] == b"<":
        kind = b"text/html"
    elif body.lstrip()[:1] not in (b"{", b"["):
        kind = b"text/plain"
    return RecordedAnswer(status, [(b"content-type", kind)], body)


def _recognised(
    body: bytes | None, headers: Headers, spoken: Protocol | None
) -> recognition.Recognised:
    if body is None:
        return recognition.Recognised(spoken or "chat", "the answer's, for no request was given")
    if any(name == b"anthropic-version" for name, _ in headers):
        return recognition.Recognised("messages", "the header anthropic-version")
    return recognition.of_request(json.decode(body))


def _stand_in(protocol: Protocol, answer: RecordedAnswer | None) -> bytes:
    """The plainest request to which ``answer`` can be the answer."""
    body = answer.body if answer else b""
    asked = [{"role": "user", "content": _NOT_ASKED}]
    document: dict[str, Any] = {"model": recognition.model_of(body) or "unknown"}
    if protocol == "responses":
        document["input"] = asked
    else:
        document["messages"] = asked
    if protocol == "messages":
        document["max_tokens"] = 1024
    if answer is not None and answer.is_stream:
        document["stream"] = True
    return json.encode(document)


def _header(line: str) -> tuple[bytes, bytes]:
    match = _HEADER.fullmatch(line)
    if match is None:
        raise InputError(f'--header: expected "name: value", got "{line}"')
    return match[1].lower().encode(), match[2].strip().encode("latin-1")


def _with_content_type(headers: Headers) -> Headers:
    if any(name == b"content-type" for name, _ in headers):
        return headers
    return [(b"content-type", b"application/json"), *headers]
