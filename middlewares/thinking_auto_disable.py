"""Switches thinking off where the upstream refuses a forced tool choice while the model thinks.

Some models think unless told otherwise, and then answer 400 to ``tool_choice`` ``required`` or a
named function (Alibaba Bailian, DeepSeek: ``forced_choice_refused_while_thinking`` in the profile).
Towards a chat upstream the profile's switch is then set to off, where the client said nothing about
thinking itself; what the client wrote is never changed.  A model that cannot stop thinking
(``thinking_optional = false``) gets ``auto`` instead, and only the named tool.

Stands inside of the conversion: a forced choice of any client protocol has become chat's here.

    [middlewares.thinking_auto_disable]
    enabled = true
"""

from __future__ import annotations

from typing import Any

from toolwire import config
from toolwire.config.profile import Profile
from toolwire.proxy.asgi import ASGIApp, Receive, Scope, Send
from toolwire.proxy.exchange import Exchange, endpoint, open_body
from toolwire.proxy.protocols.neutral import Loss

_SAID: dict[str, tuple[str, ...]] = {
    "enable_thinking": ("enable_thinking", "thinking_budget"),
    "thinking_type": ("thinking",),
    "reasoning_effort": ("reasoning_effort",),
    "reasoning": ("reasoning", "reasoning_effort"),
}
"""The fields by which a client says itself whether the model shall think, for each switch.

An effort beside a switch of its own says how much, not whether:
https://api-docs.deepseek.com/guides/thinking_mode"""

_OFF: dict[str, dict[str, Any]] = {
    "enable_thinking": {"enable_thinking": False},
    "thinking_type": {"thinking": {"type": "disabled"}},
    "reasoning_effort": {"reasoning_effort": "none"},
    "reasoning": {"reasoning": {"enabled": False}},
}


class Options(config.Options, frozen=True, kw_only=True, forbid_unknown_fields=True):
    pass


class ThinkingAutoDisable:
    """See the module."""

    def __init__(self, app: ASGIApp, options: Options | None = None) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        codec = endpoint(scope)
        if codec is None or codec.name != "chat":
            await self.app(scope, receive, send)
            return
        scope, body = open_body(scope, receive)
        document = await body.document()
        if is_forced(document):
            exchange = Exchange.of(scope)
            profile = exchange.profile(document)
            if profile.forced_choice_refused_while_thinking:
                if not profile.thinking_optional:
                    exchange.losses.append(relax_choice(document))
                elif disable_thinking(document, profile):
                    exchange.changes["thinking_disabled"] += 1
                body.touch()
        await self.app(scope, body, send)


def is_forced(document: dict[str, Any]) -> bool:
    """Whether the model has to call a tool."""
    choice = document.get("tool_choice")
    if isinstance(choice, dict):
        allowed = choice.get("allowed_tools")
        if choice.get("type") == "allowed_tools" and isinstance(allowed, dict):
            return allowed.get("mode") == "required"
        return True
    return choice == "required"


def disable_thinking(document: dict[str, Any], profile: Profile) -> bool:
    """Sets the profile's switch to off, in place; False where the client set it itself."""
    template = document.get("chat_template_kwargs")
    said_there = isinstance(template, dict) and profile.thinking_key in template
    said = _SAID.get(profile.thinking_switch, ())
    if said_there or any(document.get(field) is not None for field in said):
        return False
    if profile.thinking_switch == "chat_template_kwargs":
        given = template if isinstance(template, dict) else {}
        document["chat_template_kwargs"] = {**given, profile.thinking_key: False}
        return True
    off = _OFF.get(profile.thinking_switch)
    document.update(off or {})
    return off is not None


def relax_choice(document: dict[str, Any]) -> Loss:
    """``auto`` with the tools narrowed to the named one, in place."""
    choice = document["tool_choice"]
    if isinstance(choice, dict) and isinstance(function := choice.get("function"), dict):
        tools = document.get("tools")
        if isinstance(tools, list):
            named = [tool for tool in tools if _name(tool) == function.get("name")]
            document["tools"] = named or tools
    document["tool_choice"] = "auto"
    return Loss(
        "tool_choice", "coerced", "this model always thinks, and then takes no forced choice"
    )


def _name(tool: Any) -> Any:
    function = tool.get("function") if isinstance(tool, dict) else None
    return function.get("name") if isinstance(function, dict) else None
