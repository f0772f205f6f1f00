"""A conversation in the words of OpenAI Responses."""

from __future__ import annotations

import json

from tests.fuzz.conversation import (
    ERROR,
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
    items: list[Json] = []
    for turn in said.turns:
        for result in turn.results:
            output = ERROR + result.text if result.failed else result.text
            items.append(
                {"type": "function_call_output", "call_id": result.call_id, "output": output}
            )
        kind = "output_text" if turn.speaker == "assistant" else "input_text"
        parts: list[Json] = [{"type": kind, "text": turn.text}] if turn.text else []
        parts += [{"type": "input_image", "image_url": url} for url in turn.images]
        if parts:
            items.append({"type": "message", "role": turn.speaker, "content": parts})
        items += [
            {
                "type": "function_call",
                "call_id": call.id,
                "name": call.name,
                "arguments": json.dumps(call.arguments),
            }
            for call in turn.calls
        ]
    named = {"type": "function", "name": said.choice[1:]}
    text = {"type": "json_schema", "name": "s", "schema": said.schema}
    return without_none(
        model="m",
        instructions=said.system or None,
        input=items,
        max_output_tokens=said.max_tokens,
        temperature=said.temperature,
        stream=said.stream or None,
        tools=[
            {
                "type": "function",
                "name": tool.name,
                "description": tool.description,
                "parameters": tool.schema,
                "strict": False,
            }
            for tool in said.tools
        ]
        or None,
        tool_choice=(named if said.choice[0] == ":" else said.choice) if said.tools else None,
        parallel_tool_calls=None if said.parallel else False,
        text={"format": text} if said.schema else None,
    )


def read(document: Json) -> Conversation:
    said = Conversation([])
    said.system = document.get("instructions") or ""
    for item in document["input"]:
        match item.get("type", "message"):
            case "message" if item["role"] in ("system", "developer"):
                said.system += text_of(item["content"])
            case "message":
                turn = turn_of(said, item["role"])
                turn.text += text_of(item["content"])
                turn.images += [
                    part["image_url"]
                    for part in blocks_of(item["content"])
                    if part["type"] == "input_image"
                ]
            case "function_call":
                call = Call(item["call_id"], item["name"], json.loads(item["arguments"]))
                turn_of(said, "assistant").calls.append(call)
            case "function_call_output":
                result = marked_result(item["call_id"], text_of(item["output"]))
                turn_of(said, "user").results.append(result)
    tools = document.get("tools") or ()
    said.tools = [Tool(tool["name"], tool["description"], tool["parameters"]) for tool in tools]
    choice = document.get("tool_choice", "auto")
    said.choice = choice if isinstance(choice, str) else ":" + choice["name"]
    said.parallel = document.get("parallel_tool_calls", True)
    said.max_tokens = document["max_output_tokens"]
    said.temperature = document.get("temperature")
    said.stream = document.get("stream", False)
    said.schema = (document.get("text") or {}).get("format", {}).get("schema")
    return said
