"""A recorded answer on its way to the client: what each layer does with it, and what arrives."""

from __future__ import annotations

from collections import Counter
from typing import Any

from msgspec import Struct

from toolwire.proxy import answer as answers
from toolwire.proxy.asgi import Headers
from toolwire.proxy.errors import ToolwireError
from toolwire.proxy.explain.client_view import view
from toolwire.proxy.explain.compare import BodyChange, compare
from toolwire.proxy.explain.given import Given
from toolwire.proxy.explain.pretty import pretty
from toolwire.proxy.explain.probe import Passage, SeenAnswer
from toolwire.proxy.explain.recognition import events_in
from toolwire.proxy.explain.rows import table
from toolwire.proxy.explain.steps import Step, header_changes
from toolwire.proxy.explain.trace import Trace
from toolwire.proxy.protocols import json
from toolwire.proxy.protocols.codec import Codec
from toolwire.proxy.protocols.registry import CODECS


class AnswerExplanation(Struct, kw_only=True):
    """``steps`` are the layers that changed the answer, innermost first, and ``unchanged`` those
    that did not.

    ``status``, ``headers`` and ``body`` are what the client gets.  ``seen`` is the answer as its
    SDK has it, where there is one; ``failure`` the error that the SDK raises; ``complete`` is False
    for a stream without its end.
    """

    steps: list[Step]
    unchanged: list[str]
    status: int
    headers: Headers
    body: bytes
    is_stream: bool
    seen: Any = None
    failure: Any = None
    complete: bool = True


def answer_explanation(traced: Trace, given: Given) -> AnswerExplanation | None:
    """What became of the recorded answer; None where the client got nothing."""
    steps, unchanged = [], []
    for place in range(len(traced.layers), 0, -1):
        step = _answer_step(traced, place)
        if not step.is_empty:
            steps.append(step)
        elif traced.latest[place].answer is not None:
            unchanged.append(step.layer)
    got = traced.latest[0].answer
    if got is None:
        return None
    explained = AnswerExplanation(
        steps=steps,
        unchanged=unchanged,
        status=got.status,
        headers=got.headers,
        body=got.body,
        is_stream=answers.is_stream(got.headers),
    )
    _look(explained, CODECS[given.protocol], ended=got.ended)
    return explained


def _answer_step(traced: Trace, place: int) -> Step:
    """What the layer between ``place`` and the one outside of it did."""
    layer = traced.layers[place - 1]
    inside, outside = traced.latest[place], traced.latest[place - 1]
    came, left = inside.answer, outside.answer
    step = Step(layer=layer)
    if inside.thrown_back is not None and outside.thrown_back is None:
        step.told = _raised(inside.thrown_back)
    elif came is None and left is not None:
        step.told = f"answers {left.status} in its place"
    if came is None or left is None:
        return step
    if came.status != left.status:
        step.status = (came.status, left.status)
    step.headers = header_changes(came.headers, left.headers, show_values=True)
    if not step.told:
        _compare_bodies(step, inside, outside, traced.step)
        step.changes = dict(_repairs(came, left))
    return step


def _raised(error: Exception) -> str:
    if isinstance(error, ToolwireError):
        return f"refuses the answer: {error.message}"
    return f"fails on the answer: {type(error).__name__}: {error}"


def _compare_bodies(step: Step, inside: Passage, outside: Passage, last: int) -> None:
    came, left = inside.answer, outside.answer
    if came is None or left is None:
        return
    match answers.is_stream(came.headers), answers.is_stream(left.headers):
        case True, True:
            step.table = table(inside, outside, last)
        case True, False:
            step.told = "puts the stream together, for the client asked for none"
            step.body = BodyChange(_added(pretty(left.body)))
        case False, True:
            step.told = "spells the whole answer out, for the client asked for a stream"
            step.body = BodyChange(_added(left.body.decode("utf-8", "replace")))
        case _:
            same = inside.protocol == outside.protocol
            step.body = compare(came.body, left.body, same_protocol=same)


def _added(text: str) -> list[str]:
    return [f"+{line}" for line in text.splitlines()]


def _repairs(came: SeenAnswer, left: SeenAnswer) -> Counter[str]:
    """What was counted between the end of the answer inside and outside of a layer."""
    return left.changes - came.changes


def _look(explained: AnswerExplanation, client: Codec, *, ended: bool) -> None:
    """Fills in what the client's SDK makes of it."""
    if explained.is_stream:
        seen = view(client.name, events_in(explained.body))
        explained.seen, explained.failure = seen.document, seen.failure
        explained.complete = seen.complete and ended
        return
    explained.complete = ended
    try:
        document = json.decode(explained.body)
    except ValueError:
        document = None
    if explained.status >= 400:
        explained.failure = document
    else:
        explained.seen = document
