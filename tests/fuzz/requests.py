"""Rich requests of each protocol: whatever a reader has a line for is in one of them."""

from __future__ import annotations

from typing import Any

PNG = "iVBORw0KGgoAAAANSUhEUg=="
SCHEMA = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "n": {"anyOf": [{"type": "integer"}, {}]}},
    "required": ["city"],
}
GRAMMAR = {"type": "grammar", "syntax": "lark", "definition": "start: /a+/"}

CHAT: list[dict[str, Any]] = [
    {
        "model": "m",
        "messages": [
            {"role": "system", "content": "be brief"},
            {"role": "developer", "content": [{"type": "text", "text": "and polite"}]},
            {
                "role": "user",
                "name": "ann",
                "content": [
                    {"type": "text", "text": "look", "cache_control": {"type": "ephemeral"}},
                    {
                        "type": "image_url",
                        "image_url": {"url": f"data:image/png;base64,{PNG}", "detail": "low"},
                    },
                    {"type": "image_url", "image_url": {"url": "https://a.example/b.png"}},
                    {"type": "file", "file": {"file_data": "data:application/pdf;base64,JVBE"}},
                    {"type": "input_audio", "input_audio": {"data": "AA==", "format": "wav"}},
                ],
            },
            {
                "role": "assistant",
                "content": None,
                "refusal": None,
                "reasoning_content": "hmm",
                "reasoning_blocks": [{"type": "thinking", "thinking": "t", "signature": "c2ln"}],
                "tool_calls": [
                    {
                        "id": "call_1",
                        "type": "function",
                        "function": {"name": "f", "arguments": '{"city": "x"}'},
                        "extra_content": {"google": {"thought_signature": "s"}},
                    },
                    {"id": "call.2", "type": "custom", "custom": {"name": "p", "input": "raw"}},
                ],
            },
            {"role": "tool", "tool_call_id": "call_1", "content": "sunny"},
            {
                "role": "tool",
                "tool_call_id": "call.2",
                "content": [{"type": "text", "text": "Error: no"}],
            },
            {"role": "assistant", "content": [{"type": "refusal", "refusal": "no"}]},
            {"role": "user", "content": "go on"},
        ],
        "tools": [
            {
                "type": "function",
                "function": {"name": "f", "description": "d", "parameters": SCHEMA, "strict": True},
            },
            {"type": "function", "function": {"name": "n" * 70}},
            {
                "type": "custom",
                "custom": {
                    "name": "p",
                    "format": {
                        "type": "grammar",
                        "grammar": {"syntax": "lark", "definition": "start: /a/"},
                    },
                },
            },
        ],
        "tool_choice": {
            "type": "allowed_tools",
            "allowed_tools": {
                "mode": "auto",
                "tools": [{"type": "function", "function": {"name": "f"}}],
            },
        },
        "parallel_tool_calls": False,
        "max_completion_tokens": 100,
        "temperature": 1.5,
        "top_p": 0.9,
        "stop": ["a", "b"],
        "n": 1,
        "seed": 1,
        "logprobs": False,
        "logit_bias": {"1": 2},
        "user": "u",
        "metadata": {"a": "b"},
        "reasoning_effort": "high",
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "s", "schema": SCHEMA, "strict": True},
        },
        "stream": False,
        "stream_options": {"include_usage": True},
    },
    {
        "model": "m",
        "messages": [
            {"role": "user", "content": "hi"},
            {"role": "function", "name": "f", "content": "old"},
            {"role": "assistant", "function_call": {"name": "f", "arguments": "{}"}},
        ],
        "functions": [{"name": "f", "parameters": SCHEMA}],
        "function_call": "auto",
        "stop": "x",
        "max_tokens": 5,
        "stream": True,
        "tools": [{"type": "function", "function": {"name": "f"}}],
        "tool_choice": {"type": "function", "function": {"name": "f"}},
        "response_format": {"type": "json_object"},
    },
]

MESSAGES: list[dict[str, Any]] = [
    {
        "model": "m",
        "max_tokens": 5000,
        "system": [{"type": "text", "text": "be brief", "cache_control": {"type": "ephemeral"}}],
        "messages": [
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "look", "citations": None},
                    {
                        "type": "image",
                        "source": {"type": "base64", "media_type": "image/png", "data": PNG},
                    },
                    {"type": "image", "source": {"type": "url", "url": "https://a.example/b"}},
                    {
                        "type": "document",
                        "title": "t",
                        "source": {
                            "type": "base64",
                            "media_type": "application/pdf",
                            "data": "JVBE",
                        },
                        "citations": {"enabled": True},
                    },
                    {
                        "type": "document",
                        "source": {"type": "text", "media_type": "text/plain", "data": "x"},
                    },
                ],
            },
            {
                "role": "assistant",
                "content": [
                    {"type": "thinking", "thinking": "hmm", "signature": "c2ln"},
                    {"type": "redacted_thinking", "data": "AA=="},
                    {"type": "text", "text": "I look"},
                    {"type": "tool_use", "id": "toolu_1", "name": "f", "input": {"city": "x"}},
                    {"type": "tool_use", "id": "toolu_2", "name": "g", "input": {}},
                ],
            },
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "before"},
                    {
                        "type": "tool_result",
                        "tool_use_id": "toolu_1",
                        "is_error": True,
                        "content": [
                            {"type": "text", "text": "no"},
                            {
                                "type": "image",
                                "source": {
                                    "type": "base64",
                                    "media_type": "image/png",
                                    "data": PNG,
                                },
                            },
                        ],
                    },
                    {"type": "tool_result", "tool_use_id": "toolu_2", "content": "ok"},
                ],
            },
            {
                "role": "assistant",
                "content": [
                    {"type": "server_tool_use", "id": "srv", "name": "web_search", "input": {}},
                    {"type": "web_search_tool_result", "tool_use_id": "srv", "content": []},
                    {"type": "text", "text": "found"},
                ],
            },
            {"role": "user", "content": "go on"},
        ],
        "tools": [
            {
                "name": "f",
                "description": "d",
                "input_schema": SCHEMA,
                "strict": True,
                "cache_control": {"type": "ephemeral"},
            },
            {"type": "custom", "name": "g", "input_schema": {"type": "object"}},
            {"type": "web_search_20250305", "name": "web_search", "max_uses": 1},
        ],
        "tool_choice": {"type": "any", "disable_parallel_tool_use": True},
        "thinking": {"type": "enabled", "budget_tokens": 2048},
        "output_config": {
            "effort": "high",
            "format": {"type": "json_schema", "schema": SCHEMA},
        },
        "stop_sequences": ["a"],
        "temperature": 0.5,
        "top_k": 3,
        "top_p": 0.9,
        "metadata": {"user_id": "u"},
        "service_tier": "auto",
        "stream": False,
    },
    {
        "model": "m",
        "max_tokens": 9,
        "system": "brief",
        "messages": [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "so"}],
        "tools": [{"name": "f", "input_schema": {}}],
        "tool_choice": {"type": "tool", "name": "f"},
        "thinking": {"type": "adaptive"},
        "stream": True,
    },
]

RESPONSES: list[dict[str, Any]] = [
    {
        "model": "m",
        "instructions": "be brief",
        "input": [
            {"role": "developer", "content": "and polite"},
            {
                "type": "message",
                "role": "user",
                "content": [
                    {"type": "input_text", "text": "look"},
                    {
                        "type": "input_image",
                        "image_url": f"data:image/png;base64,{PNG}",
                        "detail": "auto",
                    },
                    {"type": "input_file", "filename": "a.pdf", "file_data": "data:;base64,JV"},
                ],
            },
            {
                "type": "reasoning",
                "id": "rs_1",
                "summary": [{"type": "summary_text", "text": "hmm"}],
                "content": [{"type": "reasoning_text", "text": "why"}],
                "encrypted_content": "AAAA",
            },
            {
                "type": "message",
                "role": "assistant",
                "id": "msg_1",
                "status": "completed",
                "content": [
                    {"type": "output_text", "text": "I look", "annotations": []},
                    {"type": "refusal", "refusal": "no"},
                ],
            },
            {
                "type": "function_call",
                "id": "fc_1",
                "call_id": "call_1",
                "name": "f",
                "arguments": '{"city": "x"}',
                "status": "completed",
            },
            {"type": "custom_tool_call", "call_id": "call_2", "name": "p", "input": "raw"},
            {
                "type": "function_call_output",
                "call_id": "call_1",
                "output": [
                    {"type": "input_text", "text": "ok"},
                    {"type": "input_image", "image_url": "https://a.example/b.png"},
                ],
            },
            {"type": "custom_tool_call_output", "call_id": "call_2", "output": "done"},
            {"type": "web_search_call", "id": "ws_1", "status": "completed"},
        ],
        "tools": [
            {"type": "function", "name": "f", "parameters": SCHEMA, "strict": True},
            {"type": "custom", "name": "p", "format": GRAMMAR},
            {"type": "web_search"},
            {"type": "mcp", "server_label": "l", "server_url": "https://a.example"},
        ],
        "tool_choice": {
            "type": "allowed_tools",
            "mode": "required",
            "tools": [{"type": "function", "name": "f"}],
        },
        "parallel_tool_calls": False,
        "max_output_tokens": 100,
        "reasoning": {"effort": "high", "summary": "auto"},
        "text": {"format": {"type": "json_schema", "name": "s", "schema": SCHEMA}},
        "include": ["reasoning.encrypted_content"],
        "temperature": 1.5,
        "top_p": 0.5,
        "metadata": {"a": "b"},
        "store": False,
        "truncation": "auto",
        "user": "u",
        "prompt_cache_key": "k",
        "stream": False,
    },
    {
        "model": "m",
        "input": "hi",
        "tools": [{"type": "function", "name": "f", "parameters": None, "strict": None}],
        "tool_choice": {"type": "function", "name": "f"},
        "previous_response_id": None,
        "text": {"format": {"type": "text"}, "verbosity": "low"},
        "stream": True,
    },
]

REQUESTS = {"chat": CHAT, "messages": MESSAGES, "responses": RESPONSES}
