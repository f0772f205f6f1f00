"""A block of a stream under repair, as the upstream has it, and what its deltas look like."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

import msgspec
from msgspec import Struct, field

from toolwire.proxy.protocols import json
from toolwire.proxy.protocols.messages.input_text import InputText
from toolwire.proxy.protocols.messages.object_scan import ObjectScan
from toolwire.proxy.protocols.messages.repair import DELTA_TEXTS
from toolwire.proxy.protocols.sse import Event

TAKEN_BY = {
    "text_delta": "text",
    "citations_delta": "text",
    "thinking_delta": "thinking",
    "signature_delta": "thinking",
}
"""The type of block that a type of delta belongs to; ``input_json_delta`` is for calls."""

ARGUMENTS = "input_json_delta"
_WHOLE = ("redacted_thinking", "container_upload")
"""Blocks without deltas, as are results of tools: ``BetaRawContentBlockDelta`` of the SDK."""

PLAIN = ("text_delta", "thinking_delta", ARGUMENTS)
"""Deltas that come often."""


class _Kind(Struct, gc=False):
    type: str = ""
    text: str = ""
    thinking: str = ""
    partial_json: str = ""
    signature: str = ""


class DeltaHead(Struct, gc=False):
    """As much of a ``content_block_delta`` as says where it belongs."""

    type: str
    index: int
    delta: _Kind


Told = tuple[Event | None, dict[str, Any]]
"""An event as it came, None where it was changed; and its document."""

_decoder = msgspec.json.Decoder(DeltaHead)


class RepairedBlock(Struct):
    """A block, and how far it is out."""

    type: str
    number: int | None
    """The upstream's own index, where it gave one."""
    index: int = -1
    """Ours; -1 while the block waits."""
    held: list[dict[str, Any]] = field(default_factory=list)
    """Its events that wait: documents, less the end."""
    raw: dict[int, Event] = field(default_factory=dict)
    """The very events of ``held``, by their place there, where nothing was changed."""
    heard: list[bytes] = field(default_factory=list)
    """Deltas of a call that were not looked into."""
    scan: ObjectScan = field(default_factory=ObjectScan)
    input: InputText = field(default_factory=InputText)
    """Of a call, until its object began."""
    doubtful: Told | None = None
    """The last delta that waits to be found one of an object."""
    told: bool = False
    """There is more of it than that it begins."""
    stopped: bool = False
    """The upstream is done with it."""
    closed: bool = False
    """Its end is out."""

    @property
    def is_call(self) -> bool:
        return self.type.endswith("tool_use")

    @property
    def comes_whole(self) -> bool:
        """Whether its beginning is all of it."""
        return self.type in _WHOLE or self.type.endswith("_tool_result")

    @property
    def makes_way(self) -> bool:
        """Whether it may go on in another block of its type.  What nobody here knows may not."""
        return self.comes_whole or self.type in ("text", "thinking")

    def takes(self, kind: str) -> bool:
        """Whether a delta of this type belongs to such a block; what nobody knows may."""
        if kind == ARGUMENTS:
            return self.is_call
        return TAKEN_BY.get(kind, self.type) == self.type

    def hold(self, event: Event | None, document: dict[str, Any]) -> None:
        """Keeps an event until the block's turn; ``event`` is None where its document was
        changed."""
        if event is not None:
            self.raw[len(self.held)] = event
        self.held.append(document)

    def sent(
        self, document: dict[str, Any], event: Event | None, repairs: Counter[str]
    ) -> list[Event]:
        """An event of the block under its right number and name."""
        kind = document["type"]
        if event is None or document.get("index") != self.index:
            document["index"] = self.index
            return [Event(json.encode(document), kind)]
        if event.name != kind:
            repairs["event_name_added"] += 1
            return [Event(event.data, kind)]
        return [event]

    def admitted(self, told: Told, repairs: Counter[str]) -> Told | None:
        """What may go out of a delta of arguments, where no object began yet; None for nothing."""
        _, document = told
        text = document["delta"].get("partial_json")
        if not self.is_call or self.input.has_begun or not text:
            return told
        out = self.input.feed(text)
        if not out:
            self.doubtful = told
            return None
        if self.doubtful is not None:
            repairs["input_placeholder"] += 1
        if out == text:
            return told
        document["delta"]["partial_json"] = out
        return None, document

    def owed(self, repairs: Counter[str]) -> list[Told]:
        """The delta that is due at its end: the arguments, where they had to wait for it."""
        text = self.input.flush() if self.is_call else ""
        if self.input.is_odd:
            repairs["input_not_an_object"] += 1
        if not text:
            return []
        if self.doubtful is not None and self.doubtful[1]["delta"]["partial_json"] == text:
            return [self.doubtful]
        delta = {"type": ARGUMENTS, "partial_json": text}
        return [(None, {"type": "content_block_delta", "index": self.index, "delta": delta})]

    def is_whole(self) -> bool:
        """Whether the arguments of a call are one whole JSON object."""
        for data in self.heard:
            self.scan.feed(_arguments_in(data))
        self.heard.clear()
        return self.scan.complete()


def head_of(data: bytes) -> DeltaHead | None:
    """Where a delta belongs; None where that is not as it should be."""
    try:
        return _decoder.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None


def _arguments_in(data: bytes) -> str:
    try:
        delta = json.decode(data)["delta"]
        text = delta["partial_json"]
    except (ValueError, LookupError, TypeError):  # it passed unread
        return ""
    return text if isinstance(text, str) else ""


def start_for(kind: str, number: int | None) -> dict[str, Any]:
    """The ``content_block_start`` of the block that a type of delta belongs to."""
    block = {"type": TAKEN_BY[kind], TAKEN_BY[kind]: ""}
    if block["type"] == "thinking":
        block["signature"] = ""
    return {"type": "content_block_start", "index": number, "content_block": block}


def learned(data: bytes, index: int, kind: str) -> bytes:
    """The beginning of a delta up to and with the quotation mark that opens its text; b"" where
    that says too little."""
    name = DELTA_TEXTS[kind]
    found = re.search(rb'"%b"\s*:\s*"' % name.encode(), data)
    prefix = data[: found.end()] if found is not None else b""
    try:
        document = json.decode(prefix + b'"}}')
    except ValueError:
        return b""
    whole = {"type": "content_block_delta", "index": index, "delta": {"type": kind, name: ""}}
    return prefix if document == whole else b""
