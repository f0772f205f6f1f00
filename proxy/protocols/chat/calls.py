"""The tool calls of one choice of a stream: which call a piece belongs to, and what is said once.

A call is known by its place in the message, counted from 0 without gaps; its id, type and name
come with its first piece, and only there.  What upstreams make of that: no index, -1, gaps, one
index for all calls, the id in every piece or in none, names repeated or late, arguments as an
object or null, from their beginning in each piece, or after a ``{}`` that only holds their place.

https://platform.openai.com/docs/api-reference/chat-streaming/streaming (delta.tool_calls)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from toolwire.proxy.protocols.chat import oddities
from toolwire.proxy.protocols.chat.call_arguments import PLACEHOLDERS, StreamedCall
from toolwire.proxy.protocols.chat.joined_calls import is_whole_name, split_objects
from toolwire.proxy.protocols.chat.wire import CallDelta, CustomDelta
from toolwire.proxy.protocols.identifiers import random_id

Count = Callable[[str], None]
"""Called with the name of each kind of repair as it is made."""


class Calls:
    """All calls of one choice.  ``request`` is what the answer belongs to, where it is known."""

    def __init__(self, request: dict[str, Any] | None = None) -> None:
        self._request = request
        self._ids: set[str] = set()
        self._by_index: dict[int, StreamedCall] = {}
        self._by_id: dict[str, StreamedCall] = {}
        self._calls: list[StreamedCall] = []
        self._last: StreamedCall | None = None
        self._announced = 0

    def __bool__(self) -> bool:
        return any(call.name for call in self._calls)

    def continues(self, piece: CallDelta) -> bool:
        """Whether ``piece`` is a faultless later piece of a call; its arguments are then noted."""
        if piece.id is not None or piece.type is not None or piece.index is None:
            return False
        call = self._by_index.get(piece.index)
        if call is None or call.index != piece.index or call.quoted:
            return False
        body = piece.custom if call.custom else piece.function
        if body is None or body.name is not None:
            return False
        text = body.input if isinstance(body, CustomDelta) else body.arguments
        if text is None or text[:1] == "{":  # an object inside of the arguments, or all over again
            return False
        if text in PLACEHOLDERS or (text[:1] == '"' and not any(call.pieces)):
            return False
        call.pieces.append(text)
        return True

    @property
    def unsaid(self) -> bool:
        """Whether some call has no arguments yet."""
        return any(not call.arguments() for call in self._calls)

    @property
    def doubtful(self) -> StreamedCall | None:
        """The call whose arguments, as far as they came, may only hold the place of the true ones;
        they should wait for the next event."""
        last = self._last
        return last if last is not None and last.doubtful else None

    def repair(self, pieces: list[Any], count: Count) -> list[dict[str, Any]]:
        """The pieces as they should have come; those of a call without a name yet are held back.

        Raises ``BadUpstreamAnswer`` for arguments that cannot be put right.
        """
        repaired = (
            self._repair(one, count)
            for piece in pieces
            if isinstance(piece, dict)
            for one in split_objects(piece)
        )
        return [piece for piece in repaired if piece is not None]

    def missing(self, count: Count) -> list[dict[str, Any]]:
        """The pieces owed at the end: ``{}`` for each call that got no arguments at all, and those
        that waited for it.

        A call that never got a name cannot be made and is only counted.
        """
        owed: list[dict[str, Any]] = []
        for call in self._calls:
            if call.index is None and not call.name:
                count("nameless_call_dropped")
            elif text := call.owed():
                count("arguments_added")
                piece: dict[str, Any] = {"function": {"arguments": text}}
                if call.index is None:
                    piece = self._headed(call, piece, "function", piece["function"], count)
                owed.append({"index": call.index, **piece})
        return owed

    def _repair(self, piece: dict[str, Any], count: Count) -> dict[str, Any] | None:
        custom = piece.get("type") == "custom" or ("custom" in piece and "function" not in piece)
        field, text_field = ("custom", "input") if custom else ("function", "arguments")
        body = piece.get(field)
        body = dict(body) if isinstance(body, dict) else {}
        given = body.get(text_field)
        text = oddities.arguments(given)
        index = piece.get("index")
        call = self._find(
            index if type(index) is int and index >= 0 else None,
            _text(piece.get("id")),
            _text(body.get("name")),
            text,
            custom,
        )
        if given is not None and not isinstance(given, str):
            count("arguments_not_text")
        elif given is None:
            count("arguments_null")
        self._last = call
        body[text_field] = call.add(text)
        if body[text_field] != text:
            count("arguments_encoded_twice" if call.quoted else "arguments_repeated")
        if call.index is None:
            return self._announce(call, piece, field, text_field, body, count)
        if body.get("name") is not None:
            count("call_name_repeated")
            del body["name"]
        return self._placed(call, _without_head(piece, count), field, body, count)

    def _announce(
        self,
        call: StreamedCall,
        piece: dict[str, Any],
        field: str,
        text_field: str,
        body: dict[str, Any],
        count: Count,
    ) -> dict[str, Any] | None:
        """The first piece, with id, type and name; None while there is no name, or no more than
        the beginning of one."""
        call.name += _text(body.get("name"))
        if not call.name or not (any(call.pieces) or is_whole_name(call.name, self._request)):
            count("call_name_late")
            return None
        body[text_field] = "" if call.quoted else call.arguments()
        piece = self._headed(call, piece, field, body, count)
        return self._placed(call, piece, field, body, count)

    def _headed(
        self,
        call: StreamedCall,
        piece: dict[str, Any],
        field: str,
        body: dict[str, Any],
        count: Count,
    ) -> dict[str, Any]:
        """A piece with all that is said of the call once."""
        call.index = self._announced
        self._announced += 1
        body["name"] = call.name
        # an id may have come in an earlier piece, without the name
        call_id = _text(piece.get("id")) or call.given_id
        if call_id in self._ids:
            count("call_id_doubled")
            call_id = ""
        call_id = call_id or random_id("call_")
        self._ids.add(call_id)
        if piece.get("id") != call_id:
            count("call_id_added")
        if piece.get("type") != field:
            count("call_type_added")
        return {**piece, "id": call_id, "type": field}

    def _placed(
        self,
        call: StreamedCall,
        piece: dict[str, Any],
        field: str,
        body: dict[str, Any],
        count: Count,
    ) -> dict[str, Any]:
        if piece.get("index") != call.index or type(piece.get("index")) is not int:
            count("call_index")
        rest = {name: value for name, value in piece.items() if name not in ("index", field)}
        return {"index": call.index, **rest, field: body}

    def _find(self, index: int | None, id: str, name: str, text: str, custom: bool) -> StreamedCall:
        known = call = self._known(index, id, name, text)
        if call is None or call.is_followed_by(text):
            call = StreamedCall(id, custom)
            call.name = known.name if known is not None and not name else ""
            self._calls.append(call)
        if index is not None:
            self._by_index[index] = call
        if id:
            call.given_id = call.given_id or id
            self._by_id.setdefault(id, call)
        return call

    def _known(self, index: int | None, id: str, name: str, text: str) -> StreamedCall | None:
        """The call that a piece continues; None where it begins one."""
        same_id = self._by_id.get(id) if id else None
        if index is not None:
            call = self._by_index.get(index)
            if call is None:
                # some count the pieces, not the calls, some tell a call under several
                same = same_id is not None and (not name or same_id.is_told_again(name, text))
                return same_id if same else None
            return None if _begins_anew(call, id, name, text) else call
        if same_id is not None:
            return same_id
        last = self._calls[-1] if self._calls else None
        if last is None or (id and (name or not last.name or last.is_whole())):
            return None
        if id or not name:  # some give each piece an id of its own
            return last
        return last if not last.name or (last.name == name and last.is_cut()) else None


def _begins_anew(call: StreamedCall, id: str, name: str, text: str) -> bool:
    """Whether a piece under the index of ``call`` is the next call: some upstreams give every
    call the index 0, others repeat the name, or send another id, in each piece."""
    if not name or not call.name or (id and id == call.given_id):
        return False
    beginning = text.lstrip()[:1]
    if beginning not in ("", "{") or not (id or beginning):
        return False  # further arguments, or the name alone once more
    # looked at last, for it takes time: whether the call is whole
    return not call.is_cut() if call.arguments().strip() else bool(id)


def _without_head(piece: dict[str, Any], count: Count) -> dict[str, Any]:
    """A later piece without id and type; null says nothing new and may stay."""
    head = [name for name in ("id", "type") if piece.get(name) is not None]
    for name in head:
        count(f"call_{name}_repeated")
    return {name: value for name, value in piece.items() if name not in head}


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
