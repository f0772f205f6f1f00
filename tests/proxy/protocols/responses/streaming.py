"""How the tests here write a stream for a client."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from openai.types.responses import ResponseStreamEvent
from pydantic import TypeAdapter

from toolwire.proxy.protocols import json
from toolwire.proxy.protocols.neutral import (
    Delta,
    End,
    Finish,
    Part,
    PartEnd,
    PartStart,
    Start,
    Stop,
    StreamEvent,
)
from toolwire.proxy.protocols.responses import CODEC

NATIVE: TypeAdapter[Any] = TypeAdapter(ResponseStreamEvent)


START = Start("chatcmpl-1", "demo-model", created=1700000000)


def write(events: Iterable[StreamEvent], **request: Any) -> list[dict[str, Any]]:
    """The documents that a client gets, each after a check by the official types."""
    writer = CODEC.stream_writer(CODEC.read_request({"model": "m", "input": "hi", **request}))
    documents = []
    for event in events:
        for sent in writer.write(event):
            assert sent.data is not None
            document = json.decode(sent.data)
            assert sent.name == document["type"]
            if document["type"] != "response.failed":  # their codes are more than the types know
                NATIVE.validate_json(sent.data)
            documents.append(document)
    return documents


def types(documents: list[dict[str, Any]]) -> list[str]:
    return [document["type"] for document in documents]


def told(part: Part, *texts: str, whole: Part | None = None, key: int = 0) -> list[StreamEvent]:
    return [
        PartStart(key, part),
        *(Delta(key, text) for text in texts),
        PartEnd(key, whole),
    ]


def stream(*parts: list[StreamEvent], stop: Stop = Stop.DONE) -> list[StreamEvent]:
    return [START, *(event for part in parts for event in part), Finish(stop), End()]
