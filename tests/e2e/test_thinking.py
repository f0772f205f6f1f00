"""Thinking is shown, kept apart from the text, and goes back to whoever signed it.

The demo refuses thinking whose signature or ciphertext is not its own, and a Messages turn in the
middle of a tool loop that lacks its thinking: so that an answer comes is the proof.
"""

from __future__ import annotations

import itertools
from typing import Any

import anthropic
import pytest

from tests.e2e.conftest import UPSTREAMS, Client, Pair
from tests.e2e.conversation import WEATHER, Result

THOUGHT = "Nothing to look up → I answer at once."
THOUGHT_OF_CALL = "This needs a tool → get_weather."
THOUGHT_OF_RESULT = "The tools have answered → I repeat what they say."
ANSWER = "✓ The tools were run.\nget_weather answered: “5 °C”"
QUESTION = "What is the weather in Oslo?"


def test_it_is_shown_beside_the_text(pair: Pair, stream: bool) -> None:
    reply = pair.ask("hi", stream=stream, thinking=True)
    assert reply.thinking == THOUGHT
    assert reply.text.startswith("✓ You said: “hi”")
    assert reasoning_tokens(reply.native) > 0


def reasoning_tokens(native: Any) -> int:
    usage = native.usage
    for details in ("completion_tokens_details", "output_tokens_details"):
        if (found := getattr(usage, details, None)) is not None:
            return int(
                getattr(found, "reasoning_tokens", 0) or getattr(found, "thinking_tokens", 0)
            )
    raise AssertionError(f"no details of the tokens in {usage}")


def test_nobody_thinks_unasked(pair: Pair, stream: bool) -> None:
    assert pair.ask("hi", stream=stream).thinking == ""


def test_a_tool_loop_with_the_whole_history(pair: Pair, stream: bool) -> None:
    history = pair.client.user(QUESTION)
    first = pair.ask(history, stream=stream, thinking=True, tools=(WEATHER,))
    assert first.thinking == THOUGHT_OF_CALL
    history = [*history, *first.said, *pair.client.results([Result(first.calls[0], "5 °C")])]
    last = pair.ask(history, stream=stream, thinking=True, tools=(WEATHER,))
    assert (last.thinking, last.text) == (THOUGHT_OF_RESULT, ANSWER)


def test_a_client_that_forgets_the_thinking_may_go_on(pair: Pair, stream: bool) -> None:
    history = pair.client.user(QUESTION)
    first = pair.ask(history, stream=stream, thinking=True, tools=(WEATHER,))
    said = [forgetful(item) for item in first.said]
    results = pair.client.results([Result(first.calls[0], "5 °C")])
    history = [*history, *filter(None, said), *results]
    if pair.client.protocol == pair.upstream == "messages":
        # The vendor's own rule, which its own clients know: nothing is put back for them.
        with pytest.raises(anthropic.BadRequestError, match="must start with a thinking block"):
            pair.ask(history, stream=stream, thinking=True, tools=(WEATHER,))
        return
    last = pair.ask(history, stream=stream, thinking=True, tools=(WEATHER,))
    assert last.text == ANSWER


def forgetful(item: Any) -> Any:
    """The item with the fields alone that every client knows; None when nothing is left."""
    if item.get("type") == "reasoning":
        return None
    if isinstance(item.get("content"), list) and item.get("role") == "assistant":
        kept = [block for block in item["content"] if block.type != "thinking"]
        return {**item, "content": kept}
    known = ("role", "content", "tool_calls", "type", "call_id", "name", "arguments")
    return {key: value for key, value in item.items() if key in known}


@pytest.fixture(params=list(itertools.permutations(UPSTREAMS, 2)), ids="-then-".join)
def upstreams(request: pytest.FixtureRequest) -> tuple[str, str]:
    """Two upstreams, one after the other."""
    first, then = request.param
    return first, then


def test_another_upstream_takes_over(client: Client, upstreams: tuple[str, str]) -> None:
    """What one vendor signed is nothing to the other, and must not be shown to it."""
    stream = upstreams[0] < upstreams[1]  # one way streamed, the other whole
    history: list[Any] = []
    for upstream in (*upstreams, *upstreams):
        pair = Pair(client, upstream)
        history += client.user(QUESTION)
        called = pair.ask(history, stream=stream, thinking=True, tools=(WEATHER,))
        history += [*called.said, *client.results([Result(called.calls[0], "5 °C")])]
        answered = pair.ask(history, stream=stream, thinking=True, tools=(WEATHER,))
        assert answered.text.endswith("get_weather answered: “5 °C”")
        history += answered.said


def test_another_upstream_takes_over_between_call_and_result(
    client: Client, upstreams: tuple[str, str], stream: bool
) -> None:
    first, then = upstreams
    history = client.user(QUESTION)
    begun = Pair(client, first).ask(history, stream=stream, thinking=True, tools=(WEATHER,))
    history = [*history, *begun.said, *client.results([Result(begun.calls[0], "5 °C")])]
    taking_over = Pair(client, then)
    if client.protocol == then == "messages":
        # It asked for thinking itself, in the middle of a turn that has none of this vendor's.
        with pytest.raises(anthropic.BadRequestError, match="must start with a thinking block"):
            taking_over.ask(history, stream=stream, thinking=True, tools=(WEATHER,))
        assert taking_over.ask(history, stream=stream, tools=(WEATHER,)).text == ANSWER
        return
    last = taking_over.ask(history, stream=stream, thinking=True, tools=(WEATHER,))
    assert last.text == ANSWER


def test_a_forced_choice_goes_before_thinking(pair: Pair, stream: bool) -> None:
    """Messages refuses both at once.

    https://docs.anthropic.com/en/docs/build-with-claude/extended-thinking
    """
    if pair.client.protocol == pair.upstream == "messages":
        with pytest.raises(anthropic.BadRequestError, match="Thinking may not be enabled"):
            pair.ask(QUESTION, stream=stream, thinking=True, tools=(WEATHER,), choice="required")
        return
    reply = pair.ask(QUESTION, stream=stream, thinking=True, tools=(WEATHER,), choice="required")
    assert reply.called() == [("get_weather", {"city": "Oslo"})]
    assert bool(reply.thinking) is (pair.upstream != "messages")
