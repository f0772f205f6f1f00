"""One choice of a stream, repaired chunk by chunk: role, content, calls and finish reason.

Works on the documents themselves, so that fields which nobody here knows stay where they are.
"""

from __future__ import annotations

from typing import Any

from toolwire.proxy.protocols.chat import finish, oddities
from toolwire.proxy.protocols.chat.calls import Calls, Count
from toolwire.proxy.protocols.chat.think_tags import ThinkTags
from toolwire.proxy.protocols.chat.wire import ChunkChoice


class ChoiceRepair:
    """What has been seen of one choice.

    ``started``: its role went out.  ``finished``: its finish reason did.  ``resumed``: more was
    said after that.
    """

    def __init__(self, think_tags: bool, request: dict[str, Any] | None = None) -> None:
        self.started = False
        self.finished = False
        self.resumed = False
        self._reason = ""
        self.calls = Calls(request)
        self._legacy_call = False
        self._tags = ThinkTags() if think_tags else None

    def says_role_again(self, choice: ChunkChoice) -> bool:
        """Whether a chunk's choice has a role though the first had one."""
        return self.started and choice.delta is not None and choice.delta.role is not None

    def is_plain(self, choice: ChunkChoice) -> bool:
        """Whether a chunk's choice is faultless and no more than a further piece of text, thinking
        or arguments."""
        delta = choice.delta
        if (
            delta is None
            or choice.finish_reason is not None
            or delta.role is not None
            or delta.function_call is not None
            or not self.started
            or self.finished
        ):
            return False
        if delta.tool_calls:
            # the last: it notes the arguments
            return len(delta.tool_calls) == 1 and self.calls.continues(delta.tool_calls[0])
        return self._tags is None or self._tags.passed or not delta.content

    def repair(self, choice: dict[str, Any], count: Count) -> None:
        """Repairs a choice in place; ``count`` is called for each thing that was changed.  Raises
        ``BadUpstreamAnswer`` for what cannot be put right."""
        delta = choice.get("delta")
        if not isinstance(delta, dict):
            count("delta_missing")
            # some servers send the one chunk of a short answer as if it were no stream
            message = choice.pop("message", None)
            # and one says all of it again at the end
            delta = message if isinstance(message, dict) and not self.started else {}
        choice["delta"] = delta = dict(delta)
        self._role(delta, count)
        self._content(delta, count)
        self._calls(delta, count)
        if self.finished and any(delta.values()):
            self.resumed = True
        self._finish(choice, delta, count)

    def _role(self, delta: dict[str, Any], count: Count) -> None:
        role = delta.get("role")
        if self.started:
            if role is not None:
                count("role_repeated")
                del delta["role"]
        elif not role or not isinstance(role, str):
            count("role_added")
            delta["role"] = "assistant"
        self.started = True

    def _content(self, delta: dict[str, Any], count: Count) -> None:
        value = delta.get("content")
        if value is not None and not isinstance(value, str):
            found = oddities.content(value)
            count("content_not_text")
            for _ in range(found.left_out):
                count("content_part_dropped")
            delta["content"] = found.text
            _add_thinking(delta, found.thinking)
        if self._tags is not None and delta.get("content"):
            thinking, visible = self._tags.feed(delta["content"])
            if thinking or visible != delta["content"]:
                count("think_tag")
                delta["content"] = visible
                _add_thinking(delta, thinking)

    def _calls(self, delta: dict[str, Any], count: Count) -> None:
        pieces = delta.get("tool_calls")
        if isinstance(pieces, dict):
            count("tool_calls_not_a_list")
            pieces = [pieces]
        if isinstance(pieces, list) and pieces:
            delta["tool_calls"] = self.calls.repair(pieces, count)
            if not delta["tool_calls"]:
                del delta["tool_calls"]
        legacy = delta.get("function_call")
        if isinstance(legacy, dict) and (legacy.get("name") or legacy.get("arguments")):
            self._legacy_call = True
            if not isinstance(legacy.get("arguments", ""), str):
                count("arguments_not_text")
                arguments = oddities.arguments(legacy["arguments"])
                delta["function_call"] = {**legacy, "arguments": arguments}

    def _finish(self, choice: dict[str, Any], delta: dict[str, Any], count: Count) -> None:
        word = choice.get("finish_reason")
        if word is None:
            return
        if not isinstance(word, str) or not word:
            count("finish_reason_empty")
            choice["finish_reason"] = None
            return
        right = self._corrected(finish.of_two(self._reason, word) if self.finished else word)
        if self.finished and right == self._reason:
            count("finish_reason_repeated")
            choice["finish_reason"] = None
        elif right != word:
            count("finish_reason_corrected")
            choice["finish_reason"] = right
        # a stop beside a call may be one of an upstream that says so in every chunk
        more = word == "stop" and bool(delta.get("tool_calls"))
        self._close(right, delta, count, more=more)

    def end(self, count: Count) -> dict[str, Any] | None:
        """The choice of the chunk that is owed at the end: of a stream that was declared over
        without a reason, or went on after it.  None where nothing is."""
        if self.finished and not self.resumed:
            return None
        word, said = self._corrected(self._reason), self._reason
        delta: dict[str, Any] = {}
        self._close(word, delta, count)
        if word != said:
            count("finish_reason_corrected" if said else "finish_reason_added")
            return {"delta": delta, "finish_reason": word}
        return {"delta": delta, "finish_reason": None} if delta else None

    def _corrected(self, word: str) -> str:
        return finish.corrected(word, calls=bool(self.calls), legacy_call=self._legacy_call)

    def _close(self, word: str, delta: dict[str, Any], count: Count, *, more: bool = False) -> None:
        """Adds to the last delta what is still owed; where ``more`` may come it stays so."""
        self.finished, self.resumed, self._reason = True, more, word
        if self._tags is not None:
            thinking, visible = self._tags.flush()
            if thinking or visible:
                count("think_tag")
                delta["content"] = (delta.get("content") or "") + visible
                _add_thinking(delta, thinking)
        # a call that the limit cut off must not look whole
        if word != "length" and not more and (owed := self.calls.missing(count)):
            delta["tool_calls"] = [*(delta.get("tool_calls") or []), *owed]


def _add_thinking(delta: dict[str, Any], thinking: str) -> None:
    if thinking:
        present = delta.get("reasoning_content")
        delta["reasoning_content"] = (present if isinstance(present, str) else "") + thinking
