"""What matters of a request, and what is answered, whichever protocol is spoken.

Each protocol reads its request into a `Prompt`; the script turns a prompt into a `Completion`; each
protocol writes a completion as its own answer or stream.
"""

from __future__ import annotations

import re
from enum import Enum
from typing import Any, TypeAlias

from msgspec import Struct

Json: TypeAlias = dict[str, Any]
"""A JSON object, as parsed."""


class Protocol(Enum):
    CHAT = "chat"
    MESSAGES = "messages"
    RESPONSES = "responses"


class Choice(Enum):
    """May the model call tools? A named tool is REQUIRED with that one tool offered."""

    AUTO = "auto"
    NONE = "none"
    REQUIRED = "required"


class Finish(Enum):
    DONE = "done"
    CALLS = "calls"
    LENGTH = "length"
    STOP_SEQUENCE = "stop sequence"


class Tool(Struct, frozen=True, kw_only=True):
    name: str
    schema: Any = None
    """JSON Schema of the arguments, None when there is none."""
    free_form: bool = False
    """A custom tool: its input is text, not JSON."""


class ToolResult(Struct, frozen=True, kw_only=True):
    name: str
    """Name of the tool that was called."""
    text: str
    failed: bool = False


class Prompt(Struct, frozen=True, kw_only=True):
    user_text: str
    """Text of the last user message."""
    results: tuple[ToolResult, ...] = ()
    """Tool results that no assistant message follows."""
    images: int = 0
    """Images that no assistant message follows, in user messages and in tool results."""
    tools: tuple[Tool, ...] = ()
    """Tools that may be called now."""
    choice: Choice = Choice.AUTO
    parallel: bool = True
    json: bool = False
    """Whether the answer has to be JSON."""
    json_schema: Any = None
    max_tokens: int | None = None
    stop: tuple[str, ...] = ()
    thinking: bool = False
    stream: bool = False
    include_usage: bool = False
    input_tokens: int = 0
    cached_tokens: int = 0
    """Part of the input tokens that came from the prompt cache."""
    seed: str
    """Hexadecimal digest of the request; ids are made from it: equal requests, equal answers."""


class Call(Struct, frozen=True, kw_only=True):
    key: str
    """24 hexadecimal digits, unique in the conversation; each protocol makes its ids from it."""
    name: str
    arguments: str
    """JSON, cut short when the token limit was hit; plain text for a free-form tool."""
    free_form: bool = False


class Completion(Struct, frozen=True, kw_only=True):
    thinking: str = ""
    text: str = ""
    calls: tuple[Call, ...] = ()
    finish: Finish = Finish.DONE
    stop_sequence: str | None = None
    output_tokens: int = 0
    """All of them, thinking included."""
    thinking_tokens: int = 0


_TOKEN = re.compile(r"\s*\w{1,6}|\s*[^\w\s]|\s+")


def tokens(text: str) -> list[str]:
    """The text in pieces of up to six letters: the unit of limits, of usage and of deltas."""
    return _TOKEN.findall(text)
