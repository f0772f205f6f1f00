"""The script of the demo: what it answers to a prompt. The same prompt gives the same answer.

It calls tools when they are offered and it is the user's turn, or when a call is forced; it answers
from tool results; it makes JSON when JSON is asked for; otherwise it repeats what the user said.
"""

from __future__ import annotations

from collections.abc import Sequence

from toolwire.proxy.demo import hints
from toolwire.proxy.demo.documents import derived, text_of
from toolwire.proxy.demo.neutral import Call, Choice, Completion, Finish, Prompt, Tool, tokens
from toolwire.proxy.demo.samples import sample

_QUOTED = 60  # characters of the user's text in an answer
_QUOTED_RESULT = 500  # characters of a tool result in an answer
_READ = 2_000  # characters of the user's text that are searched for places, numbers and names


def play(prompt: Prompt) -> Completion:
    """The whole answer, cut where a stop sequence or the token limit says so."""
    calls = _calls(prompt)
    text = "" if calls else _text(prompt)
    thinking = _thinking(prompt, calls) if prompt.thinking else ""
    finish = Finish.CALLS if calls else Finish.DONE
    stop = min((s for s in prompt.stop if s in text), key=text.find, default=None)
    if stop is not None:
        text, finish = text[: text.find(stop)], Finish.STOP_SEQUENCE
    return _within_limit(
        Completion(thinking=thinking, text=text, calls=calls, finish=finish, stop_sequence=stop),
        prompt.max_tokens,
    )


def _calls(prompt: Prompt) -> tuple[Call, ...]:
    if not prompt.tools or prompt.choice is Choice.NONE:
        return ()
    if prompt.results and prompt.choice is Choice.AUTO:
        return ()
    said = prompt.user_text[:_READ]
    chosen = _chosen(prompt.tools, said, prompt.parallel)
    return tuple(
        Call(
            key=derived(prompt.seed, "call", i),
            name=tool.name,
            arguments=_arguments(tool, said, turn=i),
            free_form=tool.free_form,
        )
        for i, tool in enumerate(chosen)
    )


def _chosen(tools: Sequence[Tool], said: str, parallel: bool) -> list[Tool]:
    """One tool, or two where that is allowed and the text asks for it."""
    named = hints.named_in(said, tools)
    first = named[0] if named else hints.nearest(said, tools)
    if not parallel:
        return [first]
    if len(named) > 1:
        return named[:2]
    if len(hints.places(said)) > 1 and hints.takes_place(first):
        return [first, first]
    if len(tools) > 1 and hints.asks_for_several(said):
        return [first, next(tool for tool in tools if tool is not first)]
    return [first]


def _arguments(tool: Tool, said: str, turn: int) -> str:
    if tool.free_form:
        return said.strip()[:_QUOTED] or "demo"
    arguments = sample(tool.schema, said, turn)
    return text_of(arguments if isinstance(arguments, dict) else {})


def _text(prompt: Prompt) -> str:
    if prompt.json:
        if prompt.json_schema is None:
            return text_of({"answer": _quote(prompt.user_text, _QUOTED)})
        return text_of(sample(prompt.json_schema, prompt.user_text[:_READ]))
    if prompt.results:
        said = [
            f"{r.name} {'failed' if r.failed else 'answered'}: {_quote(r.text, _QUOTED_RESULT)}"
            for r in prompt.results
        ]
        return "\n".join(["✓ The tools were run.", *said, *_seen(prompt)])
    said = [f"✓ You said: {_quote(prompt.user_text, _QUOTED)}", *_seen(prompt)]
    return "\n".join([*said, "This is the demo upstream: no model was asked."])


def _seen(prompt: Prompt) -> list[str]:
    return [f"Images seen: {prompt.images}."] if prompt.images else []


def _thinking(prompt: Prompt, calls: Sequence[Call]) -> str:
    if calls:
        return f"This needs a tool → {' and '.join(call.name for call in calls)}."
    if prompt.results:
        return "The tools have answered → I repeat what they say."
    return "Nothing to look up → I answer at once."


def _quote(text: str, length: int) -> str:
    text = text.strip()
    return f"“{text if len(text) <= length else text[:length] + '…'}”"


def _within_limit(whole: Completion, max_tokens: int | None) -> Completion:
    """Cuts what is over the limit, thinking first come first served, and counts what is left."""
    left = max_tokens
    thinking, left = _take(whole.thinking, left)
    text, left = _take(whole.text, left)
    calls: list[Call] = []
    for call in whole.calls:
        if left == 0:
            break
        arguments, left = _take(call.arguments, left)
        calls.append(
            Call(key=call.key, name=call.name, arguments=arguments, free_form=call.free_form)
        )
    cut = (thinking, text, tuple(calls)) != (whole.thinking, whole.text, whole.calls)
    spoken = sum(len(tokens(part)) for part in (text, *(call.arguments for call in calls)))
    thought = len(tokens(thinking))
    return Completion(
        thinking=thinking,
        text=text,
        calls=tuple(calls),
        finish=Finish.LENGTH if cut else whole.finish,
        stop_sequence=None if cut else whole.stop_sequence,
        output_tokens=thought + spoken,
        thinking_tokens=thought,
    )


def _take(text: str, left: int | None) -> tuple[str, int | None]:
    """(as much of the text as there are tokens left, tokens left after it)."""
    if left is None:
        return text, None
    pieces = tokens(text)[:left]
    return "".join(pieces), left - len(pieces)
