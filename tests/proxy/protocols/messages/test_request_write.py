"""What a Messages upstream is asked, and what could not be carried there."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from msgspec import Raw

from toolwire.config.profile import Profile
from toolwire.proxy.protocols.messages import CODEC
from toolwire.proxy.protocols.neutral import (
    Cache,
    Call,
    DocumentPart,
    Image,
    Losses,
    Opaque,
    Part,
    Refusal,
    Request,
    Result,
    Role,
    Source,
    Structured,
    Text,
    Thinking,
    Turn,
)

MARK = {"type": "ephemeral"}
PROFILE = Profile(temperature_max=1.0, default_max_tokens=4096)


def user(*parts: Part) -> Turn:
    return Turn(Role.USER, list(parts))


def assistant(*parts: Part) -> Turn:
    return Turn(Role.ASSISTANT, list(parts))


HELLO = user(Text("hello"))


def asked(*turns: Turn, max_tokens: int | None = 50, **fields: Any) -> Request:
    request = Request(model="m", protocol="chat", turns=list(turns or (HELLO,)))
    request.max_tokens = max_tokens
    for name, value in fields.items():
        setattr(request, name, value)
    return request


def written(
    request: Request, profile: Profile = PROFILE
) -> tuple[dict[str, Any], list[tuple[str, str]]]:
    losses = Losses()
    document = CODEC.write_request(request, profile, losses)
    return document, [(loss.kind, loss.path) for loss in losses.entries]


def user_block(part: Part, **fields: Any) -> tuple[dict[str, Any], list[tuple[str, str]]]:
    """The block of ``part``, beside one of text."""
    document, losses = written(asked(user(Text("see"), part), **fields))
    first, block = document["messages"][0]["content"]
    assert first == {"type": "text", "text": "see"}
    return block, losses


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
    document, losses = written(asked(*turns))
    assert document["messages"][0] == {
        "role": "user",
        "content": "[The conversation begins here.]",
    }
    assert losses == [("invented", "messages")]


def test_calls_and_results() -> None:
    document, losses = written(
        asked(
            HELLO,
            assistant(Text("Let me see."), Call("1", "f", '{"b":1,"a":[]}'), Call("2", "now")),
            user(
                Result("1", [Text("5 C")], cache=Cache(MARK)),
                Result("2", [Text("a"), Image(Source(url="u"))], is_error=True),
                Text("and?"),
            ),
        )
    )
    assert document["messages"][1:] == [
        {
            "role": "assistant",
            "content": [
                {"type": "text", "text": "Let me see."},
                {"type": "tool_use", "id": "1", "name": "f", "input": {"b": 1, "a": []}},
                {"type": "tool_use", "id": "2", "name": "now", "input": {}},
            ],
        },
        {
            "role": "user",
            "content": [
                {
                    "type": "tool_result",
                    "tool_use_id": "1",
                    "content": "5 C",
                    "cache_control": MARK,
                },
                {
                    "type": "tool_result",
                    "tool_use_id": "2",
                    "content": [
                        {"type": "text", "text": "a"},
                        {"type": "image", "source": {"type": "url", "url": "u"}},
                    ],
                    "is_error": True,
                },
                {"type": "text", "text": "and?"},
            ],
        },
    ]
    assert losses == []


@pytest.mark.parametrize("arguments", ["[1]", "null", '{"cut":', "text", '{"a":NaN}'])
def test_arguments_that_are_no_object_are_an_empty_one(arguments: str) -> None:
    call = Call("1", "f", arguments, at="messages[1].tool_calls[0]")
    document, losses = written(asked(HELLO, assistant(call), user(Result("1", []))))
    assert document["messages"][1]["content"][0]["input"] == {}
    assert document["messages"][2]["content"] == [{"type": "tool_result", "tool_use_id": "1"}]
    assert losses == [("coerced", "messages[1].tool_calls[0]")]


def test_a_free_form_call_is_wrapped() -> None:
    call = Call("1", "shell", "ls", custom=True)
    document, _ = written(asked(HELLO, assistant(call), user(Result("1", [], custom=True))))
    assert document["messages"][1]["content"][0]["input"] == {"input": "ls"}


def test_ids_are_unique_and_results_follow() -> None:
    turns = [HELLO]
    for _ in range(3):
        turns += [assistant(Call("call_0", "f")), user(Result("call_0", []))]
    messages = written(asked(*turns))[0]["messages"]
    ids = [message["content"][0]["id"] for message in messages[1::2]]
    assert ids[0] == "call_0"
    assert len(set(ids)) == 3
    assert [message["content"][0]["tool_use_id"] for message in messages[2::2]] == ids
    assert written(asked(*turns[:5]))[0]["messages"] == messages[:5]


def test_white_space_is_no_block_of_its_own() -> None:
    document, _ = written(
        asked(user(Text(" "), Text("a"), Text("\n"), Text("b"), Text("\t")), assistant(Text(" ")))
    )
    assert document["messages"] == [
        {
            "role": "user",
            "content": [{"type": "text", "text": " a"}, {"type": "text", "text": "\nb"}],
        }
    ]


@pytest.mark.parametrize(
    ("source", "written_as"),
    [
        (
            Source(data="QQ==", media_type="image/webp"),
            {"type": "base64", "media_type": "image/webp", "data": "QQ=="},
        ),
        (Source(data="QQ=="), {"type": "base64", "media_type": "image/png", "data": "QQ=="}),
        (
            Source(url="data:image/gif;base64,QQ=="),
            {"type": "base64", "media_type": "image/gif", "data": "QQ=="},
        ),
        (
            Source(url="DATA:image/svg+xml,%3Csvg/%3E"),
            {"type": "base64", "media_type": "image/svg+xml", "data": "PHN2Zy8+"},
        ),
        (Source(url="https://example.org/a"), {"type": "url", "url": "https://example.org/a"}),
    ],
)
def test_images(source: Source, written_as: dict[str, Any]) -> None:
    block, losses = user_block(Image(source, detail="auto", cache=Cache(MARK)))
    assert block == {"type": "image", "source": written_as, "cache_control": MARK}
    assert losses == []


@pytest.mark.parametrize(
    ("source", "written_as"),
    [
        (
            Source(data="JVBERg==", media_type="application/pdf"),
            {"type": "base64", "media_type": "application/pdf", "data": "JVBERg=="},
        ),
        (
            Source(data="w7g=", media_type="text/csv"),
            {"type": "text", "media_type": "text/plain", "data": "ø"},
        ),
        (Source(text="ø"), {"type": "text", "media_type": "text/plain", "data": "ø"}),
        (Source(url="https://example.org/a"), {"type": "url", "url": "https://example.org/a"}),
    ],
)
def test_documents(source: Source, written_as: dict[str, Any]) -> None:
    block, losses = user_block(DocumentPart(source, name="a.pdf"))
    assert block == {"type": "document", "source": written_as, "title": "a.pdf"}
    assert losses == []


def test_a_picture_that_came_as_a_document_is_an_image() -> None:
    block, _ = user_block(DocumentPart(Source(url="data:image/png;base64,QQ=="), name="a.png"))
    assert block["type"] == "image"


@pytest.mark.parametrize("kind", [Image, DocumentPart])
def test_a_file_of_another_vendor_is_missed(kind: type[Image] | type[DocumentPart]) -> None:
    part = kind(Source(file_id="file-1"), at="messages[0].content[1]")
    block, losses = user_block(part)
    assert block["type"] == "text" and "missing" in block["text"]
    assert losses == [("dropped", "messages[0].content[1]")]
    block, losses = user_block(part, protocol="messages")
    assert block["source"] == {"type": "file", "file_id": "file-1"}
    assert losses == []


def test_what_images_cannot_carry_is_reported() -> None:
    image = Image(Source(url="u"), detail="low", extra={"x": 1}, at="c")
    assert user_block(image)[1] == [("dropped", "c.detail"), ("dropped", "c.x")]


@pytest.mark.parametrize(
    ("thinking", "block", "reported"),
    [
        (
            Thinking("a", signature="s", origin="messages", at="t"),
            {"type": "thinking", "thinking": "a", "signature": "s"},
            False,
        ),
        (
            Thinking(redacted="r", origin="messages", at="t"),
            {"type": "redacted_thinking", "data": "r"},
            False,
        ),
        (Thinking("a", at="t"), None, True),
        (Thinking("a", signature="s", origin="responses", at="t"), None, True),
        (Thinking(encrypted="e", origin="responses", at="t"), None, True),
        (Thinking(), None, False),
    ],
)
def test_thinking_goes_back_signed_or_not_at_all(
    thinking: Thinking, block: dict[str, Any] | None, reported: bool
) -> None:
    document, losses = written(asked(HELLO, assistant(thinking, Text("b")), HELLO))
    text = {"type": "text", "text": "b"}
    assert document["messages"][1]["content"] == ([block, text] if block else "b")
    assert losses == ([("dropped", "t")] if reported else [])


def test_parts_of_its_own_pass_and_foreign_ones_are_reported() -> None:
    own = {"type": "search_result", "source": "s", "title": "t", "content": []}
    assert user_block(Opaque("messages", own))[0] == own
    document, losses = written(
        asked(user(Text("a"), Opaque("chat", {}, at="messages[0].content[1]")))
    )
    assert document["messages"][0]["content"] == "a"
    assert losses == [("dropped", "messages[0].content[1]")]


@pytest.mark.parametrize(("protocol", "kept"), [("messages", True), ("responses", False)])
def test_citations_are_kept_by_their_own_protocol(protocol: Any, kept: bool) -> None:
    cited = Opaque(protocol, [{"cited_text": "x"}], at="c")
    block, losses = user_block(Text("a", citations=cited))
    assert block.get("citations") == ([{"cited_text": "x"}] if kept else None)
    assert losses == ([] if kept else [("dropped", "c")])


@pytest.mark.parametrize(("protocol", "kept"), [("messages", True), ("chat", False)])
def test_fields_of_calls_are_kept_by_their_own_protocol(protocol: Any, kept: bool) -> None:
    call = Call("1", "f", extra={"toolset_name": "t"}, at="c")
    turns = [HELLO, assistant(call), user(Result("1", []))]
    document, losses = written(asked(*turns, protocol=protocol))
    assert ("toolset_name" in document["messages"][1]["content"][0]) is kept
    assert losses == ([] if kept else [("dropped", "c.toolset_name")])


def test_a_refusal_of_the_history_is_text() -> None:
    document, _ = written(asked(HELLO, assistant(Refusal("No.")), HELLO))
    assert document["messages"][1] == {"role": "assistant", "content": "No."}


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
    schema = {"type": "object", "properties": {}}
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
