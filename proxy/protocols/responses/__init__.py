"""OpenAI Responses: https://platform.openai.com/docs/api-reference/responses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from toolwire.proxy.protocols import failure as failures
from toolwire.proxy.protocols import neutral, sse
from toolwire.proxy.protocols.codec import Codec, Quirks, StreamReader, StreamRepair, StreamWriter
from toolwire.proxy.protocols.neutral import Answer, Failure, Losses, Request, Usage
from toolwire.proxy.protocols.responses import repair, response, stream_whole
from toolwire.proxy.protocols.responses.request_read import read_request
from toolwire.proxy.protocols.responses.request_write import write_request
from toolwire.proxy.protocols.responses.stream_reader import ResponsesReader
from toolwire.proxy.protocols.responses.stream_writer import ResponsesWriter
from toolwire.proxy.protocols.sse import Event


class ResponsesCodec:
    """See ``codec.Codec``."""

    name: neutral.Protocol = "responses"
    path = "/responses"

    def read_request(self, document: dict[str, Any]) -> Request:
        return read_request(document)

    def write_request(self, request: Request, quirks: Quirks, losses: Losses) -> dict[str, Any]:
        return write_request(request, quirks, losses)

    def read_answer(self, document: dict[str, Any]) -> Answer:
        return response.read_answer(document)

    def write_answer(self, answer: Answer, request: Request, losses: Losses) -> dict[str, Any]:
        return response.write_answer(answer, request, losses)

    def read_failure(self, status: int, body: bytes) -> Failure:
        return failures.read_body(status, body)

    def write_failure(self, failure: Failure) -> dict[str, Any]:
        return response.write_failure(failure)

    def repair_answer(
        self,
        document: dict[str, Any],
        *,
        think_tags: bool = False,
        request: dict[str, Any] | None = None,
    ) -> dict[str, int]:
        return repair.repair_answer(document, request)

    def usage_of(self, document: dict[str, Any]) -> Usage | None:
        return response.usage_of(document)

    def stream_repair(
        self, *, think_tags: bool = False, request: dict[str, Any] | None = None
    ) -> StreamRepair:
        return repair.ResponsesRepair(request)

    def stream_reader(self) -> StreamReader:
        return ResponsesReader()

    def stream_writer(self, request: Request, losses: Losses | None = None) -> StreamWriter:
        return ResponsesWriter(request, losses or Losses())

    def spelled_out(
        self, document: dict[str, Any], request: dict[str, Any] | None = None
    ) -> list[Event]:
        return stream_whole.spelled_out(document, request)

    def collected(self, events: Sequence[Event]) -> dict[str, Any]:
        return stream_whole.collected(events)

    def failure_event(self, failure: Failure) -> list[Event]:
        return [repair.failed_event(failure)]

    def keep_alive(self) -> Event:
        return sse.comment("keep-alive")


CODEC: Codec = ResponsesCodec()
