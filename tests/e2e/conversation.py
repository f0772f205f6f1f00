"""A conversation in no protocol's words: each client here puts it into its own."""

from __future__ import annotations

from enum import Enum
from typing import Any

from msgspec import Struct

CITY = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII="
"""A picture of one pixel, in Base64."""


class Tool(Struct, frozen=True):
    """A function; a free-form tool where ``schema`` is None."""

    name: str
    schema: dict[str, Any] | None


WEATHER = Tool("get_weather", CITY)
TIME = Tool("get_time", CITY)
SHELL = Tool("shell", None)


class Wanted(Struct, frozen=True, kw_only=True):
    """What a request asks for beside the conversation."""

    tools: tuple[Tool, ...] = ()
    choice: str = ""
    """auto, none, required, or the name of a tool; empty: not said."""
    parallel: bool | None = None
    thinking: bool = False
    schema: dict[str, Any] | None = None
    """Of a structured answer."""
    stop: tuple[str, ...] = ()
    max_tokens: int | None = None
    system: str = ""


class Call(Struct, frozen=True):
    id: str
    name: str
    arguments: Any
    """Parsed; the text itself for a free-form tool, and where it is no JSON."""


class Result(Struct, frozen=True):
    call: Call
    text: str
    is_error: bool = False
    image: bool = False


class Finish(Enum):
    DONE = "done"
    SEQUENCE = "stop sequence"
    CALLS = "calls"
    LENGTH = "length"


class Reply(Struct, kw_only=True):
    """An answer; ``said`` is what a client puts into its history for it."""

    text: str
    thinking: str
    calls: list[Call]
    finish: Finish
    input_tokens: int
    output_tokens: int
    cached_tokens: int
    said: list[Any]
    pieces: list[str]
    """The deltas of text, thinking and arguments, of a stream."""
    native: Any
    """The SDK's own object."""

    def called(self) -> list[tuple[str, Any]]:
        return [(call.name, call.arguments) for call in self.calls]
