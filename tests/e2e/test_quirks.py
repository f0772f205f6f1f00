"""What upstreams get wrong comes out right: with a quirk a client hears what it hears without."""

from __future__ import annotations

import pytest

from tests.e2e.conftest import UPSTREAMS, Client, Pair
from tests.e2e.conversation import TIME, WEATHER, Finish, Reply, Result
from tests.e2e.observed import Observed
from tests.e2e.strict import StrictTransport
from toolwire.proxy.demo import QUIRKS
from toolwire.proxy.demo.neutral import Protocol

TOOLS = (WEATHER, TIME)
BOTH = "What is the weather in Oslo and Rome, 世界?"
HARMLESS = [  # nothing of what was said is missing, it is only said oddly
    "empty-ids",
    "stop-beside-calls",
    "arguments-object",
    "interleaved",
    "missing-index",
    "role-every-chunk",
    "usage-every-chunk",
    "no-done",
    "crlf",
    "one-byte",
    "split-utf8",
]
OF_STREAMS = ["crlf", *(name for name in HARMLESS if QUIRKS[name].events)]
ODD = [
    (upstream, name, stream)
    for upstream in UPSTREAMS
    for name in HARMLESS
    if Protocol(upstream) in QUIRKS[name].protocols
    for stream in ([True] if name in OF_STREAMS else [False, True])
]


def meaning(reply: Reply) -> tuple[object, ...]:
    """What was said, without the ids, which differ from request to request."""
    return (reply.text, reply.thinking, reply.called(), reply.finish, reply.output_tokens)


@pytest.mark.parametrize(("upstream", "quirk", "stream"), ODD)
def test_a_tool_loop(client: Client, upstream: str, quirk: str, stream: bool) -> None:
    pair = Pair(client, upstream)
    history = client.user(BOTH)
    plain = pair.ask(history, stream=stream, tools=TOOLS, thinking=True)
    odd = pair.ask(history, quirk, stream=stream, tools=TOOLS, thinking=True)
    assert meaning(odd) == meaning(plain)
    assert len({call.id for call in odd.calls if call.id}) == 2
    results = client.results([Result(call, "fine, 世界") for call in odd.calls])
    history = [*history, *odd.said, *results]
    last = pair.ask(history, quirk, stream=stream, tools=TOOLS, thinking=True)
    assert last.text.splitlines()[1:] == ["get_weather answered: “fine, 世界”"] * 2


@pytest.mark.parametrize("upstream", UPSTREAMS)
def test_all_of_them_at_once(client: Client, upstream: str) -> None:
    quirks = [name for name in HARMLESS if Protocol(upstream) in QUIRKS[name].protocols]
    if upstream == "chat":
        quirks.remove("interleaved")  # without an index nobody could tell the pieces apart
    pair = Pair(client, upstream)
    plain = pair.ask(BOTH, stream=True, tools=TOOLS)
    odd = pair.ask(BOTH, *quirks, stream=True, tools=TOOLS)
    assert meaning(odd) == meaning(plain)


def test_tags_are_text_unless_they_are_said_to_be_thinking(
    client: Client, configured_clients: dict[str, Client], demo: Observed, stream: bool
) -> None:
    left = Pair(client, "chat").ask("hi", "think-tags", stream=stream, thinking=True)
    assert left.text.startswith("<think>\nNothing to look up → I answer at once.\n</think>")
    tagged = Pair(configured_clients[client.protocol], "tagged")
    moved = tagged.ask("hi", "think-tags", stream=stream, thinking=True)
    assert moved.thinking.strip() == "Nothing to look up → I answer at once."
    assert moved.text.startswith("✓ You said: “hi”")


@pytest.fixture(params=["chat", "messages", "responses"])
def keyed(
    request: pytest.FixtureRequest, configured_clients: dict[str, Client], heard: StrictTransport
) -> Client:
    """Each client at the configured gateway."""
    return configured_clients[request.param]


@pytest.mark.parametrize("choice", ["required", "get_weather"])
def test_a_forced_choice_where_the_model_thinks_unasked(
    keyed: Client, stream: bool, choice: str
) -> None:
    """Bailian refuses it unless thinking is switched off: the gateway does so."""
    pair = Pair(keyed, "bailian")
    reply = pair.ask("Oslo", "bailian-400", stream=stream, tools=(WEATHER,), choice=choice)
    assert [call.name for call in reply.calls] == ["get_weather"]
    assert reply.finish is Finish.CALLS
    assert pair.ask("hi", "bailian-400", stream=stream).thinking


@pytest.mark.parametrize("forgets", [False, True])
def test_reasoning_that_has_to_come_back(
    keyed: Client, demo: Observed, stream: bool, forgets: bool
) -> None:
    """DeepSeek wants the reasoning of a turn that called tools; most clients drop it."""
    pair = Pair(keyed, "deepseek")
    history = keyed.user("What is the weather in Oslo?")
    first = pair.ask(history, "deepseek-400", stream=stream, tools=(WEATHER,))
    assert first.thinking
    said = [item for item in first.said if item.get("type") != "reasoning"] if forgets else None
    if forgets and keyed.protocol == "chat":
        said = [{key: item[key] for key in ("role", "tool_calls")} for item in first.said]
    history += [*(said or first.said), *keyed.results([Result(first.calls[0], "5 °C")])]
    last = pair.ask(history, "deepseek-400", stream=stream, tools=(WEATHER,))
    assert last.text == "✓ The tools were run.\nget_weather answered: “5 °C”"
