"""Free-form tools as functions with one string, and back."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolwire.proxy.protocols import json
from toolwire.proxy.protocols.freeform import InputStream, unwrap_call, wrap, wrap_call
from toolwire.proxy.protocols.neutral import Cache, Call, CustomTool

FLAT = {"type": "grammar", "syntax": "lark", "definition": "start: /x/"}
NESTED = {"type": "grammar", "grammar": {"syntax": "lark", "definition": "start: /x/"}}


def test_a_tool_becomes_a_function_with_one_string() -> None:
    tool = CustomTool("patch", "Edits files.", cache=Cache({}), at="tools[0]")
    function = wrap(tool)
    assert (function.name, function.description) == ("patch", "Edits files.")
    assert (function.cache, function.at) == (tool.cache, "tools[0]")
    assert function.schema is not None
    assert function.schema["required"] == ["input"]
    assert function.schema["properties"]["input"]["type"] == "string"


@pytest.mark.parametrize("form", [FLAT, NESTED])
def test_the_grammar_stands_in_the_description(form: dict[str, Any]) -> None:
    told = "The input must match this lark grammar:\nstart: /x/"
    assert wrap(CustomTool("p", format=form)).description == told
    assert wrap(CustomTool("p", "Edits.", format=form)).description == f"Edits.\n\n{told}"
    assert wrap(CustomTool("p", "Edits.", format={"type": "text"})).description == "Edits."


@given(st.text())
def test_a_call_comes_back_as_it_was(text: str) -> None:
    call = Call("c", "patch", text, custom=True, at="x")
    wrapped = wrap_call(call)
    assert json.decode(wrapped.arguments) == {"input": text}
    assert not wrapped.custom
    assert unwrap_call(wrapped) == call


ODD = [
    ("", ""),
    ("{}", ""),
    ('"bare"', "bare"),
    ("*** Begin Patch", "*** Begin Patch"),
    ('{"patch": "x"}', '{"patch": "x"}'),
    ('{"input": 5}', '{"input": 5}'),
    ('{"why": "because", "input": "x"}', "x"),
]


@pytest.mark.parametrize(("arguments", "text"), ODD)
def test_arguments_that_do_not_keep_to_the_schema(arguments: str, text: str) -> None:
    assert unwrap_call(Call("c", "p", arguments)).arguments == text
    assert streamed(arguments, 1) == text


def streamed(arguments: str, size: int) -> str:
    stream = InputStream()
    told = [stream.feed(arguments[at : at + size]) for at in range(0, len(arguments), size)]
    return "".join([*told, stream.flush()])


PIECES = st.sampled_from(["a", '"', "\\", "\n", "é", "😀", "u12", "\\u", "}", "\t"])


@given(st.lists(PIECES), st.integers(1, 7), st.booleans())
def test_a_stream_tells_the_same_input_however_it_is_cut(
    pieces: list[str], size: int, escaped: bool
) -> None:
    text = "".join(pieces)
    arguments = json.encode_text({"input": text})
    if escaped:  # other writers escape all that is not ASCII
        arguments = "".join(
            char if char < "\x7f" else "".join(f"\\u{unit:04x}" for unit in utf16(char))
            for char in arguments
        )
    assert streamed(arguments, size) == text


def utf16(char: str) -> list[int]:
    encoded = char.encode("utf-16-be")
    return [int.from_bytes(encoded[at : at + 2], "big") for at in range(0, len(encoded), 2)]


def test_the_input_is_told_as_it_comes() -> None:
    stream = InputStream()
    assert stream.feed('{"inp') == ""
    assert stream.feed('ut": "*** Be') == "*** Be"
    assert stream.feed("gin\\") == "gin"
    assert stream.feed("n\\ud83d") == "\n"
    assert stream.feed('\\ude00"') == "😀"
    assert stream.feed("}") == ""
    assert stream.flush() == ""


def test_line_ends_that_a_model_did_not_escape() -> None:
    assert streamed('{"input": "a\nb"}', 2) == "a\nb"


def test_an_input_that_was_cut_off() -> None:
    assert streamed('{"input": "abc', 4) == "abc"
