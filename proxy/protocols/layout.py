"""Where the results of tool calls stand in a conversation: the one layout that every target takes.

Messages wants the results of one assistant turn in the next user turn, before anything else; Chat
Completions wants one tool message for each call directly after it.  Clients send less: text before
the results, results late, twice, of unknown calls, or not at all.

Sources: https://docs.anthropic.com/en/docs/agents-and-tools/tool-use/implement-tool-use
(results first, all in one message) and https://platform.openai.com/docs/guides/function-calling.
"""

from __future__ import annotations

from collections import deque

from msgspec import Struct
from msgspec.structs import replace

from toolwire.proxy.protocols.identifiers import derived_id
from toolwire.proxy.protocols.neutral import Call, Losses, Part, Result, Role, Text, Turn

_NO_RESULT = "[No result was given for this tool call.]"
_UNCALLED = "[Output of the tool {name}, which was not called here]"
_ORPHAN = "[Result of a tool call that is not in this conversation: {id}]"

# Looked up once: members of an Enum are slow to get at before Python 3.12, and so is
# ``isinstance`` where a struct is of another class, so that types are compared here.
_USER, _ASSISTANT = Role.USER, Role.ASSISTANT


def arrange(turns: list[Turn], losses: Losses) -> list[Turn]:
    """The conversation, laid out; ``turns`` themselves are left alone.

    - Neighbouring user or assistant turns are one turn, unless their speakers have other names.
      System and developer turns stay as they are, where they are.
    - The results of a turn's calls stand first in the user turn directly after it, in the order of
      the calls, and each call has one: a marked placeholder where the client gave none (reported as
      invented).  A second result for a call is dropped and reported.
    - A result without its call, or of none, becomes marked text in its place (reported as coerced).
    - Calls and results without an id are paired by their order, and get an id that is a function of
      their place, so that every request of a session gives the same one.
    - Empty text, also in a result, and turns without parts are left out.

    Takes time linear in the number of parts.
    """
    layout = _Layout(losses)
    for turn in turns:
        layout.add(turn)
    return layout.closed()


class _Layout:
    """The turns so far; those that begin with results get them when all turns are known."""

    def __init__(self, losses: Losses) -> None:
        self._losses = losses
        self._pairing = _Pairing(losses)
        self._turns: list[Turn] = []
        self._places: list[tuple[Turn, list[_Slot]]] = []
        self._placed = 0

    def add(self, turn: Turn) -> None:
        pairing = self._pairing
        earlier = len(pairing.slots)
        parts: list[Part] = []
        answers = False
        for part in turn.parts:
            if type(part) is Text:
                if part.text:
                    parts.append(part)
            elif type(part) is Call:
                parts.append(pairing.slot(part).call)
            elif type(part) is Result:
                answers = True
                parts += pairing.answer(_without_empty_text(part) if len(part.parts) > 1 else part)
            else:
                parts.append(part)
        if not parts and not answers:
            return
        if turn.role is not _ASSISTANT:
            pairing.run += 1
        last = self._turns[-1] if self._turns else None
        if last is not None and last.role is turn.role and _one_speaker(last, turn):
            last.parts += parts
        else:
            self._append(Turn(turn.role, parts, turn.name, turn.at), earlier)

    def _append(self, turn: Turn, earlier: int) -> None:
        """Adds a turn, after the results of the calls that are ``earlier``.  It has no parts where
        it held nothing but results."""
        if self._placed < earlier:
            answering = turn if turn.role is _USER else Turn(_USER, [])
            self._begin_with_results(answering, earlier)
            if answering is turn:
                return
        if turn.parts:
            self._turns.append(turn)

    def _begin_with_results(self, turn: Turn, earlier: int) -> None:
        self._turns.append(turn)
        self._places.append((turn, self._pairing.slots[self._placed : earlier]))
        self._placed = earlier

    def closed(self) -> list[Turn]:
        """All turns."""
        if self._placed < (calls := len(self._pairing.slots)):
            self._begin_with_results(Turn(_USER, []), calls)
        for turn, slots in self._places:
            turn.parts[:0] = [slot.result or self._placeholder(slot.call) for slot in slots]
        return self._turns

    def _placeholder(self, call: Call) -> Result:
        self._losses.invent(call.at, f"the call {call.id!r} has no result: a placeholder is sent")
        return Result(call.id, [Text(_NO_RESULT)], is_error=True, custom=call.custom)


def _without_empty_text(result: Result) -> Result:
    parts = [part for part in result.parts if type(part) is not Text or part.text]
    return result if len(parts) == len(result.parts) else replace(result, parts=parts)


def _one_speaker(last: Turn, turn: Turn) -> bool:
    role = turn.role
    return turn.name == last.name and (role is _USER or role is _ASSISTANT)


class _Slot(Struct, gc=False):
    """A call, and the place for its result.

    ``run`` is the run of assistant turns that it stands in; ``namesakes`` are the further calls of
    that run to which the client gave the same id.
    """

    call: Call
    run: int
    result: Result | None = None
    namesakes: deque[_Slot] | None = None


class _Pairing:
    """Finds the call that each result answers.

    Some upstreams number their calls anew in each answer (``call_0``), so an id means the latest
    call that bears it.  ``slots`` are those of all calls so far, ``run`` counts the runs of
    assistant turns.
    """

    def __init__(self, losses: Losses) -> None:
        self.slots: list[_Slot] = []
        self.run = 0
        self._losses = losses
        self._by_id: dict[str, _Slot] = {}
        self._next = 0

    def slot(self, call: Call) -> _Slot:
        """The slot of a call; its call has an id of its own."""
        first = self._by_id.get(call.id)
        if first is None or first.run != self.run:
            slot = _Slot(call if call.id else self._renamed(call), self.run)
            self._by_id[call.id] = slot
        else:
            slot = _Slot(self._renamed(call), self.run)
            first.namesakes = first.namesakes or deque()
            first.namesakes.append(slot)
        self.slots.append(slot)
        return slot

    def _renamed(self, call: Call) -> Call:
        if call.id:
            self._losses.coerce(call.at, f"another call of this turn has the id {call.id!r} too")
        else:
            self._losses.invent(call.at, "the call has no id")
        return replace(call, id=derived_id("call_", call.id, call.name, len(self.slots) + 1))

    def answer(self, result: Result) -> list[Part]:
        """Puts ``result`` where it belongs; what stays in its place instead."""
        if result.uncalled is not None:
            self._losses.coerce(result.at, "it answers no call: carried as text")
            return [Text(_UNCALLED.format(name=result.uncalled), at=result.at), *result.parts]
        slot = self._find(result.call_id)
        if slot is not None:
            call = slot.call
            if result.call_id != call.id or result.custom != call.custom:
                result = replace(result, call_id=call.id, custom=call.custom)
            slot.result = result
            return []
        if result.call_id and result.call_id in self._by_id:
            self._losses.drop(result.at, f"the call {result.call_id!r} has its result already")
            return []
        self._losses.coerce(result.at, f"no call has the id {result.call_id!r}: carried as text")
        return [Text(_ORPHAN.format(id=result.call_id or "no id"), at=result.at), *result.parts]

    def _find(self, call_id: str) -> _Slot | None:
        first = self._by_id.get(call_id)
        if first is not None and first.result is None:
            return first
        if first is not None and (slot := _unanswered(first.namesakes)) is not None:
            return slot
        if not call_id:
            return self._next_of_last_run()
        if first is None and (nameless := self._by_id.get("")) is not None:
            # the client made up an id for a call that came without one
            return nameless if nameless.result is None else _unanswered(nameless.namesakes)
        return None

    def _next_of_last_run(self) -> _Slot | None:
        """The first call without a result in the last run that has calls."""
        slots = self.slots
        while self._next < len(slots):
            slot = slots[self._next]
            self._next += 1
            if slot.run == slots[-1].run and slot.result is None:
                return slot
        return None


def _unanswered(slots: deque[_Slot] | None) -> _Slot | None:
    """Takes the first slot without a result, and all before it, out of ``slots``."""
    while slots:
        slot = slots.popleft()
        if slot.result is None:
            return slot
    return None
