"""The fields that the demo takes are those that the official clients may send."""

from __future__ import annotations

from anthropic.types import message_create_params
from anthropic.types.beta import message_create_params as beta_params
from openai.types.responses import response_create_params

from toolwire.proxy.demo.messages import check as messages
from toolwire.proxy.demo.responses import check as responses


def test_messages() -> None:
    bodies = [
        message_create_params.MessageCreateParamsBase,
        message_create_params.MessageCreateParamsStreaming,
        beta_params.MessageCreateParamsBase,
    ]
    fields = {name for body in bodies for name in body.__annotations__}
    assert fields - messages.KNOWN == {"betas"}  # sent as a header


def test_responses() -> None:
    bodies = [
        response_create_params.ResponseCreateParamsBase,
        response_create_params.ResponseCreateParamsStreaming,
    ]
    assert {name for body in bodies for name in body.__annotations__} <= responses.KNOWN
