"""Fits a request to what one upstream takes, in the neutral form: content, choices, fields.

What has to be given up is replaced by the nearest thing that the upstream obeys, and recorded.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from msgspec.structs import replace

from toolwire.proxy.protocols.known_tools import KNOWN_TOOLS
from toolwire.proxy.protocols.neutral import (
    Choice,
    DocumentPart,
    FunctionTool,
    Image,
    Loss,
    Losses,
    Part,
    Request,
    Result,
    Text,
    Tool,
    Turn,
)
from toolwire.proxy.protocols.schema import without_unions


class Abilities(Protocol):
    """What an upstream takes; fields of the provider profile."""

    @property
    def images(self) -> bool: ...
    @property
    def documents(self) -> bool: ...
    @property
    def schema_unions(self) -> bool: ...
    @property
    def tool_choices(self) -> Sequence[str]: ...
    @property
    def refused_fields(self) -> Sequence[str]: ...


def fit_request(request: Request, abilities: Abilities, losses: Losses) -> None:
    """Changes ``request`` in place, before it is written."""
    if not (abilities.images and abilities.documents):
        for turn in request.turns:
            _fit_content(turn, abilities, losses)
    if not abilities.schema_unions:
        request.tools, lost = KNOWN_TOOLS.derived(request.tools, _without_unions)
        losses.entries += lost
    if request.choice is not None:
        _fit_choice(request, request.choice, abilities.tool_choices, losses)


def fit_document(document: dict[str, Any], abilities: Abilities, losses: Losses) -> None:
    """Takes the top-level fields that the upstream refuses off what was written, in place."""
    for name in abilities.refused_fields:
        if document.pop(name, None) is not None:
            losses.drop(name, "this model refuses it")


def _fit_content(turn: Turn, abilities: Abilities, losses: Losses) -> None:
    for place, part in enumerate(turn.parts):
        if isinstance(part, Result):
            parts = [_fitted(inner, abilities, losses) for inner in part.parts]
            turn.parts[place] = replace(part, parts=parts)
        else:
            turn.parts[place] = _fitted(part, abilities, losses)


def _fitted(part: Part, abilities: Abilities, losses: Losses) -> Part:
    """``part``, or the line of text that stands in its place."""
    if isinstance(part, Image) and not abilities.images:
        losses.coerce(part.at, "this model takes no images")
        return Text("[An image that this model cannot see.]", at=part.at)
    if isinstance(part, DocumentPart) and not abilities.documents and part.source.text is None:
        losses.coerce(part.at, "this model takes no documents")
        return Text(f"[A document that this model cannot read: {part.name or 'no name'}]")
    return part


def _without_unions(tools: list[Tool]) -> tuple[list[Tool], list[Loss]]:
    losses = Losses()
    return [_without_union(tool, losses) for tool in tools], losses.entries


def _without_union(tool: Tool, losses: Losses) -> Tool:
    if not isinstance(tool, FunctionTool) or tool.schema is None:
        return tool
    schema = without_unions(tool.schema, tool.at, losses)
    return tool if schema is tool.schema else replace(tool, schema=schema)


def _fit_choice(request: Request, choice: Choice, obeyed: Sequence[str], losses: Losses) -> None:
    if choice.mode == "tool" and "named" not in obeyed:
        losses.coerce(choice.at, "this upstream takes no named tool: only that tool is offered")
        named = [tool for tool in request.tools if getattr(tool, "name", None) == choice.name]
        request.tools = named or request.tools
        request.choice = choice = replace(choice, mode="required", name=None)
    if choice.mode == "required" and "required" not in obeyed:
        losses.coerce(choice.at, "this upstream cannot be made to call a tool")
        request.choice = replace(choice, mode="auto")
    elif choice.mode == "none" and "none" not in obeyed:
        losses.coerce(choice.at, "this upstream does not know 'none': no tools are offered")
        request.tools, request.choice = [], None
