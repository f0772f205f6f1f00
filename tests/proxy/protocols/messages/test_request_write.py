"""What a Messages upstream is asked, and what could not be carried there."""

from __future__ import annotations

from decimal import Decimal

import pytest
from msgspec import Raw

from tests.proxy.protocols.messages.writing import (
    HELLO,
    MARK,
    asked,
    assistant,
    user,
    written,
)
from toolwire.config.profile import Profile
from toolwire.proxy.protocols.messages import CODEC
from toolwire.proxy.protocols.neutral import (
    Cache,
    Image,
    Part,
    Role,
    Source,
    Structured,
    Text,
    Turn,
)


def test_a_request() -> None:
    request = asked(
        Turn(Role.SYSTEM, [Text("Be brief.")]),
        HELLO,
        stop=["END"],
        temperature=Decimal("0.5"),
        user="u",
        stream=True,
    )
    assert written(request) == (
        {
            "model": "m",
            "max_tokens": 50,
            "system": "Be brief.",
            "messages": [{"role": "user", "content": "hello"}],
            "temperature": Decimal("0.5"),
            "stop_sequences": ["END"],
            "metadata": {"user_id": "u"},
            "stream": True,
        },
        [],
    )


def test_the_limit_is_invented_where_there_is_none() -> None:
    document, losses = written(asked(max_tokens=None))
    assert document["max_tokens"] == 4096
    assert losses == [("invented", "max_tokens")]


def test_system_turns_are_blocks_with_their_marks() -> None:
    document, _ = written(
        asked(
            Turn(Role.SYSTEM, [Text("a", cache=Cache(MARK))]),
            Turn(Role.DEVELOPER, [Text("b")]),
            HELLO,
        )
    )
    assert document["system"] == [
        {"type": "text", "text": "a", "cache_control": MARK},
        {"type": "text", "text": "b"},
    ]


def test_a_later_system_message_is_marked_user_text_in_its_place() -> None:
    document, losses = written(
        asked(
            HELLO,
            assistant(Text("hi")),
            Turn(Role.DEVELOPER, [Text("In Norwegian.")], at="messages[2]"),
            user(Text("go on")),
        )
    )
    assert document["messages"][2] == {
        "role": "user",
        "content": [
            {"type": "text", "text": "[Developer message]\nIn Norwegian."},
            {"type": "text", "text": "go on"},
        ],
    }
    assert losses == [("coerced", "messages[2]")]


def test_the_system_prompt_is_text() -> None:
    parts: list[Part] = [Text("a"), Image(Source(url="u"), at="messages[0].content[1]")]
    document, losses = written(asked(Turn(Role.SYSTEM, parts), HELLO))
    assert document["system"] == "a"
    assert losses == [("dropped", "messages[0].content[1]")]


def test_an_answer_to_go_on_with_ends_without_white_space() -> None:
    messages = written(asked(HELLO, assistant(Text("The answer is: \n"))))[0]["messages"]
    assert messages[1] == {"role": "assistant", "content": "The answer is:"}


@pytest.mark.parametrize("turns", [[Turn(Role.SYSTEM, [Text("s")])], [assistant(Text("hi"))]])
def test_the_user_speaks_first(turns: list[Turn]) -> None:
    document, losses = written(asked(*turns), Profile(first_turn_user=True))
    assert document["messages"][0] == {
        "role": "user",
        "content": "[The conversation begins here.]",
    }
    assert losses == [("invented", "messages")]


def test_the_assistant_may_speak_first_where_the_upstream_takes_it() -> None:
    document, losses = written(asked(assistant(Text("hi")), HELLO))
    assert [message["role"] for message in document["messages"]] == ["assistant", "user"]
    assert losses == []


def test_names_of_speakers_are_reported() -> None:
    turn = Turn(Role.USER, [Text("a")], name="ann", at="messages[0]")
    assert written(asked(turn))[1] == [("dropped", "messages[0].name")]


def test_sampling_is_kept_within_the_range() -> None:
    document, losses = written(asked(temperature=Decimal("1.6")))
    assert document["temperature"] == 1
    assert losses == [("coerced", "temperature")]
    document, losses = written(asked(temperature=0, top_p=Decimal("0.9")))
    assert document["temperature"] == 0 and "top_p" not in document
    assert losses == [("dropped", "top_p")]
    document, losses = written(asked(temperature=0, top_p=1))
    assert "top_p" not in document and losses == []
    assert written(asked(top_p=Decimal("0.9")))[0]["top_p"] == Decimal("0.9")


def test_a_temperature_beyond_all_bounds_is_left_out() -> None:
    document, losses = written(asked(temperature=Raw(b"1e9999999999999999999")))
    assert "temperature" not in document
    assert losses == [("dropped", "temperature")]


def test_stop_sequences_must_say_something() -> None:
    document, losses = written(asked(stop=["a", "\n", "b"]))
    assert document["stop_sequences"] == ["a", "b"]
    assert losses == [("dropped", "stop")]
    document, losses = written(asked(stop=["a", "b"]), Profile(stop_max=1))
    assert document["stop_sequences"] == ["a"]
    assert losses == [("dropped", "stop")]


def test_structured_output() -> None:
    schema = {"type": "object", "properties": {}, "additionalProperties": False}
    wish = Structured(schema, name="n", strict=True, at="response_format")
    document, losses = written(asked(structured=wish))
    assert document["output_config"] == {"format": {"type": "json_schema", "schema": schema}}
    assert losses == []
    document, losses = written(asked(structured=Structured(at="response_format")))
    assert "output_config" not in document
    assert losses == [("dropped", "response_format")]
    document, losses = written(asked(structured=wish), Profile(structured_output="none"))
    assert "output_config" not in document
    assert losses == [("dropped", "response_format")]


def test_the_end_user_by_either_name() -> None:
    end_user = {"safety_identifier": "s"}
    document, losses = written(asked(extra=end_user))
    assert document["metadata"] == {"user_id": "s"} and losses == []
    document, losses = written(asked(user="u", extra=end_user))
    assert document["metadata"] == {"user_id": "u"}
    assert losses == [("dropped", "safety_identifier")]


def test_fields_that_are_known_pass_and_the_others_are_reported() -> None:
    extra = {"top_k": 40, "seed": 7, "logit_bias": {"1": 2}, "n": 1, "logprobs": False, "x": None}
    document, losses = written(asked(extra=extra))
    assert document["top_k"] == 40
    assert losses == [("dropped", "seed"), ("dropped", "logit_bias")]
    assert not {"seed", "n", "logprobs", "x"} & document.keys()


def test_a_request_of_its_own_protocol_keeps_what_no_other_has() -> None:
    document = {
        "model": "m",
        "max_tokens": 9,
        "messages": [{"role": "user", "content": "hi"}],
        "metadata": {"user_id": "u", "team": "t"},
        "output_config": {"task_budget": {"total": 5}},
        "container": "c",
        "temperature": 2,
        "top_p": Decimal("0.5"),
    }
    request = CODEC.read_request(document)
    assert written(request) == (document, [])
