"""An explanation for programs: one JSON object."""

from __future__ import annotations

from typing import Any

from msgspec import to_builtins

from toolwire.proxy.asgi import Headers
from toolwire.proxy.explain.answering import AnswerExplanation
from toolwire.proxy.explain.explanation import Explanation, Reply
from toolwire.proxy.explain.shown import Shown
from toolwire.proxy.explain.steps import Step
from toolwire.proxy.explain.upstream import Sent
from toolwire.proxy.protocols import json


def as_document(explanation: Explanation, shown: Shown) -> dict[str, Any]:
    """The parts that are shown.  ``layers`` holds the changes of the request, outermost first;
    bodies are ``json`` where they are JSON, else ``text``, and with ``raw`` always ``text``."""
    given = explanation.given
    document: dict[str, Any] = {}
    if shown.part("routing"):
        document["client"] = {
            "protocol": given.protocol,
            "recognised_by": given.recognised_by or None,
            "path": given.path,
            "stand_in": given.stand_in,
        }
        document["configuration"] = explanation.configuration
        document["upstream"] = to_builtins(explanation.route)
        document["notes"] = explanation.notes
    document["layers"] = [_step(step) for step in explanation.steps if shown.layer(step.layer)]
    if shown.part("changes"):
        document["unchanged"] = explanation.unchanged
        document["left_out"] = explanation.left_out
    if explanation.sent:
        document |= _sent(explanation.sent[-1], len(explanation.sent), shown)
        if shown.part("losses"):
            document["losses"] = to_builtins(explanation.losses)
            document["changes"] = explanation.changes
    if explanation.answer is not None:
        document["answer"] = _answer(explanation.answer, shown)
    if explanation.reply is not None:
        document["reply"] = _reply(explanation.reply, shown)
    return document


def _sent(sent: Sent, times: int, shown: Shown) -> dict[str, Any]:
    document: dict[str, Any] = {}
    if shown.part("request"):
        document["request"] = {
            "method": sent.method,
            "url": sent.url,
            "headers": [list(pair) for pair in sent.headers],
            "times": times,
        }
    if shown.part("body"):
        document["body"] = _body(sent.body, shown)
    return document


def _answer(answer: AnswerExplanation, shown: Shown) -> dict[str, Any]:
    document: dict[str, Any] = {
        "layers": [_step(step) for step in answer.steps if shown.layer(step.layer)]
    }
    if shown.part("changes"):
        document["unchanged"] = answer.unchanged
    if shown.part("answer"):
        document |= {
            "status": answer.status,
            "headers": _headers(answer.headers),
            "stream": answer.is_stream,
            "body": _body(answer.body, shown),
            "seen": answer.seen,
            "failure": answer.failure,
            "complete": answer.complete,
        }
    return document


def _reply(reply: Reply, shown: Shown) -> dict[str, Any]:
    return {
        "by": reply.by,
        "refuses": reply.refuses,
        "status": reply.status,
        "headers": _headers(reply.headers),
        "body": _body(reply.body, shown),
    }


def _step(step: Step) -> dict[str, Any]:
    """The fields that tell something."""
    document: dict[str, Any] = to_builtins(step)
    if (table := document.get("table")) is not None:
        for row in table["rows"]:
            del row["kinds"]
    return {name: value for name, value in document.items() if value not in (None, "", [], {})}


def _body(body: bytes, shown: Shown) -> dict[str, Any]:
    if not shown.raw:
        try:
            return {"json": json.decode(body)}
        except ValueError:
            pass
    return {"text": body.decode("utf-8", "replace")}


def _headers(headers: Headers) -> list[list[str]]:
    return [[name.decode("latin-1"), value.decode("latin-1")] for name, value in headers]
