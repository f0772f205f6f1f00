"""A conversation in the words of Anthropic Messages."""

from __future__ import annotations

from tests.fuzz.conversation import (
    Call,
    Conversation,
    Json,
    Tool,
    blocks_of,
    marked_result,
    text_of,
    turn_of,
    without_none,
)


def write(said: Conversation) -> Json:
    messages = []
    for turn in said.turns:
        blocks: list[Json] = [
            {
                "type": "tool_result",
                "tool_use_id": result.call_id,
                "content": [{"type": "text", "text": result.text}] if result.text else [],
                **({"is_error": True} if result.failed else {}),
            }
            for result in turn.results
        ]
        blocks += [{"type": "text", "text": turn.text}] if turn.text else []
        blocks += [{"type": "image", "source": _source(url)} for url in turn.images]
        blocks += [
            {"type": "tool_use", "id": call.id, "name": call.name, "input": call.arguments}
            for call in turn.calls
        ]
        messages.append({"role": turn.speaker, "content": blocks})
    kinds = {"auto": "auto", "none": "none", "required": "any"}
    choice: Json = (
        {"type": "tool", "name": said.choice[1:]}
        if said.choice[0] == ":"
        else {"type": kinds[said.choice]}
    )
    if not said.parallel:
        choice["disable_parallel_tool_use"] = True
    return without_none(
        model="m",
        max_tokens=said.max_tokens,
        system=said.system or None,
        messages=messages,
        temperature=said.temperature,
        stop_sequences=said.stop or None,
        stream=said.stream or None,
        tools=[
            {"name": tool.name, "description": tool.description, "input_schema": tool.schema}
            for tool in said.tools
        ]
        or None,
        tool_choice=choice if said.tools else None,
        output_config=said.schema and {"format": {"type": "json_schema", "schema": said.schema}},
    )


def _source(url: str) -> Json:
    if not url.startswith("data:"):
        return {"type": "url", "url": url}
    media_type, _, data = url.removeprefix("data:").partition(";base64,")
    return {"type": "base64", "media_type": media_type, "data": data}


def read(document: Json) -> Conversation:
    said = Conversation([])
    said.system = text_of(document.get("system") or "")
    for message in document["messages"]:
        turn = turn_of(said, message["role"])
        for block in blocks_of(message["content"]):
            match block["type"]:
                case "text":
                    turn.text += block["text"]
                case "image":
                    source = block["source"]
                    data = f"data:{source.get('media_type')};base64,{source.get('data')}"
                    turn.images.append(source.get("url") or data)
                case "tool_use":
                    turn.calls.append(Call(block["id"], block["name"], block["input"]))
                case "tool_result":
                    result = marked_result(
                        block["tool_use_id"], text_of(block.get("content") or "")
                    )
                    result.failed = result.failed or block.get("is_error", False)
                    turn.results.append(result)
    tools = document.get("tools") or ()
    said.tools = [Tool(tool["name"], tool["description"], tool["input_schema"]) for tool in tools]
    choice = document.get("tool_choice") or {"type": "auto"}
    kinds = {"auto": "auto", "none": "none", "any": "required", "tool": ""}
    said.choice = kinds[choice["type"]] or ":" + choice["name"]
    said.parallel = not choice.get("disable_parallel_tool_use", False)
    said.max_tokens = document["max_tokens"]
    said.temperature = document.get("temperature")
    said.stop = document.get("stop_sequences") or []
    said.stream = document.get("stream", False)
    said.schema = (document.get("output_config") or {}).get("format", {}).get("schema")
    return said
