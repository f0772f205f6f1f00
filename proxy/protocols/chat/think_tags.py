"""``<think>…</think>`` at the beginning of visible text, taken out of it piece by piece.

Servers without a reasoning parser send the tags of the model's chat template (DeepSeek R1, Qwen 3):
https://docs.vllm.ai/en/latest/features/reasoning_outputs.html.
"""

from __future__ import annotations

from enum import Enum

_OPEN = "<think>"
_CLOSE = "</think>"


class _State(Enum):
    BEFORE = "before"
    """Nothing but white space came so far, and perhaps a part of the opening tag."""
    INSIDE = "inside"
    BEHIND = "behind"
    """The closing tag came; the white space that follows it belongs to it."""
    VISIBLE = "visible"


class ThinkTags:
    """Feeds on text as it comes; what might still become a tag is held back."""

    def __init__(self) -> None:
        self._state = _State.BEFORE
        self._held = ""

    @property
    def passed(self) -> bool:
        """Whether all further text is visible as it is."""
        return self._state is _State.VISIBLE

    def feed(self, text: str) -> tuple[str, str]:
        """What of the text so far is certain now: (thinking, visible text)."""
        if self._state is _State.VISIBLE:
            return "", text
        self._held += text
        thinking = ""
        if self._state is _State.BEFORE:
            self._before()
        if self._state is _State.INSIDE:
            thinking = self._inside()
        if self._state is _State.BEHIND:
            self._held = self._held.lstrip()
            if self._held:
                self._state = _State.VISIBLE
        if self._state is _State.VISIBLE:
            visible, self._held = self._held, ""
            return thinking, visible
        return thinking, ""

    def flush(self) -> tuple[str, str]:
        """What is still held back, now that no more text comes: (thinking, visible text)."""
        held, self._held = self._held, ""
        return (held, "") if self._state is _State.INSIDE else ("", held)

    def _before(self) -> None:
        start = self._held.lstrip()
        if start.startswith(_OPEN):
            self._held = start[len(_OPEN) :]
            self._state = _State.INSIDE
        elif not _OPEN.startswith(start):
            self._state = _State.VISIBLE

    def _inside(self) -> str:
        thinking, tag, rest = self._held.partition(_CLOSE)
        if tag:
            self._held, self._state = rest, _State.BEHIND
            return thinking
        keep = _overlap(self._held)
        self._held, thinking = self._held[len(self._held) - keep :], self._held
        return thinking[: len(thinking) - keep]


def _overlap(text: str) -> int:
    """How many characters at the end of ``text`` may be the beginning of the closing tag."""
    for length in range(min(len(text), len(_CLOSE) - 1), 0, -1):
        if text.endswith(_CLOSE[:length]):
            return length
    return 0


def split(text: str) -> tuple[str, str]:
    """(thinking, visible text) of a whole answer."""
    tags = ThinkTags()
    thinking, visible = tags.feed(text)
    held_thinking, held_visible = tags.flush()
    return thinking + held_thinking, visible + held_visible
