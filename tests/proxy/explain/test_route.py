"""Which upstream is asked, and why."""

from __future__ import annotations

import json

import pytest

from tests.proxy.explain.samples import ANSWERS, REQUESTS, explained
from toolwire.config.load import loads
from toolwire.config.model import Settings
from toolwire.proxy.explain.explanation import Explanation
from toolwire.proxy.explain.given import InputError
from toolwire.proxy.stack import OPTIONS

SEVERAL = """
[[upstreams]]
name = "claude"
protocol = "messages"
base_url = "https://claude.invalid"
models = ["claude-*"]

[[upstreams]]
name = "qwen"
protocol = "chat"
provider = "bailian"
base_url = "https://qwen.invalid"
models = ["qwen*"]

[[upstreams]]
name = "rest"
protocol = "chat"
base_url = "https://rest.invalid"
models = ["*"]
"""


@pytest.fixture
def several() -> Settings:
    return loads(SEVERAL, environ={}, options=OPTIONS)


async def asked(
    model: str, several: Settings, upstream: str | None = None, answer: str | None = None
) -> Explanation:
    recorded = ANSWERS[answer] if answer else None
    request = {**REQUESTS["chat"], "model": model}
    return await explained(request, several, recorded, upstream=upstream)


@pytest.mark.parametrize(
    ("model", "upstream", "goes_up_as", "why", "fallbacks"),
    [
        (
            "qwen-max",
            "qwen",
            "qwen-max",
            'it is the first whose models fit "qwen-max" ("qwen*")',
            ["rest"],
        ),
        ("gpt", "rest", "gpt", 'it is the first whose models fit "gpt" ("*")', []),
        (
            "claude/qwen-max",
            "claude",
            "qwen-max",
            'the model "claude/qwen-max" names it, and the prefix is taken off',
            [],
        ),
        ("acme/x", "rest", "acme/x", 'it is the first whose models fit "acme/x" ("*")', []),
    ],
)
async def test_the_model_chooses(
    model: str, upstream: str, goes_up_as: str, why: str, fallbacks: list[str], several: Settings
) -> None:
    told = await asked(model, several)
    assert told.route is not None
    assert (told.route.upstream, told.route.model) == (upstream, goes_up_as)
    assert (told.route.why, told.route.fallbacks) == (why, fallbacks)
    assert json.loads(told.sent[0].body)["model"] == goes_up_as
    assert told.sent[0].url.startswith(f"https://{upstream}.invalid/v1/")


async def test_a_prefix_that_is_taken_off_is_routings_change(several: Settings) -> None:
    told = await asked("claude/m", several)
    (routing,) = [step for step in told.steps if step.layer == "routing"]
    assert routing.body is not None
    assert [line for line in routing.body.diff if line[0] in "+-"] == [
        '-  "model": "claude/m",',
        '+  "model": "m",',
    ]


async def test_an_upstream_that_is_named_is_asked_for_any_model(several: Settings) -> None:
    told = await asked("gpt", several, "qwen")
    assert told.route is not None
    assert (told.route.upstream, told.route.provider) == ("qwen", "bailian")
    assert (told.route.why, told.route.fallbacks) == ("--upstream names it", [])


async def test_a_name_that_is_none_is_told(several: Settings) -> None:
    with pytest.raises(InputError) as caught:
        await asked("gpt", several, "qwenn")
    assert str(caught.value) == (
        '--upstream: expected the name of an upstream ("claude", "qwen" or "rest"), got "qwenn"; '
        'did you mean "qwen"?'
    )


async def test_a_recorded_answer_comes_of_an_upstream_that_speaks_its_protocol(
    several: Settings,
) -> None:
    told = await asked("claude-x", several, answer="messages")
    assert told.route is not None
    assert told.route.upstream == "claude"
    assert told.route.why == (
        'it speaks messages, as the recorded answer does, and its models fit "claude-x" '
        '("claude-*")'
    )
    assert told.notes == []


async def test_an_answer_of_another_protocol_than_the_upstreams_is_noted(
    several: Settings,
) -> None:
    note = "the recorded answer looks like one of messages, and upstream qwen speaks chat"
    told = await asked("qwen-max", several, "qwen", "messages")
    assert told.notes == [note]
    told = await asked("qwen-max", several, answer="responses")
    assert told.route is not None
    assert told.route.upstream == "qwen"
    assert told.notes == [note.replace("of messages", "of responses")]


async def test_a_model_that_nobody_serves_is_refused_as_the_client_gets_it(
    several: Settings,
) -> None:
    told = await asked("qwen-max", several, answer="messages")
    assert (told.route, told.sent) == (None, [])
    assert told.reply is not None
    assert (told.reply.by, told.reply.status, told.reply.refuses) == ("routing", 404, True)
    error = json.loads(told.reply.body)["error"]
    assert error["code"] == "model_not_found"
