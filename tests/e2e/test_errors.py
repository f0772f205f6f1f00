"""What goes wrong upstream is the SDK's own typed exception, on every pair."""

from __future__ import annotations

from typing import Any

import anthropic
import httpx2
import openai
import pytest
from msgspec import Struct

from tests.e2e.configured import CLIENT_KEY, MAX_BODY_BYTES, UPSTREAM_KEY
from tests.e2e.conftest import Pair
from tests.e2e.conversation import Wanted
from tests.e2e.observed import HANGS, Observed
from tests.e2e.strict import StrictTransport


class Expected(Struct, frozen=True):
    status: int
    openai: type[openai.APIStatusError]
    anthropic: type[anthropic.APIStatusError]
    message: str

    def of(self, pair: Pair) -> type[Exception]:
        return self.anthropic if pair.client.protocol == "messages" else self.openai

    def check(self, error: Any) -> None:
        assert error.status_code == self.status
        assert self.message in message_of(error)


def message_of(error: Any) -> str:
    """What the error's body says, whichever SDK raised it."""
    assert isinstance(error, openai.APIStatusError | anthropic.APIStatusError)
    body: Any = error.body
    return str(body.get("error", body)["message"])


BUSY = "The engine is currently overloaded, please try again later."
OVERLOADED = {
    "chat": Expected(503, openai.InternalServerError, anthropic.ServiceUnavailableError, BUSY),
    "messages": Expected(529, openai.InternalServerError, anthropic.OverloadedError, "Overloaded"),
    "responses": Expected(503, openai.InternalServerError, anthropic.ServiceUnavailableError, BUSY),
}
EXPECTED = {
    "rate-limit": Expected(
        429,
        openai.RateLimitError,
        anthropic.RateLimitError,
        "Rate limit reached for requests.",
    ),
    "server-error": Expected(
        500,
        openai.InternalServerError,
        anthropic.InternalServerError,
        "The server had an error while processing your request.",
    ),
    "html-error": Expected(
        502, openai.InternalServerError, anthropic.InternalServerError, "502 Bad Gateway"
    ),
    "error-200": Expected(
        502, openai.InternalServerError, anthropic.InternalServerError, "Provider returned error"
    ),
}


@pytest.mark.parametrize("quirk", [*EXPECTED, "overloaded"])
def test_quirks(pair: Pair, stream: bool, quirk: str) -> None:
    expected = OVERLOADED[pair.upstream] if quirk == "overloaded" else EXPECTED[quirk]
    with pytest.raises(expected.of(pair)) as raised:
        pair.ask("hi", quirk, stream=stream)
    expected.check(raised.value)
    if quirk == "rate-limit":
        assert raised.value.response.headers["retry-after"] == "1"  # type: ignore[attr-defined]


def test_a_cut_answer_is_an_error(pair: Pair) -> None:
    expected = Expected(502, openai.InternalServerError, anthropic.InternalServerError, "upstream")
    with pytest.raises(expected.of(pair)) as raised:
        pair.ask("hi", "cut")
    expected.check(raised.value)


@pytest.mark.parametrize("quirk", ["cut", "error-mid-stream"])
def test_a_stream_that_breaks_off(pair: Pair, quirk: str) -> None:
    message = "upstream" if quirk == "cut" else MID_STREAM[pair.upstream]
    if pair.client.protocol == "responses":
        failed = last_event_of_responses(pair, quirk)
        assert failed.type == "response.failed"
        assert message in failed.response.error.message
        return
    error: Any = openai.APIError
    if pair.client.protocol == "messages":
        error = anthropic.APIStatusError
    with pytest.raises(error) as raised:
        pair.ask("one two three four", quirk, stream=True)
    said: Any = raised.value.body
    assert message in said.get("error", said)["message"]


MID_STREAM = {
    "chat": "The upstream failed in the middle of the stream.",
    "messages": "Overloaded",
    "responses": "The upstream failed in the middle of the stream.",
}


def last_event_of_responses(pair: Pair, quirk: str) -> Any:
    """The SDK raises nothing: its helper has no final response, and the last event says why."""
    sdk: Any = pair.client.sdk
    with sdk.responses.stream(model=pair.model(quirk), input="one two three four") as stream:
        events = list(stream)
        with pytest.raises(RuntimeError, match="Didn't receive a `response"):
            stream.get_final_response()
    assert any(event.type == "response.output_text.delta" for event in events)
    return events[-1]


def test_a_key_that_the_upstream_refuses(configured_pair: Pair, stream: bool) -> None:
    pair = Pair(configured_pair.client, f"badkey-{configured_pair.upstream}")
    expected = Expected(401, openai.AuthenticationError, anthropic.AuthenticationError, "key")
    with pytest.raises(expected.of(pair)) as raised:
        pair.ask("hi", stream=stream)
    expected.check(raised.value)


def test_keys_stay_on_their_side(configured_pair: Pair, demo: Observed) -> None:
    configured_pair.ask("hi")
    headers = demo.wait_for_request().headers
    assert UPSTREAM_KEY in (headers.get("x-api-key"), headers.get("authorization", "")[7:])
    assert CLIENT_KEY not in str(headers)


def test_a_client_without_the_gateways_key(
    configured_pair: Pair, heard: StrictTransport, demo: Observed
) -> None:
    url = str(configured_pair.client.sdk.base_url).removesuffix("/").removesuffix("/v1")
    stranger = type(configured_pair.client)(url, heard, key="another-key")
    expected = Expected(401, openai.AuthenticationError, anthropic.AuthenticationError, "key")
    with pytest.raises(expected.of(configured_pair)) as raised:
        Pair(stranger, configured_pair.upstream).ask("hi")
    expected.check(raised.value)
    assert demo.seen == []


def test_an_unknown_model(configured_pair: Pair, stream: bool) -> None:
    expected = Expected(404, openai.NotFoundError, anthropic.NotFoundError, "no-such-model")
    with pytest.raises(expected.of(configured_pair)) as raised:
        client = configured_pair.client
        client.ask("no-such-model", client.user("hi"), Wanted(), stream=stream)
    expected.check(raised.value)
    assert "demo" in message_of(raised.value)


def test_an_upstream_that_cannot_be_reached(configured_pair: Pair, stream: bool) -> None:
    pair = Pair(configured_pair.client, f"closed-{configured_pair.upstream}")
    expected = Expected(502, openai.InternalServerError, anthropic.InternalServerError, "upstream")
    with pytest.raises(expected.of(pair)) as raised:
        pair.ask("hi", stream=stream)
    expected.check(raised.value)


def test_an_upstream_that_says_nothing(configured_pair: Pair, stream: bool, demo: Observed) -> None:
    pair = Pair(configured_pair.client, f"impatient-{configured_pair.upstream}")
    expected = Expected(504, openai.InternalServerError, anthropic.GatewayTimeoutError, "0.1")
    with pytest.raises(expected.of(pair)) as raised:
        model = f"{pair.upstream}/{HANGS}"
        pair.client.ask(model, pair.client.user("hi"), Wanted(), stream=stream)
    expected.check(raised.value)
    assert demo.wait_for_request().over.wait(30), "it was not left"


def test_a_request_that_is_too_large(configured_pair: Pair, demo: Observed) -> None:
    if configured_pair.client.protocol == "messages":
        error: Any = anthropic.RequestTooLargeError
    else:
        error = openai.APIStatusError
    with pytest.raises(error) as raised:
        configured_pair.ask("x" * MAX_BODY_BYTES)
    assert raised.value.status_code == 413
    assert demo.seen == []


def test_a_mistake_of_the_clients(pair: Pair, stream: bool) -> None:
    expected = Expected(400, openai.BadRequestError, anthropic.BadRequestError, "temperature")
    wrong = {"extra_body": {"temperature": "hot"}}
    with pytest.raises(expected.of(pair)) as raised:
        pair.ask("hi", stream=stream, more=wrong)
    expected.check(raised.value)


def test_what_cannot_be_carried_is_refused_where_that_is_asked_for(configured_pair: Pair) -> None:
    client, upstream = configured_pair.client, configured_pair.upstream
    if client.protocol == upstream:
        assert Pair(client, f"rejecting-{upstream}").ask("hi").text
        return
    field, extra = UNCARRIED[client.protocol]
    expected = Expected(400, openai.BadRequestError, anthropic.BadRequestError, field)
    with pytest.raises(expected.of(configured_pair)) as raised:
        Pair(client, f"rejecting-{upstream}").ask("hi", more={"extra_body": extra})
    expected.check(raised.value)


UNCARRIED: dict[str, tuple[str, dict[str, Any]]] = {
    "chat": ("logit_bias", {"logit_bias": {"50256": -100}}),
    "messages": ("top_k", {"top_k": 7}),
    "responses": ("tools[0]", {"tools": [{"type": "web_search"}]}),
}


def test_what_cannot_be_carried_is_told(crossing: Pair, heard: StrictTransport) -> None:
    field, extra = UNCARRIED[crossing.client.protocol]
    assert crossing.ask("hi", more={"extra_body": extra}).text
    assert heard.heard[-1].headers["x-toolwire-dropped"] == field


def test_retries_until_it_is_answered(
    configured_pair: Pair, demo: Observed, heard: StrictTransport, stream: bool
) -> None:
    """The SDK asks again, the gateway does not do so behind its back."""
    url = str(configured_pair.client.sdk.base_url).removesuffix("/").removesuffix("/v1")
    patient = type(configured_pair.client)(url, heard, key=CLIENT_KEY, max_retries=2)
    demo.failures = 2
    assert Pair(patient, configured_pair.upstream).ask("hi", stream=stream).text
    assert len(demo.seen) == 3
    assert [one.status for one in heard.heard] == [429, 429, 200]
    assert heard.heard[0].headers["retry-after"] == "0.02"
    assert isinstance(heard.heard[0].headers, httpx2.Headers)
