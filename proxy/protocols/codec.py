"""What a protocol offers: a codec.  The rest of the gateway knows protocols by this alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from toolwire.proxy.protocols import neutral
from toolwire.proxy.protocols.neutral import Answer, Failure, Losses, Request, StreamEvent
from toolwire.proxy.protocols.sse import Event


class Quirks(Protocol):
    """What a writer must know of an upstream: a subset of the provider profile, as data.

    ``toolwire.config.model.Profile`` has these fields; see there for what each means.
    """

    @property
    def max_tokens_field(self) -> str: ...
    @property
    def default_max_tokens(self) -> int: ...
    @property
    def developer_role(self) -> bool: ...
    @property
    def tool_result_images(self) -> bool: ...
    @property
    def strict(self) -> bool: ...
    @property
    def custom_tools(self) -> bool: ...
    @property
    def parallel_tool_calls(self) -> bool: ...
    @property
    def stream_usage(self) -> bool: ...
    @property
    def cache_control(self) -> bool: ...
    @property
    def structured_output(self) -> str: ...
    @property
    def output_tokens_min(self) -> int: ...
    @property
    def temperature_max(self) -> float | None: ...
    @property
    def stop_max(self) -> int | None: ...
    @property
    def thinking_switch(self) -> str: ...
    @property
    def thinking_key(self) -> str: ...
    @property
    def reasoning_field(self) -> str: ...
    @property
    def forced_choice_refused_while_thinking(self) -> bool: ...
    @property
    def messages_thinking(self) -> str: ...
    @property
    def efforts(self) -> Sequence[str]: ...
    @property
    def thinking_budgets(self) -> Mapping[Any, int]: ...
    @property
    def thinking_budget_min(self) -> int: ...
    @property
    def signed_thinking(self) -> bool: ...
    @property
    def first_turn_user(self) -> bool: ...
    @property
    def thinking_optional(self) -> bool: ...


class StreamReader(Protocol):
    """Wire events of an upstream (already repaired) to neutral events."""

    def read(self, event: Event) -> list[StreamEvent]:
        """What ``event`` means; [] for what means nothing.  Never raises for what an upstream sent:
        nonsense becomes a ``StreamFailure``."""

    def close(self) -> list[StreamEvent]:
        """The body is over: the events still owed.  A stream that had its finish is complete, any
        other ends in a ``StreamFailure`` (once)."""


class StreamWriter(Protocol):
    """Neutral events to wire events of a client: a state machine that only makes legal moves."""

    def write(self, event: StreamEvent) -> list[Event]:
        """The wire events that ``event`` calls for, perhaps none yet."""


class StreamRepair(Protocol):
    """Wire events as an upstream sent them, to wire events as its protocol has them."""

    def feed(self, events: list[Event]) -> list[Event]:
        """The same events where nothing is wrong with them (the very objects, their bytes kept)."""

    def passes(self, data: bytes) -> bool:
        """Whether ``data``, which begins where an event begins, is whole events that ``feed`` would
        return as they are, and that nothing has to be noted of.  False where that would have to be
        found out."""

    def close(self, failure: Failure | None = None) -> list[Event]:
        """The body is over: what the upstream should still have sent (``[DONE]`` after a finish),
        or an error event where the stream broke off without an end.  ``failure`` says how it broke
        off, where that is known; without one it is told in general words."""

    @property
    def repairs(self) -> dict[str, int]:
        """How often each kind of repair was made, by a stable snake_case name."""

    @property
    def usage(self) -> neutral.Usage | None:
        """The token counts that the stream told, for logs and metrics."""

    @property
    def finished(self) -> bool:
        """The stream has had its end (finish, ``message_stop``, terminal event) or its error."""


class Codec(Protocol):
    """One protocol.  All methods are pure; documents are plain JSON (``json.Document``)."""

    @property
    def name(self) -> neutral.Protocol: ...

    @property
    def path(self) -> str:
        """Of its endpoint, without ``/v1``: ``/chat/completions``."""

    def read_request(self, document: dict[str, Any]) -> Request:
        """Raises ``InvalidRequest`` with the path of a field of a wrong type."""

    def write_request(self, request: Request, quirks: Quirks, losses: Losses) -> dict[str, Any]:
        """``request.turns`` are arranged (see ``layout``); names and ids are legal there."""

    def read_answer(self, document: dict[str, Any]) -> Answer:
        """``document`` was repaired (``repair_answer``).  Raises ``BadUpstreamAnswer`` for what is
        no answer of this protocol at all."""

    def write_answer(self, answer: Answer, request: Request, losses: Losses) -> dict[str, Any]:
        """``request`` is the client's, for the fields that an answer echoes."""

    def read_failure(self, status: int, body: bytes) -> Failure:
        """Any error body, HTML, empty or broken JSON included; never raises."""

    def write_failure(self, failure: Failure) -> dict[str, Any]:
        """The error body in this protocol's shape."""

    def repair_answer(
        self,
        document: dict[str, Any],
        *,
        think_tags: bool = False,
        request: dict[str, Any] | None = None,
    ) -> dict[str, int]:
        """Repairs a whole answer in place; the kinds of repair and how often.  ``think_tags`` moves
        ``<think>…</think>`` at the beginning of the text to the reasoning (chat alone);
        ``request`` is what the answer repeats some of, where it is known (responses alone)."""

    def usage_of(self, document: dict[str, Any]) -> neutral.Usage | None:
        """The token counts of a whole answer."""

    def stream_repair(
        self, *, think_tags: bool = False, request: dict[str, Any] | None = None
    ) -> StreamRepair: ...

    def stream_reader(self) -> StreamReader: ...

    def stream_writer(self, request: Request, losses: Losses | None = None) -> StreamWriter:
        """``losses`` are told at the end of the stream, for nobody could be told before."""

    def spelled_out(
        self, document: dict[str, Any], request: dict[str, Any] | None = None
    ) -> list[Event]:
        """The stream that says what a whole answer says, for an upstream that did not stream though
        it was asked to; ``document`` is repaired.  [] of what is not over yet, or no answer."""

    def collected(self, events: Sequence[Event]) -> dict[str, Any]:
        """The whole answer that a stream tells which nobody asked for; ``events`` are all of it, as
        they came.  Raises ``UpstreamCut`` where it broke off, ``BadUpstreamAnswer`` where it tells
        an error."""

    def failure_event(self, failure: Failure) -> list[Event]:
        """How a stream of this protocol that is already under way tells of an error, as far as it
        can be said without the writer's state."""

    def keep_alive(self) -> Event:
        """What goes out while the upstream is silent."""
