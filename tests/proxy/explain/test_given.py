"""What is made of the files that are given, and what is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.proxy.explain.samples import ANSWERS, PROTOCOLS, REQUESTS
from tests.proxy.explain.streams import STREAMS
from toolwire.proxy.explain import recognition
from toolwire.proxy.explain.given import Given, InputError, Source, given

PLAIN = {"model": "m", "messages": [{"role": "user", "content": "hi"}]}


def source(document: Any, name: str = "file.json") -> Source:
    data = document if isinstance(document, bytes) else json.dumps(document).encode()
    return Source(name, data)


def mistake(call: Callable[[], Given]) -> str:
    with pytest.raises(InputError) as caught:
        call()
    return str(caught.value)


# ---------------------------------------------------------------------------- what is given
def test_a_request_goes_in_as_its_very_bytes() -> None:
    text = b'\n{ "model" : "m", "messages": [] }\n'
    what = given(source(text))
    assert what.body == text
    assert (what.path, what.stand_in, what.answer) == ("/v1/chat/completions", False, None)
    assert what.headers == [(b"content-type", b"application/json")]


def test_what_is_said_counts_more_than_what_is_recognised() -> None:
    what = given(source(PLAIN), protocol="messages")
    assert (what.protocol, what.recognised_by, what.path) == ("messages", "", "/v1/messages")


def test_headers_are_the_clients() -> None:
    what = given(source(PLAIN), headers=["X-Own:a: b ", "Content-Type: application/x"])
    assert what.headers == [(b"x-own", b"a: b"), (b"content-type", b"application/x")]


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("stream", [False, True])
def test_a_plain_request_stands_in_where_only_an_answer_is_given(
    protocol: str, stream: bool
) -> None:
    body = STREAMS[protocol] if stream else ANSWERS[protocol]
    what = given(None, answer=source(body))
    document = json.loads(what.body)
    assert (what.stand_in, what.protocol, what.answer_protocol) == (True, protocol, protocol)
    assert document["model"] == "m"
    assert document.get("stream", False) is stream
    assert recognition.of_request(document).protocol == protocol


def test_the_client_of_a_stand_in_may_speak_another_protocol() -> None:
    what = given(None, answer=source(STREAMS["chat"]), protocol="responses")
    assert (what.protocol, what.answer_protocol) == ("responses", "chat")
    assert "input" in json.loads(what.body)


# ---------------------------------------------------------------------------------- records
def record(**more: Any) -> dict[str, Any]:
    return {"protocol": "chat", "request": PLAIN, "response": ANSWERS["chat"], **more}


def test_a_record_is_a_request_and_its_answer() -> None:
    what = given(None, record=source(record(status=429)))
    assert json.loads(what.body) == PLAIN
    assert what.answer is not None
    assert (what.protocol, what.answer_protocol, what.answer.status) == ("chat", "chat", 429)
    assert json.loads(what.answer.body) == ANSWERS["chat"]


def test_a_record_of_a_stream_is_played_event_by_event() -> None:
    sse = "data: {}\r\n\r\n: c\n\ndata: é\n\ndata: end"
    what = given(None, record=source(record(response=None, sse=sse)))
    assert what.answer is not None
    assert what.answer.is_stream
    assert what.answer.writes == [
        b"data: {}\r\n\r\n",
        b": c\n\n",
        "data: é\n\n".encode(),
        b"data: end",
    ]


@pytest.mark.parametrize(
    ("response", "body"), [("<html>", b"<html>"), (None, b""), ([1], b"[1]"), ("", b"")]
)
def test_a_recorded_response_may_be_text_or_nothing(response: Any, body: bytes) -> None:
    answer = given(None, record=source(record(response=response))).answer
    assert answer is not None
    assert answer.body == body
    assert answer.writes == ([body] if body else [])


def test_the_path_of_a_record_tells_the_protocol() -> None:
    document = {"path": "/v1/messages?beta=true", "request": PLAIN}
    what = given(None, record=source(document))
    assert (what.protocol, what.answer, what.answer_protocol) == ("messages", None, None)


def test_a_record_that_tells_no_protocol_is_recognised() -> None:
    what = given(None, record=source({"request": REQUESTS["messages"]}))
    assert (what.protocol, what.recognised_by) == ("messages", "system")


def test_a_record_without_its_request_gets_a_stand_in() -> None:
    what = given(None, record=source(record(request=None)))
    assert (what.stand_in, what.protocol) == (True, "chat")


def test_the_request_of_a_record_is_no_request_of_another_protocol() -> None:
    what = given(None, record=source(record()), protocol="messages")
    assert (what.stand_in, what.protocol, what.answer_protocol) == (True, "messages", "chat")


def test_what_is_given_beside_a_record_counts_instead() -> None:
    what = given(None, record=source(record()), answer=source(STREAMS["messages"]), status=201)
    assert json.loads(what.body) == PLAIN
    assert what.answer is not None
    assert (what.answer.status, what.answer_protocol) == (201, "messages")


# --------------------------------------------------------------------------------- mistakes
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (b'{"model": "m",\n "a": }', "req.json is not valid JSON: Expecting value at line 2, c"),
        (b"[1]", "req.json must be a JSON object, not an array"),
        (b"", "req.json is not valid JSON: Expecting value at line 1, column 1"),
    ],
)
def test_what_is_no_json_object_is_told_with_its_place(text: bytes, expected: str) -> None:
    assert mistake(lambda: given(source(text, "req.json"))).startswith(expected)
    assert mistake(lambda: given(None, record=source(text, "req.json"))).startswith(expected)


def test_a_record_in_the_place_of_a_request_is_told() -> None:
    told = mistake(lambda: given(source(record(), "r.json")))
    assert "--record r.json" in told


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        ({"model": "m"}, "expected a record: an object with request, and response or sse"),
        ({"request": "text", "sse": ""}, "request: expected an object or null"),
        ({"request": {}, "protocol": "smtp"}, "expected one of chat, messages, responses"),
    ],
)
def test_what_is_no_record_is_told(document: Any, expected: str) -> None:
    told = mistake(lambda: given(None, record=source(document, "r.json")))
    assert told.startswith("r.json: ")
    assert expected in told


@pytest.mark.parametrize("status", [100, 600, -1])
def test_what_is_no_status_of_an_answer_is_told(status: int) -> None:
    told = "expected the status of an answer, from 200 to 599"
    assert told in mistake(lambda: given(None, answer=source(b"{}"), status=status))
    assert told in mistake(lambda: given(None, record=source(record(status=status))))


def test_nothing_to_explain_is_told() -> None:
    assert "got neither" in mistake(lambda: given(None))
    empty = source({"request": None})
    assert "got neither" in mistake(lambda: given(None, record=empty))


@pytest.mark.parametrize("line", ["no colon", "two words: x", ": x", "x: a\nb", "x: \x00"])
def test_what_is_no_header_is_told(line: str) -> None:
    told = mistake(lambda: given(source(PLAIN), headers=[line]))
    assert told.startswith('--header: expected "name: value"')
