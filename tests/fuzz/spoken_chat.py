"""A conversation in the words of OpenAI Chat Completions."""

from __future__ import annotations

import json

from tests.fuzz.conversation import (
    ERROR,
    Call,
    Conversation,
    Json,
    Tool,
    marked_result,
    turn_of,
    without_none,
)


def write(said: Conversation) -> Json:
    messages: list[Json] = [{"role": "system", "content": said.system}] if said.system else []
    for turn in said.turns:
        if turn.speaker == "assistant":
            calls = [
                {
                    "id": call.id,
                    "type": "function",
                    "function": {"name": call.name, "arguments": json.dumps(call.arguments)},
                }
                for call in turn.calls
            ]
            message = {"role": "assistant", "content": turn.text or None}
            messages.append({**message, "tool_calls": calls} if calls else message)
            continue
        for result in turn.results:
            text = ERROR + result.text if result.failed else result.text
            messages.append({"role": "tool", "tool_call_id": result.call_id, "content": text})
        parts: list[Json] = [{"type": "text", "text": turn.text}] if turn.text else []
        parts += [{"type": "image_url", "image_url": {"url": url}} for url in turn.images]
        if parts:
            messages.append({"role": "user", "content": parts})
    named = {"type": "function", "function": {"name": said.choice[1:]}}
    return without_none(
        model="m",
        messages=messages,
        max_tokens=said.max_tokens,
        temperature=said.temperature,
        stop=said.stop or None,
        stream=said.stream or None,
        tools=[
            {
                "type": "function",
                "function": {
                    "name": tool.name,
                    "description": tool.description,
                    "parameters": tool.schema,
                },
            }
            for tool in said.tools
        ]
        or None,
        tool_choice=(named if said.choice[0] == ":" else said.choice) if said.tools else None,
        parallel_tool_calls=None if said.parallel else False,
        response_format=said.schema
        and {"type": "json_schema", "json_schema": {"name": "s", "schema": said.schema}},
    )


def read(document: Json) -> Conversation:
    said = Conversation([])
    for message in document["messages"]:
        content = message.get("content") or []
        parts = [{"type": "text", "text": content}] if isinstance(content, str) else content
        text = "".join(part["text"] for part in parts if part["type"] == "text")
        match message["role"]:
            case "system" | "developer":
                said.system += text
            case "tool":
                turn_of(said, "user").results.append(marked_result(message["tool_call_id"], text))
            case role:
                turn = turn_of(said, role)
                turn.text += text
                turn.images += [
                    part["image_url"]["url"] for part in parts if part["type"] == "image_url"
                ]
                for call in message.get("tool_calls") or ():
                    function = call["function"]
                    arguments = json.loads(function["arguments"])
                    turn.calls.append(Call(call["id"], function["name"], arguments))
    functions = [tool["function"] for tool in document.get("tools") or ()]
    said.tools = [Tool(f["name"], f["description"], f["parameters"]) for f in functions]
    choice = document.get("tool_choice", "auto")
    said.choice = choice if isinstance(choice, str) else ":" + choice["function"]["name"]
    said.parallel = document.get("parallel_tool_calls", True)
    said.max_tokens = document.get("max_completion_tokens") or document["max_tokens"]
    said.temperature = document.get("temperature")
    said.stop = document.get("stop") or []
    said.stream = document.get("stream", False)
    said.schema = (document.get("response_format") or {}).get("json_schema", {}).get("schema")
    return said
