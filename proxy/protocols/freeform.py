"""Free-form tools where only functions are known: their text travels as one string parameter.

A custom tool takes any text, perhaps of a grammar
(https://platform.openai.com/docs/guides/function-calling#custom-tools).  Wrapped, it is a function
with the one parameter ``input``; the grammar is told in the description.  All in neutral form.
"""

from __future__ import annotations

import re
from enum import Enum
from json import loads
from typing import Any

from msgspec.structs import replace

from toolwire.proxy.protocols import json
from toolwire.proxy.protocols.neutral import Call, CustomTool, FunctionTool

FIELD = "input"
"""The one parameter."""


def wrap(tool: CustomTool) -> FunctionTool:
    """The function that stands for a free-form tool."""
    return FunctionTool(
        name=tool.name,
        description=_description(tool),
        schema={
            "type": "object",
            "properties": {FIELD: {"type": "string", "description": "The whole input, as text."}},
            "required": [FIELD],
            "additionalProperties": False,
        },
        cache=tool.cache,
        at=tool.at,
    )


def wrap_call(call: Call) -> Call:
    """A custom call as a call of the function that ``wrap`` makes."""
    return replace(call, arguments=wrap_text(call.arguments), custom=False)


def wrap_text(text: str) -> str:
    """The arguments of the function's call, for an input."""
    return json.encode_text({FIELD: text})


def unwrap_call(call: Call) -> Call:
    """A call of such a function as the custom call that it stands for.

    Models do not always keep to the schema: arguments of another form are the input as they are.
    """
    return replace(call, arguments=unwrap_text(call.arguments), custom=True)


def unwrap_text(arguments: str) -> str:
    """The input in the arguments of a wrapped call."""
    try:
        document = json.decode(arguments)
    except ValueError:
        return arguments
    if isinstance(document, dict):
        if isinstance(text := document.get(FIELD), str):
            return text
        if not document:
            return ""
    return document if isinstance(document, str) else arguments


def _description(tool: CustomTool) -> str | None:
    """What the tool is for, and which form its input has."""
    grammar = _grammar(tool.format)
    if grammar is None:
        return tool.description
    syntax, definition = grammar
    kind = f"{syntax} grammar" if syntax else "grammar"
    rule = f"The input must match this {kind}:\n{definition}"
    return f"{tool.description}\n\n{rule}" if tool.description else rule


def _grammar(form: dict[str, Any] | None) -> tuple[str, str] | None:
    """(syntax, definition), whether nested as in Chat Completions or flat as in Responses."""
    if not form or form.get("type") != "grammar":
        return None
    nested = form.get("grammar")
    source = nested if isinstance(nested, dict) else form
    definition = source.get("definition")
    if not isinstance(definition, str):
        return None
    syntax = source.get("syntax")
    return (syntax if isinstance(syntax, str) else ""), definition


# ------------------------------------------------------------------------------- in a stream
_BEGINNING = re.compile(r'\s*\{\s*"input"\s*:\s*"')
_POSSIBLE_BEGINNING = re.compile(r'\s*(\{\s*("(i(n(p(u(t("\s*(:\s*)?)?)?)?)?)?)?)?)?\Z')
_WHOLE_CHARACTERS = re.compile(r'(?:[^"\\]|\\u[0-9a-fA-F]{4}|\\[^u])*')
_HALF_PAIR = re.compile(r"(?<!\\)(?:\\\\)*(\\u[dD][89abAB][0-9a-fA-F]{2})\Z")


class _State(Enum):
    BEFORE = "before"
    INSIDE = "inside"
    ODD = "odd"
    """The arguments do not begin like a wrapped input: all is held back to the end."""
    OVER = "over"


class InputStream:
    """The input of a wrapped call, told piece by piece as its arguments come."""

    def __init__(self) -> None:
        self._state = _State.BEFORE
        self._held = ""

    def feed(self, piece: str) -> str:
        """More of the arguments; the text of the input that is certain now."""
        if self._state is _State.OVER:
            return ""
        self._held += piece
        if self._state is _State.BEFORE:
            if begun := _BEGINNING.match(self._held):
                self._held = self._held[begun.end() :]
                self._state = _State.INSIDE
            elif not _POSSIBLE_BEGINNING.match(self._held):
                self._state = _State.ODD
        return self._inside() if self._state is _State.INSIDE else ""

    def flush(self) -> str:
        """What was held back, now that the arguments are over."""
        held, self._held = self._held, ""
        if self._state is _State.INSIDE:
            return _unescaped(held)
        if self._state is _State.OVER or not held.strip():
            return ""
        return unwrap_text(held)

    def _inside(self) -> str:
        whole = _WHOLE_CHARACTERS.match(self._held)
        end = whole.end() if whole is not None else 0
        if self._held[end : end + 1] == '"':
            self._state = _State.OVER
        elif half := _HALF_PAIR.search(self._held, 0, end):
            end = half.start(1)  # its other half may still come
        certain, self._held = self._held[:end], self._held[end:]
        return _unescaped(certain)


def _unescaped(text: str) -> str:
    """The meaning of the inside of a JSON string; as it stands where it is none."""
    try:
        value = loads(f'"{text}"', strict=False)  # models write line ends as they are
    except ValueError:
        return text
    return value if isinstance(value, str) else text
