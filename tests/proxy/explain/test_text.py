"""An explanation for people and for programs."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from tests.proxy.explain.samples import (
    ANSWERS,
    REQUESTS,
    explained,
    settings_for,
)
from tests.proxy.explain.streams import STREAMS
from toolwire.config.load import loads
from toolwire.proxy.asgi import ASGIApp, Message, Receive, Scope, Send
from toolwire.proxy.explain.document import as_document
from toolwire.proxy.explain.explanation import Explanation
from toolwire.proxy.explain.paint import Paint
from toolwire.proxy.explain.shown import Shown
from toolwire.proxy.explain.text import as_text
from toolwire.proxy.stack import OPTIONS

TWO = """
[[upstreams]]
name = "first"
protocol = "chat"
base_url = "https://first.invalid"

[[upstreams]]
name = "second"
protocol = "chat"
base_url = "https://second.invalid"
"""
THIRD = f"""
[[upstreams]]
name = "upstream"
protocol = "chat"
base_url = "https://upstream.invalid"

[middlewares.theirs]
use = "{__name__}:Renumbers"
before = "routing"
"""
KEY = 'api_key = "sk-of-the-upstream"'
REQUEST = {**REQUESTS["messages"], "top_k": 3}


def text_of(told: Explanation, *only: str, raw: bool = False, colour: bool = False) -> str:
    return as_text(told, Shown(frozenset(only), raw), Paint(colour)).decode()


def headings(text: str) -> list[str]:
    return [line[3:] for line in text.splitlines() if line.startswith("== ")]


async def test_the_sections_stand_in_the_order_of_the_request_and_its_answer() -> None:
    told = await explained(REQUEST, settings_for("chat", more=KEY), ANSWERS["chat"])
    text = text_of(told)
    assert text.startswith("request    POST /v1/messages (messages, recognised by: system)\n")
    assert headings(text) == [
        "tool_schema_conversion",
        "key_canonicalization",
        "sent to the upstream",
        "losses",
        "the answer through tool_schema_conversion",
        "the answer through request_id",
        "the client gets 200",
    ]
    lines = text.splitlines()
    assert "settings   toolwire.toml" in lines
    assert (
        'why        it speaks chat, as the recorded answer does, and its models fit "m" ("*")'
    ) in lines
    assert "POST https://upstream.invalid/v1/chat/completions" in lines
    assert "authorization: Bearer ***" in lines
    assert "path: /v1/messages -> /v1/chat/completions" in lines
    assert re.search(r"\nkeys reordered in \d+ objects, 1 arguments string rewritten\n", text)
    assert "dropped  top_k  Chat Completions has no such field" in lines
    assert "sk-of-the-upstream" not in text


async def test_what_is_dropped_is_told_to_the_client_too() -> None:
    told = await explained(REQUEST, None, ANSWERS["chat"])
    assert "\n+ x-toolwire-dropped: top_k\n" in text_of(told, "tool_schema_conversion")


async def test_a_stream_is_a_table_and_ends_in_what_the_sdk_makes_of_it() -> None:
    told = await explained({**REQUESTS["messages"], "stream": True}, None, STREAMS["chat"])
    lines = text_of(told, "changes", "answer").splitlines()
    start = lines.index("== the answer through sse_rechunking")
    table = lines[start : lines.index("", start)]
    assert "5 events in, 6 out" in table
    assert [
        re.split("  +", line.strip()) for line in table if line[:3] in ("2-4", "  5", "end")
    ] == [
        ["2-4", 'chunk, content "Take " x3', "="],
        ["5", "chunk, finish_reason stop", "="],
        ["end", "-", "[DONE]"],
    ]
    assert "event: message_stop" in lines
    made = lines[lines.index("== what the client's SDK makes of it") + 1 :]
    assert json.loads("\n".join(made))["content"][0]["text"] == "Take an umbrella."


async def test_a_stream_without_its_end_is_told() -> None:
    cut = STREAMS["chat"].rpartition(b"data:")[0]
    told = await explained({**REQUESTS["messages"], "stream": True}, None, cut)
    text = text_of(told, "answer")
    assert headings(text)[-2:] == [
        "the client's SDK raises an error",
        "the answer has no end: the client has to take it for broken off",
    ]
    assert told.reply is None  # it is the upstream's fault, and passed on


@pytest.mark.parametrize(
    ("request_", "verdict"),
    [
        ({"model": "m"}, "refused by tool_schema_conversion: the client gets 400"),
        ({"model": 3, "input": ""}, "refused by routing: the client gets 400"),
    ],
)
async def test_a_refusal_ends_the_text(request_: dict[str, Any], verdict: str) -> None:
    told = await explained(request_)
    text = text_of(told)
    assert headings(text)[-1] == verdict
    assert json.loads(text.rpartition("\n\n")[2])["error"]["type"] == "invalid_request_error"


async def test_a_refused_answer_is_shown_once() -> None:
    told = await explained(REQUESTS["chat"], None, {"error": {"message": "no capacity"}})
    text = text_of(told)
    assert headings(text)[-1] == "refused by answer_repair: the client gets 502"
    assert text.count('"message": "no capacity"') == 1


async def test_fallbacks_and_notes_are_told_with_the_upstream() -> None:
    settings = loads(TWO, environ={}, options=OPTIONS)
    told = await explained(None, settings, ANSWERS["chat"])
    assert text_of(told, "routing").splitlines()[-2:] == [
        "fallbacks  second",
        "note       the plainest request stands in for the one that led to this answer",
    ]


async def test_what_a_middleware_counts_is_told_where_and_in_all() -> None:
    history = [{"role": "user", "content": "q"}, {"role": "assistant", "reasoning": "r"}]
    told = await explained({"model": "m", "messages": history})
    text = text_of(told)
    assert "\ncounted: reasoning_stripped 1\n" in text
    assert text.endswith("\n== changes counted\n    1  reasoning_stripped\n")


async def test_a_request_that_is_asked_again_says_so() -> None:
    error = {"error": {"message": "reasoning_content must be passed back"}}
    settings = settings_for("chat", more='provider = "deepseek"')
    history = [{"role": "user", "content": "q"}, {"role": "assistant", "content": "a"}]
    told = await explained({"model": "m", "messages": history}, settings, error, status=400)
    assert "sent to the upstream, the last of 2 times" in headings(text_of(told))


async def test_a_status_that_a_layer_changes_is_told() -> None:
    settings = loads(THIRD, environ={}, options=OPTIONS)
    told = await explained(REQUESTS["chat"], settings, ANSWERS["chat"])
    assert "\nstatus: 200 -> 203\n" in text_of(told, "theirs")
    assert as_document(told, Shown())["answer"]["layers"][-2]["status"] == (200, 203)


class Renumbers:
    """A middleware of somebody else."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def renumbered(message: Message) -> None:
            await send({**message, "status": 203} if "status" in message else message)

        await self.app(scope, receive, renumbered)
