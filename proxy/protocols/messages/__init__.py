"""Anthropic Messages: https://docs.anthropic.com/en/api/messages"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from toolwire.proxy.protocols import failure as failures
from toolwire.proxy.protocols import json, neutral
from toolwire.proxy.protocols.codec import Codec, Quirks
from toolwire.proxy.protocols.messages import (
    errors,
    request_read,
    request_write,
    response,
    stream_whole,
)
from toolwire.proxy.protocols.messages.repair import repair_answer
from toolwire.proxy.protocols.messages.stream_reader import MessagesStreamReader
from toolwire.proxy.protocols.messages.stream_repair import MessagesStreamRepair
from toolwire.proxy.protocols.messages.stream_writer import MessagesStreamWriter, ping
from toolwire.proxy.protocols.neutral import Answer, Failure, Losses, Request, Usage
from toolwire.proxy.protocols.sse import Event

__all__ = ["CODEC"]


class _MessagesCodec:
    name: neutral.Protocol = "messages"
    path = "/messages"

    def read_request(self, document: dict[str, Any]) -> Request:
        return request_read.read_request(document)

    def write_request(self, request: Request, quirks: Quirks, losses: Losses) -> dict[str, Any]:
        return request_write.write_request(request, quirks, losses)

    def read_answer(self, document: dict[str, Any]) -> Answer:
        return response.read_answer(document)

    def write_answer(self, answer: Answer, request: Request, losses: Losses) -> dict[str, Any]:
        return response.write_answer(answer, request, losses)

    def read_failure(self, status: int, body: bytes) -> Failure:
        return errors.with_code(failures.read_body(status, body))

    def write_failure(self, failure: Failure) -> dict[str, Any]:
        return errors.write_failure(failure)

    def repair_answer(
        self,
        document: dict[str, Any],
        *,
        think_tags: bool = False,
        request: dict[str, Any] | None = None,
    ) -> dict[str, int]:
        return repair_answer(document)

    def usage_of(self, document: dict[str, Any]) -> Usage | None:
        return response.read_usage(document.get("usage"))

    def stream_repair(
        self, *, think_tags: bool = False, request: dict[str, Any] | None = None
    ) -> MessagesStreamRepair:
        model = (request or {}).get("model")
        return MessagesStreamRepair(model if isinstance(model, str) else "")

    def stream_reader(self) -> MessagesStreamReader:
        return MessagesStreamReader()

    def stream_writer(self, request: Request, losses: Losses | None = None) -> MessagesStreamWriter:
        return MessagesStreamWriter(request, losses or Losses())

    def spelled_out(
        self, document: dict[str, Any], request: dict[str, Any] | None = None
    ) -> list[Event]:
        return stream_whole.spelled_out(document, request)

    def collected(self, events: Sequence[Event]) -> dict[str, Any]:
        return stream_whole.collected(events)

    def failure_event(self, failure: Failure) -> list[Event]:
        return [Event(json.encode(errors.write_failure(failure)), "error")]

    def keep_alive(self) -> Event:
        return ping()


CODEC: Codec = _MessagesCodec()
