"""What each layer did to a request or an answer: the differences between neighbouring places."""

from __future__ import annotations

from msgspec import Struct, field

from toolwire.proxy.asgi import Headers
from toolwire.proxy.explain.compare import BodyChange, compare
from toolwire.proxy.explain.probe import Passage
from toolwire.proxy.explain.rows import Table
from toolwire.proxy.explain.trace import Trace
from toolwire.proxy.explain.upstream import MASK
from toolwire.proxy.protocols.neutral import Loss

_FOLLOWS_FROM_BODY = (b"content-length",)
"""Headers that tell nothing which the body does not."""


class HeaderChange(Struct, frozen=True):
    """A header that a layer set, changed or took away (None)."""

    name: str
    before: str | None
    after: str | None


class Step(Struct, kw_only=True):
    """One layer's change, of a request or an answer.

    ``told`` says in words what is not in the other fields.
    """

    layer: str
    told: str = ""
    path: tuple[str, str] | None = None
    status: tuple[int, int] | None = None
    headers: list[HeaderChange] = field(default_factory=list)
    body: BodyChange | None = None
    table: Table | None = None
    changes: dict[str, int] = field(default_factory=dict)
    losses: list[Loss] = field(default_factory=list)

    @property
    def is_empty(self) -> bool:
        """Whether the layer changed nothing."""
        return not (
            self.told
            or self.path
            or self.status
            or self.headers
            or self.body
            or self.table
            or self.changes
            or self.losses
        )


def request_steps(traced: Trace) -> tuple[list[Step], list[str]]:
    """The layers that changed the request, outermost first, and the names of those that did not.

    Of a request that was asked more than once it is the first time that is told.
    """
    passages = traced.attempts[0].passages if traced.attempts else traced.latest
    steps, unchanged = [], []
    known: bytes | None = None
    for place, layer in enumerate(traced.layers):
        if place + 1 not in passages:
            break
        outside, inside = passages[place], passages[place + 1]
        known = outside.body if outside.body is not None else known
        step = request_step(layer, outside, inside, known)
        if step.is_empty:
            unchanged.append(layer)
        else:
            steps.append(step)
    return steps, unchanged


def request_step(layer: str, outside: Passage, inside: Passage, known: bytes | None) -> Step:
    """What ``layer`` did between two places; ``known`` is the body as it was before."""
    moved = outside.path != inside.path
    body = None
    if known is not None and inside.body is not None:
        body = compare(known, inside.body, same_protocol=not moved)
    return Step(
        layer=layer,
        path=(outside.path, inside.path) if moved else None,
        headers=header_changes(outside.headers, inside.headers, show_values=False),
        body=body,
        changes=dict(inside.changes - outside.changes),
        losses=inside.losses[len(outside.losses) :],
    )


def retry_step(traced: Trace) -> Step:
    """What the layer changed that asked the upstream once more, as the upstream sees it."""
    (first, sent_first), (last, sent_last) = (
        (attempt.passages, attempt.sent) for attempt in traced.attempts[-2:]
    )
    place = min(place for place in last if last[place] is not first.get(place))
    before, after = first[place], last[place]
    return Step(
        layer=traced.layers[place - 1],
        told=f"asks again, after the upstream answered {_status(before)}",
        headers=header_changes(before.headers, after.headers, show_values=False),
        body=compare(sent_first.body, sent_last.body),
        changes=dict(after.changes - before.changes),
        losses=after.losses[len(before.losses) :],
    )


def _status(passage: Passage) -> int:
    return passage.answer.status if passage.answer else 0


def header_changes(before: Headers, after: Headers, *, show_values: bool) -> list[HeaderChange]:
    """What is not the same in both.  On the way in values are not shown, for a middleware of
    somebody else may add a secret."""
    old, new = _by_name(before), _by_name(after)
    changes = []
    for name in dict.fromkeys([*old, *new]):
        one, other = old.get(name), new.get(name)
        if one != other and name not in _FOLLOWS_FROM_BODY:
            shown = [_text(value) if show_values else _masked(value) for value in (one, other)]
            changes.append(HeaderChange(name.decode("latin-1"), *shown))
    return changes


def _by_name(headers: Headers) -> dict[bytes, bytes]:
    found: dict[bytes, bytes] = {}
    for name, value in headers:
        found[name] = found[name] + b", " + value if name in found else value
    return found


def _masked(value: bytes | None) -> str | None:
    return None if value is None else MASK


def _text(value: bytes | None) -> str | None:
    return None if value is None else value.decode("latin-1")
