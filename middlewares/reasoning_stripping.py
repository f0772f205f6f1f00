"""Removes the reasoning of earlier turns from what goes to a chat upstream.

Most servers ignore or refuse ``reasoning_content`` (and ``reasoning``, ``reasoning_blocks``) on the
assistant messages of the history; some want it back.  The policy is the provider profile's, or the
option's:

- ``strip``: none goes up;
- ``keep``: all of it;
- ``current_turn``: that of assistant messages after the last user message (DeepSeek,
  https://api-docs.deepseek.com/guides/thinking_mode);
- ``tool_turns``: that of every assistant message that called tools.

Where such an upstream still answers 400 because reasoning is missing (the profile knows its words),
the empty value is put on the assistant messages that have none, if there are any, and it is asked
once more, once.

Towards the other protocols only what no vendor can have signed is removed: thinking blocks without
a signature from messages requests, where the upstream signs its own, and reasoning items with an
envelope of this gateway from responses requests.  Clients bring both along when a conversation
moves from a converted upstream to a native one.

Stands inside of the conversion: what it makes of another protocol's thinking is judged here too.

    [middlewares.reasoning_stripping]
    enabled = true
    policy = "current_turn"   # instead of the profile's
"""

from __future__ import annotations

import re
from typing import Any, Literal

from toolwire import config
from toolwire.config.profile import Profile
from toolwire.proxy.answer import AnswerSend
from toolwire.proxy.asgi import ASGIApp, Headers, Receive, Scope, Send
from toolwire.proxy.exchange import Body, Exchange, endpoint, open_body
from toolwire.proxy.protocols.chat.history_write import carries_results
from toolwire.proxy.protocols.failure import read_body
from toolwire.proxy.protocols.responses.reasoning import ENVELOPE

Policy = Literal["keep", "strip", "current_turn", "tool_turns"]

EXTENSIONS = ("reasoning_blocks", "reasoning_vendor")
"""This gateway's own: signed blocks for chat clients, and whose they are."""

FIELDS = ("reasoning_content", "reasoning", *EXTENSIONS)
_FIELD_NAMES = frozenset(FIELDS)


class Options(config.Options, frozen=True, kw_only=True, forbid_unknown_fields=True):
    policy: Policy | None = None
    """None: what the provider profile says (``reasoning_history``)."""


class ReasoningStripping:
    """See the module."""

    def __init__(self, app: ASGIApp, options: Options | None = None) -> None:
        self.app = app
        self.options = options or Options()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        codec = endpoint(scope)
        if codec is None:
            await self.app(scope, receive, send)
            return
        scope, body = open_body(scope, receive)
        document = await body.document()
        exchange = Exchange.of(scope)
        profile = exchange.profile(document)
        if stripped := self._strip(codec.name, document, profile):
            exchange.changes["reasoning_stripped"] += stripped
            if codec.name == "chat" and exchange.client is not codec:
                drop_emptied(document)
            body.touch()
        if (
            codec.name == "chat"
            and profile.reasoning_missing_error
            and without_reasoning(document, profile.reasoning_field)
        ):
            await self._ask_twice(scope, body, send, profile)
        else:
            await self.app(scope, body, send)

    def _strip(self, protocol: str, document: dict[str, Any], profile: Profile) -> int:
        if protocol == "chat":
            policy = self.options.policy or profile.reasoning_history
            return strip(document, policy, profile.reasoning_field)
        if self.options.policy == "keep":
            return 0
        if protocol == "messages":
            return drop_unsigned(document) if profile.signed_thinking else 0
        return drop_envelopes(document)

    async def _ask_twice(self, scope: Scope, body: Body, send: Send, profile: Profile) -> None:
        first = _FirstAnswer(scope, send, profile.reasoning_missing_error)
        await first.run(self.app, scope, body)
        if first.reasoning_missing:
            exchange = Exchange.of(scope)
            missing = without_reasoning(await body.document(), profile.reasoning_field)
            for message in missing:
                message[profile.reasoning_field] = ""
            exchange.changes["reasoning_added"] += len(missing)
            exchange.retries += 1
            body.touch()
            body.rewind()
            await self.app(scope, body, send)


class _FirstAnswer(AnswerSend):
    """Keeps the one 400 to itself that another try can cure."""

    reads_events = False

    def __init__(self, scope: Scope, send: Send, pattern: str) -> None:
        super().__init__(scope, send)
        self._pattern = re.compile(pattern)
        self.reasoning_missing = False

    def wants_body(self, status: int, headers: Headers) -> bool:
        return status == 400

    async def finish_body(self) -> None:
        message = read_body(400, self.held).message
        self.reasoning_missing = self._pattern.search(message) is not None
        if not self.reasoning_missing:
            await super().finish_body()


def strip(document: dict[str, Any], policy: Policy, field: str) -> int:
    """Removes the reasoning that ``policy`` does not keep, in place; how many messages changed.

    What is kept stands under ``field``, the upstream's name for it.  Empty reasoning says nothing
    and is removed, too.  With ``keep`` only the gateway's own extensions go.
    """
    messages = document.get("messages")
    if not isinstance(messages, list):
        return 0
    last_user = _last_user(messages) if policy == "current_turn" else -1
    changed = 0
    for place, message in enumerate(messages):
        if not isinstance(message, dict) or message.get("role") != "assistant":
            continue
        if _FIELD_NAMES.isdisjoint(message):
            continue
        if policy == "keep":
            own = [message.pop(name) for name in EXTENSIONS if name in message]
            changed += bool(own)
            continue
        kept = policy == "current_turn" and place > last_user
        kept = kept or (policy == "tool_turns" and bool(message.get("tool_calls")))
        changed += _strip_message(message, field if kept else None)
    return changed


def _strip_message(message: dict[str, Any], kept_as: str | None) -> bool:
    value = message.get("reasoning_content") or message.get("reasoning")
    before = {name: message.pop(name) for name in FIELDS if name in message}
    if kept_as is not None and value:
        message[kept_as] = value
    return before != {name: message[name] for name in FIELDS if name in message}


def drop_emptied(document: dict[str, Any]) -> None:
    """Removes the assistant messages that say nothing: turns that were nothing but reasoning."""
    messages = document["messages"]
    document["messages"] = [message for message in messages if message != _EMPTIED] or messages


_EMPTIED = {"role": "assistant", "content": ""}


def _last_user(messages: list[Any]) -> int:
    for place in range(len(messages) - 1, -1, -1):
        message = messages[place]
        if isinstance(message, dict) and message.get("role") == "user":
            if not carries_results(message):
                return place
    return -1


def without_reasoning(document: dict[str, Any], field: str) -> list[dict[str, Any]]:
    """The assistant messages that have no ``field``."""
    messages = document.get("messages")
    return [
        message
        for message in (messages if isinstance(messages, list) else ())
        if isinstance(message, dict) and message.get("role") == "assistant" and field not in message
    ]


def drop_unsigned(document: dict[str, Any]) -> int:
    """Removes thinking blocks without a signature from a Messages history, in place; how many."""
    dropped = 0
    messages = document.get("messages")
    for message in messages if isinstance(messages, list) else ():
        if not isinstance(message, dict) or message.get("role") != "assistant":
            continue
        content = message.get("content")
        if isinstance(content, list) and any(map(_is_unsigned, content)):
            signed = [block for block in content if not _is_unsigned(block)]
            dropped += len(content) - len(signed)
            message["content"] = signed or [_NO_TEXT]
    return dropped


_NO_TEXT = {"type": "text", "text": "(no text)"}
"""A turn that was nothing but thinking: Messages takes no empty one."""


def _is_unsigned(block: Any) -> bool:
    return (
        isinstance(block, dict) and block.get("type") == "thinking" and not block.get("signature")
    )


def drop_envelopes(document: dict[str, Any]) -> int:
    """Removes reasoning items that hold what this gateway packed, in place; how many."""
    items = document.get("input")
    if not isinstance(items, list):
        return 0
    kept = [item for item in items if not _is_envelope(item)]
    if len(kept) < len(items):
        document["input"] = kept
    return len(items) - len(kept)


def _is_envelope(item: Any) -> bool:
    sealed = item.get("encrypted_content") if isinstance(item, dict) else None
    return isinstance(sealed, str) and sealed.startswith(ENVELOPE)
