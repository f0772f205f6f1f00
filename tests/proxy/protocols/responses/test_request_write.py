from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from tests.proxy.protocols.responses.writing import OBJECT, items, write
from toolwire.config.profile import Profile
from toolwire.proxy.errors import InvalidRequest
from toolwire.proxy.protocols.neutral import (
    Losses,
    Opaque,
    Role,
    Structured,
    ThinkingRequest,
    Turn,
)
from toolwire.proxy.protocols.responses import CODEC


class TestFields:
    def test_limits(self) -> None:
        document, losses = write(
            max_tokens=64, temperature=Decimal("0.70"), top_p=1, stop=["END"], stream=True
        )

        assert document == {
            "model": "m",
            "input": [{"type": "message", "role": "user", "content": ""}],
            "max_output_tokens": 64,
            "temperature": Decimal("0.70"),
            "top_p": 1,
            "store": False,
            "stream": True,
        }
        assert losses == [("stop", "dropped")]

    def test_a_temperature_beyond_the_range_is_lowered(self) -> None:
        document, losses = write(temperature=Decimal("2.5"))

        assert document["temperature"] == 2
        assert losses == [("temperature", "coerced")]

    def test_structured_output(self) -> None:
        schema = {"type": "object"}

        document, _ = write(structured=Structured(schema, name="city", strict=True))
        nameless, _ = write(structured=Structured(schema))
        anything, _ = write(structured=Structured())

        form = {"type": "json_schema", "name": "city", "schema": schema, "strict": True}
        assert document["text"] == {"format": form}
        assert nameless["text"]["format"] == {
            "type": "json_schema",
            "name": "output",
            "schema": schema,
        }
        assert anything["text"] == {"format": {"type": "json_object"}}

    @pytest.mark.parametrize(
        ("known", "form", "kind"),
        [
            ("json_object", {"format": {"type": "json_object"}}, "coerced"),
            ("none", None, "dropped"),
        ],
    )
    def test_weaker_structured_output(self, known: str, form: Any, kind: str) -> None:
        wish = Structured({"type": "object"}, at="response_format")

        document, losses = write(structured=wish, profile={"structured_output": known})

        assert document.get("text") == form
        assert losses == [("response_format", kind)]

    @pytest.mark.parametrize(
        ("wish", "reasoning", "losses"),
        [
            (ThinkingRequest(effort="high", enabled=True), {"effort": "high"}, []),
            (ThinkingRequest(enabled=False), {"effort": "none"}, []),
            (ThinkingRequest(enabled=True, summary="auto"), {"summary": "auto"}, []),
            (ThinkingRequest(adaptive=True), None, []),
            (
                ThinkingRequest(enabled=True, budget=5000, summary="auto", at="thinking"),
                {"effort": "medium", "summary": "auto"},
                [("thinking", "coerced")],
            ),
        ],
    )
    def test_thinking(
        self, wish: ThinkingRequest, reasoning: Any, losses: list[tuple[str, str]]
    ) -> None:
        document, reported = write(thinking=wish)

        assert document.get("reasoning") == reasoning
        assert reported == losses
        wants_it = wish.enabled is not False
        assert ("include" in document) is wants_it

    def test_an_effort_that_the_upstream_does_not_know(self) -> None:
        wish = ThinkingRequest(effort="xhigh", at="reasoning_effort")

        document, losses = write(thinking=wish, profile={"efforts": ("low", "high")})
        nothing, dropped = write(thinking=wish, profile={"efforts": ()})

        assert document["reasoning"] == {"effort": "high"}
        assert losses == [("reasoning_effort", "coerced")]
        assert "reasoning" not in nothing
        assert dropped == [("reasoning_effort", "dropped")]

    def test_a_model_that_cannot_stop_thinking_thinks_little(self) -> None:
        wish = ThinkingRequest(enabled=False, at="thinking")

        document, losses = write(thinking=wish, profile={"thinking_optional": False})

        assert document["reasoning"] == {"effort": "minimal"}
        assert losses == [("thinking", "coerced")]

    def test_nothing_is_stored_for_clients_that_keep_their_history(self) -> None:
        assert write(store=True)[0]["store"] is False
        assert "store" not in write(client="responses")[0]
        assert write(client="responses", store=True)[0]["store"] is True

    def test_a_long_user_is_told_by_a_digest(self) -> None:
        short, none = write(user="u-1")
        first, losses = write(user="u" * 65, client="messages")
        second, _ = write(user="u" * 65, client="messages")
        other, _ = write(user="v" * 65, client="messages")

        assert (short["user"], none) == ("u-1", [])
        assert first["user"] == second["user"] != other["user"]
        assert len(first["user"]) <= 64
        assert losses == [("metadata.user_id", "coerced")]

    def test_fields_that_chat_has_too(self) -> None:
        extra = {
            "metadata": {"a": "b"},
            "prompt_cache_key": "k",
            "service_tier": "flex",
            "verbosity": "low",
        }

        document, losses = write(extra=extra)

        assert {name: document[name] for name in extra if name in document} == {
            "metadata": {"a": "b"},
            "prompt_cache_key": "k",
            "service_tier": "flex",
        }
        assert document["text"] == {"verbosity": "low"}
        assert losses == []

    def test_fields_that_only_another_protocol_has(self) -> None:
        extra = {"seed": 1, "logit_bias": {}, "top_k": None, "frequency_penalty": 0, "n": 1}

        document, losses = write(extra={**extra, "presence_penalty": Decimal("0.5")})

        assert document.keys() == {"model", "input", "store"}
        assert losses == [("seed", "dropped"), ("presence_penalty", "dropped")]

    def test_the_same_name_can_mean_another_thing(self) -> None:
        document, losses = write(
            extra={"service_tier": "standard_only", "metadata": {"x": 1}}, client="messages"
        )

        assert document.keys() == {"model", "input", "store"}
        assert losses == [("service_tier", "dropped"), ("metadata", "dropped")]

    def test_several_answers_are_refused(self) -> None:
        with pytest.raises(InvalidRequest) as caught:
            write(extra={"n": 2})

        assert caught.value.param == "n"


WHOLE = {
    "model": "m",
    "instructions": "Be brief.",
    "input": [
        {
            "type": "message",
            "role": "user",
            "content": [{"type": "input_text", "text": "Oslo?"}],
        },
        {
            "type": "function_call",
            "call_id": "c",
            "name": "get_weather",
            "arguments": '{"n":12345678901234567890}',
        },
        {"type": "function_call_output", "call_id": "c", "output": "5 C"},
    ],
    "tools": [
        {
            "type": "function",
            "name": "get_weather",
            "parameters": OBJECT,
            "strict": True,
            "defer_loading": True,
        }
    ],
    "tool_choice": "required",
    "parallel_tool_calls": False,
    "max_output_tokens": 99,
    "temperature": Decimal("0.5"),
    "text": {"format": {"type": "json_object"}, "verbosity": "low"},
    "reasoning": {"effort": "low", "summary": "auto"},
    "include": ["reasoning.encrypted_content", "web_search_call.results"],
    "previous_response_id": "resp_0",
    "truncation": "auto",
    "store": True,
    "stream": True,
}


def test_a_responses_request_survives_the_neutral_form() -> None:
    losses = Losses()

    written = CODEC.write_request(CODEC.read_request(WHOLE), Profile(), losses)

    assert written == WHOLE
    assert losses.entries == []


def test_opaque_items_and_parts_of_this_protocol_stay() -> None:
    item = {"type": "web_search_call", "id": "ws_1"}
    part = {"type": "input_audio", "input_audio": {}}

    written = items(
        Turn(Role.ASSISTANT, [Opaque("responses", item)]),
        Turn(Role.USER, [Opaque("responses", part)]),
        client="responses",
    )

    assert written == [item, {"type": "message", "role": "user", "content": [part]}]
