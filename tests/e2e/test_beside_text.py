"""What the official client's stream helpers make of tokens and citations beside text.

They put the answer together themselves, and fail where its pieces do not fit.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from openai import AsyncOpenAI

from tests.proxy.live import answering, settings_for
from tests.proxy.live import gateway as gateway_for

CASES = Path(__file__).parent.parent / "conformance" / "cases"


@contextlib.asynccontextmanager
async def asked(name: str) -> AsyncIterator[tuple[AsyncOpenAI, dict[str, Any], Any]]:
    """The client of a case, what it asks, and what it is to get."""
    case = json.loads((CASES / f"{name}.json").read_text())
    body = "".join(case["upstream_sse"]).encode()
    request = {key: value for key, value in case["request"].items() if key != "stream"}
    async with (
        answering(body, headers=[("content-type", "text/event-stream")]) as upstream,
        gateway_for(settings_for(upstream.url, case["upstream"])) as url,
        AsyncOpenAI(base_url=f"{url}/v1", api_key="k") as client,
    ):
        yield client, request, case["expect_stream"]


async def test_chat_adds_the_tokens_up() -> None:
    async with asked("stream-r2c-logprobs") as (client, request, expected):
        async with client.chat.completions.stream(**request) as stream:
            events = [event async for event in stream]
            choice = (await stream.get_final_completion()).choices[0]
    assert choice.logprobs is not None
    assert choice.logprobs.model_dump()["content"] == expected["/choices/0/logprobs/content"]
    done = next(event for event in events if event.type == "logprobs.content.done")
    assert len(done.content) == 3


async def test_chat_has_the_citations_of_all_texts() -> None:
    async with asked("stream-m2c-web-citations") as (client, request, expected):
        async with client.chat.completions.stream(**request) as stream:
            message = (await stream.get_final_completion()).choices[0].message
    assert message.content == "It is warm and dry"
    assert message.annotations is not None
    found = [note.model_dump() for note in message.annotations]
    assert found == expected["/choices/0/message/annotations"]
    cited = [note.url_citation for note in message.annotations]
    assert [message.content[place.start_index : place.end_index] for place in cited] == [
        "warm",
        "dry",
    ]


async def test_responses_adds_the_tokens_up() -> None:
    async with asked("stream-c2r-logprobs") as (client, request, expected):
        async with client.responses.stream(**request) as stream:
            deltas = [e async for e in stream if e.type == "response.output_text.delta"]
            (item,) = (await stream.get_final_response()).output
    assert [token.token for delta in deltas for token in delta.logprobs] == ["Hi", "\\xc3", "\\xa9"]
    assert item.type == "message"
    content = item.content[0].model_dump()
    assert content["logprobs"] == expected["/output/0/content/0/logprobs"]


async def test_responses_has_the_citations_of_each_text() -> None:
    async with asked("stream-c2r-citations-anywhere") as (client, request, expected):
        async with client.responses.stream(**request) as stream:
            added = [e async for e in stream if e.type == "response.output_text.annotation.added"]
            output = (await stream.get_final_response()).output
    assert [event.annotation_index for event in added] == [0, 0, 1]
    for place in (0, 2):
        item = output[place]
        assert item.type == "message"
        found = item.content[0].model_dump()["annotations"]
        assert found == expected[f"/output/{place}/content/0/annotations"]
