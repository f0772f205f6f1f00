"""What is given up where an upstream does not take it."""

from __future__ import annotations

from typing import Any

from toolwire.config.profile import Profile
from toolwire.proxy.protocols.fit import fit_request
from toolwire.proxy.protocols.neutral import CustomTool, FunctionTool, Losses, Request, Tool

UNION: dict[str, Any] = {"anyOf": [{"properties": {"a": {}}}, {"properties": {"b": {}}}]}


def fitted(*tools: Tool, **profile: Any) -> tuple[list[Tool], list[tuple[str, str]]]:
    """The tools, and (path, kind) of each loss."""
    losses = Losses()
    request = Request("m", [], "chat", tools=list(tools))
    fit_request(request, Profile(**profile), losses)
    return request.tools, [(loss.path, loss.kind) for loss in losses.entries]


def test_unions_at_the_root_of_a_schema() -> None:
    plain, custom = FunctionTool("g", schema={"properties": {"a": UNION}}), CustomTool("c")
    union = FunctionTool("f", schema=UNION, at="tools[0]")
    assert fitted(union, plain, custom) == ([union, plain, custom], [])
    tools, losses = fitted(union, plain, custom, FunctionTool("n"), schema_unions=False)
    merged = {"type": "object", "properties": {"a": {}, "b": {}}}
    assert tools == [
        FunctionTool("f", schema=merged, at="tools[0]"),
        plain,
        custom,
        FunctionTool("n"),
    ]
    assert losses == [("tools[0]", "coerced")]
