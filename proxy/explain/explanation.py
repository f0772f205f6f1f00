"""What a trace means: each layer's change, what would be sent, and what the client would get."""

from __future__ import annotations

from collections import Counter

from msgspec import Struct

from toolwire.config.model import Settings
from toolwire.proxy.asgi import Headers
from toolwire.proxy.explain.answering import AnswerExplanation, answer_explanation
from toolwire.proxy.explain.given import Given
from toolwire.proxy.explain.route import Route, narrowed, route_of
from toolwire.proxy.explain.steps import Step, request_steps, retry_step
from toolwire.proxy.explain.trace import Trace, trace
from toolwire.proxy.explain.upstream import Sent
from toolwire.proxy.protocols import json
from toolwire.proxy.protocols.neutral import Loss


class Reply(Struct):
    """What the client gets of the gateway itself in the place of an upstream's answer.

    ``by`` is the layer that had it to say; ``status`` is 0 where the connection is broken off.
    """

    by: str
    status: int
    headers: Headers
    body: bytes

    @property
    def refuses(self) -> bool:
        """Whether it says no."""
        return self.status == 0 or self.status >= 400


class Explanation(Struct, kw_only=True):
    """Everything that is to be told.

    ``configuration`` says where the settings are from.  ``steps`` are the layers that changed the
    request, ``unchanged`` those that did not, ``left_out`` those that are not run here.  ``sent``
    are the requests to the upstream: none where it was refused, more than one where a layer asked
    again.  ``changes`` counts repairs and other changes by kind.
    """

    configuration: str
    given: Given
    notes: list[str]
    route: Route | None
    steps: list[Step]
    unchanged: list[str]
    left_out: list[str]
    sent: list[Sent]
    losses: list[Loss]
    changes: dict[str, int]
    answer: AnswerExplanation | None = None
    reply: Reply | None = None


async def explain(
    settings: Settings, given: Given, *, upstream: str | None = None, configuration: str = ""
) -> Explanation:
    """Runs ``given`` through the stack of ``upstream``, or of the one that routing chooses.

    Raises ``InputError`` where no upstream has that name.
    """
    spoken = given.answer_protocol
    settings = narrowed(settings, upstream, spoken)
    headers = [*given.headers, (b"content-length", b"%d" % len(given.body))]
    traced = await trace(settings, given.path, headers, given.body, given.answer)
    steps, unchanged = request_steps(traced)
    if len(traced.attempts) > 1:
        steps.append(retry_step(traced))
    exchange = traced.exchange
    route = route_of(settings, exchange, upstream, spoken)
    answer = answer_explanation(traced, given) if traced.attempts and given.answer else None
    return Explanation(
        configuration=configuration,
        given=given,
        notes=_notes(given, route),
        route=route,
        steps=steps,
        unchanged=unchanged,
        left_out=traced.left_out,
        sent=[attempt.sent for attempt in traced.attempts],
        losses=list(exchange.losses) if exchange else [],
        changes=dict(exchange.changes if exchange else Counter()),
        answer=answer,
        reply=_reply(traced, given),
    )


def _notes(given: Given, route: Route | None) -> list[str]:
    notes = []
    if given.stand_in:
        notes.append("the plainest request stands in for the one that led to this answer")
    if given.protocol == "responses" and json.decode(given.body).get("previous_response_id"):
        notes.append("no response is kept here, so previous_response_id is known to nobody")
    spoken = given.answer_protocol
    if given.answer is not None and route is not None and spoken not in (None, route.protocol):
        notes.append(
            f"the recorded answer looks like one of {spoken}, "
            f"and upstream {route.upstream} speaks {route.protocol}"
        )
    return notes


def _reply(traced: Trace, given: Given) -> Reply | None:
    """What the gateway says instead of asking, or instead of passing the answer on."""
    if traced.error is not None:
        return Reply(_speaker(traced), 0, [], str(traced.error).encode())
    if traced.attempts and (given.answer is None or not _throwers(traced)):
        return None
    got = traced.latest[0].answer
    return Reply(_speaker(traced), got.status, got.headers, got.body) if got else None


def _throwers(traced: Trace) -> list[int]:
    """The places whose answer was thrown back from further out."""
    return [place for place, seen in traced.latest.items() if seen.thrown_back is not None]


def _speaker(traced: Trace) -> str:
    """The layer that threw the answer back, else the one that asked nobody further in."""
    if thrown := _throwers(traced):
        return traced.layers[min(thrown) - 1]
    return traced.layers[min(max(traced.latest), len(traced.layers) - 1)]
