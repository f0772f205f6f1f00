"""Tools, and the choice among them, in the words of OpenAI Chat Completions."""

from __future__ import annotations

from typing import Any

from tests.fuzz.conversation import Json, Said, Tool


def write_tool(tool: Tool) -> Json:
    if tool.kind == "hosted":
        hosted: Json = tool.schema
        return hosted
    beside = {"own": "own", "cache": "cache_control"}
    more = {beside[name]: one.value for name, one in tool.beside.items() if name in beside}
    named: Json = {"name": tool.name}
    if tool.description is not None:
        named["description"] = tool.description
    if tool.kind == "freeform":
        if tool.schema is not None:
            flat = {name: value for name, value in tool.schema.items() if name != "type"}
            named["format"] = {"type": tool.schema["type"]} | ({"grammar": flat} if flat else {})
        return {"type": "custom", "custom": named, **more}
    if tool.schema is not None:
        named["parameters"] = tool.schema
    if "strict" in tool.beside:
        named["strict"] = tool.beside["strict"].value
    return {"type": "function", "function": named, **more}


def read_tool(tool: Json, at: str) -> Tool:
    named = tool.get(tool["type"])
    if not isinstance(named, dict):
        return Tool("hosted", schema=tool, at=at)
    read = Tool("function", named["name"], named.get("description"), named.get("parameters"), at=at)
    if tool["type"] == "custom":
        read.kind, form = "freeform", named.get("format")
        read.schema = form and {"type": form["type"], **form.get("grammar", {})}
    if "strict" in named:
        read.beside["strict"] = Said(named["strict"], f"{at}.strict")
    if "own" in tool:
        read.beside["own"] = Said(tool["own"], f"{at}.own")
    read.beside |= beside_of(tool, at)
    return read


def read_choice(choice: Any, facts: dict[str, Said]) -> None:
    if isinstance(choice, dict) and choice["type"] == "allowed_tools":
        subset = choice["allowed_tools"]
        facts["allowed"] = Said([tool[tool["type"]]["name"] for tool in subset["tools"]])
        choice = subset["mode"]
    word = choice if isinstance(choice, str) else ":" + choice[choice["type"]]["name"]
    facts["choice"] = Said(word, "tool_choice")


def beside_of(part: Json, at: str) -> dict[str, Said]:
    if "cache_control" not in part:
        return {}
    return {"cache": Said(part["cache_control"], f"{at}.cache_control")}
