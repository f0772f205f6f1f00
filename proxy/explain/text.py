"""An explanation for people: sections of text, diffs in colour."""

from __future__ import annotations

from collections.abc import Iterator

from toolwire.proxy.asgi import Headers
from toolwire.proxy.explain.answering import AnswerExplanation
from toolwire.proxy.explain.explanation import Explanation, Reply
from toolwire.proxy.explain.paint import Paint
from toolwire.proxy.explain.pretty import pretty, printable
from toolwire.proxy.explain.shown import Shown
from toolwire.proxy.explain.step_text import step_lines
from toolwire.proxy.explain.steps import Step
from toolwire.proxy.explain.upstream import Sent
from toolwire.proxy.protocols import json


def as_text(explanation: Explanation, shown: Shown, paint: Paint) -> bytes:
    """UTF-8.  Of several sections each has a heading."""
    sections: list[bytes] = []
    if shown.part("routing"):
        sections.append(_joined(_routing(explanation, paint)))
    sections += _changes(explanation.steps, explanation, shown, paint)
    if explanation.sent:
        sections += _sent(explanation.sent, shown, paint)
        if shown.part("losses"):
            sections.append(_joined(_losses(explanation, paint)))
    if explanation.answer is not None:
        sections += _answer(explanation.answer, shown, paint)
    if explanation.reply is not None:
        sections.append(_joined(_reply(explanation, explanation.reply, paint)))
    return b"\n".join(sections)


def _routing(explanation: Explanation, paint: Paint) -> Iterator[str]:
    given, route = explanation.given, explanation.route
    by = f", recognised by: {given.recognised_by}" if given.recognised_by else ""
    yield f"request    POST {given.path} ({given.protocol}{by})"
    yield f"settings   {explanation.configuration}"
    if route is not None:
        yield (
            f"upstream   {paint.heading(route.upstream)}, which speaks {route.protocol} "
            f"(provider {route.provider}), for model {printable(route.model)}"
        )
        yield f"why        {printable(route.why)}"
        if route.fallbacks:
            yield f"fallbacks  {', '.join(route.fallbacks)}"
    for note in explanation.notes:
        yield f"note       {note}"


def _changes(
    steps: list[Step], explanation: Explanation, shown: Shown, paint: Paint
) -> Iterator[bytes]:
    for step in steps:
        if shown.layer(step.layer):
            yield _joined(step_lines(step, paint, heading=step.layer))
    if shown.part("changes"):
        aside = []
        if explanation.unchanged:
            aside.append(f"no change by: {', '.join(explanation.unchanged)}")
        if explanation.left_out:
            aside.append(f"not run here: {', '.join(explanation.left_out)}")
        if aside:
            yield _joined(map(paint.aside, aside))


def _sent(requests: list[Sent], shown: Shown, paint: Paint) -> Iterator[bytes]:
    sent = requests[-1]
    if shown.part("request"):
        times = f", the last of {len(requests)} times" if len(requests) > 1 else ""
        lines = [f"{sent.method} {sent.url}", *(f"{name}: {value}" for name, value in sent.headers)]
        heading = [] if shown.alone else [paint.heading(f"== sent to the upstream{times}")]
        yield _joined([*heading, *map(printable, lines)])
    if shown.part("body"):
        yield _shown_body(sent.body, shown)


def _losses(explanation: Explanation, paint: Paint) -> Iterator[str]:
    yield paint.heading("== losses")
    if not explanation.losses:
        yield "none: everything crosses as it is"
    width = max((len(loss.path) for loss in explanation.losses), default=0)
    for loss in explanation.losses:
        yield printable(f"{loss.kind:<9}{loss.path:<{width}}  {loss.why}")
    if explanation.changes:
        yield ""
        yield paint.heading("== changes counted")
        for name, count in explanation.changes.items():
            yield f"{count:>5}  {name}"


def _answer(answer: AnswerExplanation, shown: Shown, paint: Paint) -> Iterator[bytes]:
    for step in answer.steps:
        if shown.layer(step.layer):
            yield _joined(step_lines(step, paint, heading=f"the answer through {step.layer}"))
    if shown.part("changes") and answer.unchanged:
        yield _joined([paint.aside(f"no change by: {', '.join(answer.unchanged)}")])
    if not shown.part("answer"):
        return
    if not (shown.alone and shown.raw):
        heading = paint.heading(f"== the client gets {answer.status}")
        yield _joined([heading, *_headers(answer.headers)])
    yield _shown_body(answer.body, shown)
    if not shown.raw and (lines := list(_seen(answer, paint))):
        yield _joined(lines)


def _seen(answer: AnswerExplanation, paint: Paint) -> Iterator[str]:
    """What there is to say beside the body: a whole answer is what the SDK parses it to."""
    if answer.is_stream and answer.seen is not None:
        yield paint.heading("== what the client's SDK makes of it")
        yield from _body(json.encode(answer.seen))
    if answer.failure is not None:
        yield paint.removed("== the client's SDK raises an error")
        if answer.is_stream:
            told = answer.failure
            yield from _body(told.encode() if isinstance(told, str) else json.encode(told))
    if not answer.complete:
        yield paint.removed("== the answer has no end: the client has to take it for broken off")


def _reply(explanation: Explanation, reply: Reply, paint: Paint) -> Iterator[str]:
    """The gateway's own words, where they are not shown already."""
    verb = "refused" if reply.refuses else "answered"
    gets = f"the client gets {reply.status}" if reply.status else "the connection is broken off"
    yield paint.removed(f"== {verb} by {reply.by}: {gets}")
    if explanation.answer is None:
        yield from _headers(reply.headers)
        yield ""
        yield from _body(reply.body)


def _shown_body(body: bytes, shown: Shown) -> bytes:
    """As its bytes, alone or with a line end; or laid out."""
    if shown.raw:
        return body if shown.alone else body + b"\n"
    return _joined(_body(body))


def _body(body: bytes) -> list[str]:
    return printable(pretty(body)).splitlines()


def _headers(headers: Headers) -> list[str]:
    return [printable(f"{name.decode()}: {value.decode('latin-1')}") for name, value in headers]


def _joined(lines: Iterator[str] | list[str] | map[str]) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode("utf-8", "backslashreplace")
