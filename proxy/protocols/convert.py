"""From one protocol to another, in the neutral form; without I/O.

``convert_request`` reads with the client's codec and writes with the upstream's; between the two
stands what does not depend on either wire: layout, ids and names that the target allows, free-form
tools, and the thinking that the client gave back or dropped.  ``Renaming`` is what an answer needs
to undo it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Protocol, TypeGuard

from msgspec import Struct, field
from msgspec.structs import replace

from toolwire.proxy.protocols import freeform
from toolwire.proxy.protocols.codec import Codec, Quirks
from toolwire.proxy.protocols.fields import invalid
from toolwire.proxy.protocols.fit import Abilities, fit_document, fit_request
from toolwire.proxy.protocols.identifiers import legal_id, legal_names
from toolwire.proxy.protocols.known_tools import KNOWN_TOOLS
from toolwire.proxy.protocols.layout import arrange
from toolwire.proxy.protocols.neutral import (
    Call,
    CustomTool,
    FunctionTool,
    HostedTool,
    Loss,
    Losses,
    Request,
    Result,
    Thinking,
    Tool,
    Turn,
)


class Limits(Quirks, Abilities, Protocol):
    """What a target allows in names, beside what its writer has to know."""

    @property
    def tool_name_max(self) -> int: ...
    @property
    def tool_name_pattern(self) -> str: ...
    @property
    def tool_id_pattern(self) -> str: ...


class Renaming(Struct):
    """How an answer's calls get the client's own names and forms back."""

    names: dict[str, str] = field(default_factory=dict)
    """From the name that went up to the client's."""

    freeform: set[str] = field(default_factory=set)
    """The client's names of free-form tools that went up as functions."""

    def call(self, call: Call) -> Call:
        """A whole call, as the client knows it."""
        if name := self.names.get(call.name):
            call = replace(call, name=name)
        return freeform.unwrap_call(call) if call.name in self.freeform else call


class Converted(Struct):
    """A request in the upstream's protocol, and what its answer needs."""

    document: dict[str, Any]
    request: Request
    """The client's, as it was read; an answer echoes it."""

    renaming: Renaming
    losses: Losses


def convert_request(
    client: Codec,
    upstream: Codec,
    document: dict[str, Any],
    quirks: Limits,
    vendor: str,
    restore: Callable[[list[Turn]], object] | None = None,
) -> Converted:
    """``document`` of the client's protocol in the upstream's.

    ``restore`` puts thinking back that the client dropped (see ``thinking_store``).  Raises
    ``InvalidRequest`` with the path of a field of a wrong type, and where nobody says anything.
    """
    losses = Losses()
    request = client.read_request(document)
    if not request.turns and request.previous_response_id is None:
        at = "input" if client.name == "responses" else "messages"
        raise invalid(at, "must hold at least one message")
    turns = arrange(request.turns, losses)
    if restore is not None:
        restore(turns)
    target = replace(request, turns=turns)
    renaming = Renaming()
    calls: list[Call] = []
    results: list[Result] = []
    for turn in turns:
        for part in turn.parts:
            if type(part) is Call:
                calls.append(part)
            elif type(part) is Result:
                results.append(part)
            elif type(part) is Thinking:
                _keep_from_others(part, vendor, losses)
    if not quirks.custom_tools:
        _wrap_freeform(target, calls, results, renaming)
    _rename(target, calls, quirks, renaming)
    if quirks.tool_id_pattern:
        _legalize_ids(calls, results, re.compile(quirks.tool_id_pattern))
    fit_request(target, quirks, losses)
    written = upstream.write_request(target, quirks, losses)
    fit_document(written, quirks, losses)
    return Converted(written, request, renaming, losses)


def _keep_from_others(thought: Thinking, vendor: str, losses: Losses) -> None:
    """Takes signatures and ciphertext of another vendor off: they mean nothing here."""
    if thought.vendor not in (None, vendor):
        if thought.at:
            losses.drop(thought.at, f"it was signed by {thought.vendor}, not by {vendor}")
        thought.signature = thought.redacted = thought.encrypted = None
        thought.origin = thought.vendor = thought.id = None


def _wrap_freeform(
    request: Request, calls: list[Call], results: list[Result], renaming: Renaming
) -> None:
    """Free-form tools become functions with one string, and so do their calls in the history."""
    renaming.freeform = {tool.name for tool in request.tools if type(tool) is CustomTool}
    if renaming.freeform:
        request.tools, _ = KNOWN_TOOLS.derived(request.tools, _wrapped)
    for call in calls:
        if call.custom:
            call.arguments, call.custom = freeform.wrap_text(call.arguments), False
    for result in results:
        result.custom = False
    if request.choice is not None and request.choice.custom:
        request.choice = replace(request.choice, custom=False)


def _wrapped(tools: list[Tool]) -> tuple[list[Tool], list[Loss]]:
    return [freeform.wrap(tool) if type(tool) is CustomTool else tool for tool in tools], []


def _rename(request: Request, calls: list[Call], quirks: Limits, renaming: Renaming) -> None:
    """Gives tools, calls and the choice names that the target allows."""
    rule = quirks.tool_name_pattern, quirks.tool_name_max
    offered, _ = KNOWN_TOOLS.derived(request.tools, _refused, *rule)
    legal = dict(offered) | _legal({call.name for call in calls}, *rule)
    if not legal:
        return
    renaming.names = {made: name for name, made in legal.items()}
    for call in calls:
        call.name = legal.get(call.name, call.name)
    if offered:
        request.tools, _ = KNOWN_TOOLS.derived(request.tools, _renamed, *rule)
    if (choice := request.choice) is not None:
        allowed = choice.allowed and [legal.get(name, name) for name in choice.allowed]
        name = choice.name and legal.get(choice.name, choice.name)
        request.choice = replace(choice, name=name, allowed=allowed)


def _refused(
    tools: list[Tool], pattern: str, longest: int
) -> tuple[list[tuple[str, str]], list[Loss]]:
    """The names of tools that the target refuses, each with a legal one."""
    return list(_legal({t.name for t in tools if _is_named(t)}, pattern, longest).items()), []


def _renamed(tools: list[Tool], pattern: str, longest: int) -> tuple[list[Tool], list[Loss]]:
    legal = dict(_refused(tools, pattern, longest)[0])
    return [
        replace(tool, name=legal[tool.name]) if _is_named(tool) and tool.name in legal else tool
        for tool in tools
    ], []


def _legal(names: set[str], pattern: str, longest: int) -> dict[str, str]:
    return legal_names(names, longest=longest, pattern=re.compile(pattern))


def _is_named(tool: Tool) -> TypeGuard[FunctionTool | CustomTool]:
    return type(tool) is not HostedTool


def _legalize_ids(calls: list[Call], results: list[Result], legal: re.Pattern[str]) -> None:
    """Each result bears the id of its call: see ``layout``."""
    made = {call.id: legal_id(call.id, legal) for call in calls if not legal.fullmatch(call.id)}
    if not made:
        return
    for call in calls:
        call.id = made.get(call.id, call.id)
    for result in results:
        result.call_id = made.get(result.call_id, result.call_id)
