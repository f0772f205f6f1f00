"""OpenAI Chat Completions.  https://platform.openai.com/docs/api-reference/chat"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from toolwire.proxy.protocols import failure as failures
from toolwire.proxy.protocols import json, sse
from toolwire.proxy.protocols.chat import stream_whole
from toolwire.proxy.protocols.chat.answer_repair import repair_answer
from toolwire.proxy.protocols.chat.errors import write_failure
from toolwire.proxy.protocols.chat.repair import StreamRepair
from toolwire.proxy.protocols.chat.request_read import read_request
from toolwire.proxy.protocols.chat.request_write import write_request
from toolwire.proxy.protocols.chat.response import read_answer, usage_of, write_answer
from toolwire.proxy.protocols.chat.stream_reader import StreamReader
from toolwire.proxy.protocols.chat.stream_writer import StreamWriter
from toolwire.proxy.protocols.codec import Codec, Quirks
from toolwire.proxy.protocols.neutral import Answer, Failure, Losses, Request, Usage
from toolwire.proxy.protocols.sse import Event

__all__ = ["CODEC", "StreamRepair"]


class _ChatCodec:
    """See ``codec.Codec``.  ``think_tags`` moves ``<think>…</think>`` at the beginning of visible
    text to ``reasoning_content``."""

    name: Literal["chat"] = "chat"
    path = "/chat/completions"

    def read_request(self, document: dict[str, Any]) -> Request:
        return read_request(document)

    def write_request(self, request: Request, quirks: Quirks, losses: Losses) -> dict[str, Any]:
        return write_request(request, quirks, losses)

    def read_answer(self, document: dict[str, Any]) -> Answer:
        return read_answer(document)

    def write_answer(self, answer: Answer, request: Request, losses: Losses) -> dict[str, Any]:
        return write_answer(answer, request, losses)

    def read_failure(self, status: int, body: bytes) -> Failure:
        return failures.read_body(status, body)

    def write_failure(self, failure: Failure) -> dict[str, Any]:
        return write_failure(failure)

    def repair_answer(
        self,
        document: dict[str, Any],
        *,
        think_tags: bool = False,
        request: dict[str, Any] | None = None,
    ) -> dict[str, int]:
        return repair_answer(document, tags=think_tags)

    def usage_of(self, document: dict[str, Any]) -> Usage | None:
        return usage_of(document)

    def stream_repair(
        self, *, think_tags: bool = False, request: dict[str, Any] | None = None
    ) -> StreamRepair:
        return StreamRepair(think_tags=think_tags, request=request)

    def stream_reader(self) -> StreamReader:
        return StreamReader()

    def stream_writer(self, request: Request, losses: Losses | None = None) -> StreamWriter:
        return StreamWriter(request, losses or Losses())

    def spelled_out(
        self, document: dict[str, Any], request: dict[str, Any] | None = None
    ) -> list[Event]:
        return stream_whole.spelled_out(document, request)

    def collected(self, events: Sequence[Event]) -> dict[str, Any]:
        return stream_whole.collected(events)

    def failure_event(self, failure: Failure) -> list[Event]:
        return [Event(json.encode(write_failure(failure)))]

    def keep_alive(self) -> Event:
        return sse.comment()


CODEC: Codec = _ChatCodec()
