"""Which rules make up a profile, and that the known providers are what the contract says."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable

import pytest

from tests.config.conftest import UPSTREAM, Read
from toolwire.config.profile import Profile
from toolwire.config.providers import PROVIDERS_FILE, known_providers
from toolwire.config.resolution import REMEMBERED_MODELS, ProfileRules, Rule

PROVIDERS = (
    "generic openai anthropic bailian deepseek moonshot zhipu minimax volcengine openrouter groq "
    "mistral xai vllm sglang llamacpp ollama"
).split()


Resolve = Callable[..., Profile]


@pytest.fixture
def profile(read: Read) -> Resolve:
    """`profile("bailian", "qwen-plus")`, with more in the file and in the upstream's table."""

    def profile(
        provider: str,
        model: str = "demo-model",
        text: str = "",
        own: str = "",
        protocol: str = "chat",
    ) -> Profile:
        upstream = UPSTREAM.replace("chat", protocol) + f'provider = "{provider}"\n' + own
        return read(text + upstream).upstreams[0].profile_for(model)

    return profile


# -- resolution ------------------------------------------------------------------------------------


def test_rules_apply_one_after_the_other() -> None:
    rules = ProfileRules(
        (
            Rule("*", {"stop_max": 1, "strict": False}),
            Rule("big-*", {"stop_max": 2}),
            Rule("*-NEW", {"stop_max": 3}),
        )
    )
    chosen = {m: rules.for_model(m).stop_max for m in ("x", "big-1", "BIG-new", "big-1-new-x")}
    assert chosen == {"x": 1, "big-1": 2, "BIG-new": 3, "big-1-new-x": 2}
    assert rules.for_model("BIG-new").strict is False


def test_profiles_are_remembered_within_bounds() -> None:
    rules = ProfileRules((Rule("*", {"strict": False}),))
    assert rules.for_model("a") is rules.for_model("a")
    for number in range(2 * REMEMBERED_MODELS):
        rules.for_model(str(number))
    assert rules.for_model.cache_info().currsize == REMEMBERED_MODELS


LAYERS = [
    ("", "", 0),
    ("[providers.vllm]\nstop_max = 1\n", "", 1),
    ('[models."qw*"]\nstop_max = 2\n', "", 2),
    ('[providers.vllm.models."qwen*"]\nstop_max = 3\n', "", 3),
    ("", "[upstreams.profile]\nstop_max = 4\n", 4),
    ("", '[upstreams.profile.models."q*"]\nstop_max = 5\n', 5),
]


@pytest.mark.parametrize("said", range(len(LAYERS)))
def test_the_nearer_rule_wins(profile: Resolve, said: int) -> None:
    text = "".join(layer[0] for layer in LAYERS[: said + 1])
    own = "".join(layer[1] for layer in LAYERS[: said + 1])
    assert profile("vllm", "Qwen3", text, own).stop_max == LAYERS[said][2]


def test_ones_own_word_on_a_provider_wins_over_the_known_models(profile: Resolve) -> None:
    assert profile("vllm", "deepseek-v3").reasoning_history == "current_turn"
    text = '[providers.vllm]\nreasoning_history = "keep"\n'
    assert profile("vllm", "deepseek-v3", text).reasoning_history == "keep"
    assert profile("generic", "deepseek-v3", text).reasoning_history == "current_turn"


def test_a_provider_of_ones_own(profile: Resolve) -> None:
    text = """
        [providers.mine]
        like = "openai"
        developer_role = false
        [providers.ours]
        like = "mine"
        stop_max = 1
        [providers.plain]
        strict = false
    """
    mine, ours, plain = (profile(name, text=text) for name in ("mine", "ours", "plain"))
    assert (mine.max_tokens_field, mine.developer_role, mine.stop_max) == (
        "max_completion_tokens",
        False,
        4,
    )
    assert (ours.max_tokens_field, ours.developer_role, ours.stop_max) == (
        "max_completion_tokens",
        False,
        1,
    )
    assert (plain.max_tokens_field, plain.strict) == ("max_tokens", False)


def test_an_empty_text_takes_a_rule_back(profile: Resolve) -> None:
    own = '[upstreams.profile]\nreasoning_missing_error = ""\n'
    assert profile("deepseek", own=own).reasoning_missing_error == ""


# -- the known providers ---------------------------------------------------------------------------


def test_all_providers_are_known(profile: Resolve) -> None:
    assert list(known_providers().providers) == PROVIDERS
    assert profile("generic") == Profile()


@pytest.mark.parametrize("provider", PROVIDERS)
def test_reasoning_is_stripped_but_where_it_is_wanted_back(profile: Resolve, provider: str) -> None:
    wanted = {
        "deepseek": "current_turn",
        "moonshot": "tool_turns",
        "zhipu": "current_turn",
        "minimax": "keep",
        "openrouter": "tool_turns",
    }
    assert profile(provider).reasoning_history == wanted.get(provider, "strip")


@pytest.mark.parametrize("provider", ["generic", "bailian", "vllm", "groq", "openrouter"])
@pytest.mark.parametrize("model", ["deepseek-chat", "DeepSeek-V3.2", "deepseek/deepseek-r1:free"])
def test_a_deepseek_model_is_one_wherever_it_is_served(
    profile: Resolve, provider: str, model: str
) -> None:
    found = profile(provider, model)
    assert found.reasoning_history == "current_turn"
    assert found.reasoning_missing_error == profile("deepseek").reasoning_missing_error


@pytest.mark.parametrize(
    ("provider", "message", "fits"),
    [
        (
            "deepseek",
            "The `reasoning_content` in the thinking mode must be passed back to the API.",
            1,
        ),
        ("deepseek", "Missing `reasoning_content` field in the assistant message at index 1", 1),
        ("deepseek", "Invalid max_tokens value", 0),
        ("deepseek", "reasoning_content is too long", 0),
        (
            "moonshot",
            "thinking is enabled but reasoning_content is missing in assistant tool call message",
            1,
        ),
        ("moonshot", "tool_choice 'required' is incompatible with thinking enabled", 0),
    ],
)
def test_missing_reasoning_is_recognized(
    profile: Resolve, provider: str, message: str, fits: int
) -> None:
    assert bool(re.search(profile(provider).reasoning_missing_error, message)) == bool(fits)


def test_bailian_refuses_a_forced_choice_while_thinking(profile: Resolve) -> None:
    found = profile("bailian", "qwen-plus")
    assert found.forced_choice_refused_while_thinking
    assert (found.thinking_switch, found.thinking_optional) == ("enable_thinking", True)
    assert not profile("bailian", "qwen3-235b-a22b-thinking-2507").thinking_optional
    assert not profile("bailian", "qwq-plus").thinking_optional


def test_openai_and_its_models_elsewhere(profile: Resolve) -> None:
    openai = profile("openai", "gpt-4o")
    assert openai.max_tokens_field == "max_completion_tokens"
    assert openai.developer_role and openai.strict and openai.custom_tools
    assert (openai.tool_name_max, openai.stop_max) == (64, 4)
    for model in ("o1-mini", "o3", "o4-mini", "gpt-5", "gpt-5.2", "gpt-5-mini"):
        assert profile("generic", model).max_tokens_field == "max_completion_tokens"
    assert profile("generic", "gpt-4o").max_tokens_field == "max_tokens"
    assert "temperature" in profile("openai", "gpt-5-mini").refused_fields
    assert "temperature" not in profile("openai", "gpt-5.1").refused_fields


@pytest.mark.parametrize(
    ("model", "thinking", "temperature", "forced"),
    [
        ("claude-3-5-sonnet-latest", "budget", True, True),
        ("claude-sonnet-4-20250514", "budget", True, True),
        ("claude-opus-4@20250514", "budget", True, True),
        ("claude-opus-4-1", "budget", True, True),
        ("claude-haiku-4-5-20251001", "budget", True, True),
        ("anthropic.claude-opus-4-6-v1", "adaptive", True, True),
        ("claude-opus-4-7", "adaptive", False, True),
        ("claude-sonnet-5", "adaptive", False, True),
        ("claude-haiku-5-5", "adaptive", False, True),
        ("claude-fable-5-1", "adaptive", False, False),
    ],
)
def test_how_claude_is_told_to_think(
    profile: Resolve, model: str, thinking: str, temperature: bool, forced: bool
) -> None:
    found = profile("anthropic", model, protocol="messages")
    assert found.messages_thinking == thinking
    assert ("temperature" not in found.refused_fields) == temperature
    assert ("required" in found.tool_choices) == forced


@pytest.mark.parametrize("provider", ["generic", "anthropic", "openrouter", "deepseek"])
def test_what_the_protocol_messages_says_itself(profile: Resolve, provider: str) -> None:
    found = profile(provider, protocol="messages")
    assert found.temperature_max == 1.0
    assert found.forced_choice_refused_while_thinking
    assert found.headers == {"anthropic-version": "2023-06-01"}
    assert re.fullmatch(found.tool_id_pattern, "toolu_01-A")
    assert not re.fullmatch(found.tool_id_pattern, "call.1")
    assert profile(provider).headers == {}


def test_an_upstream_has_the_last_word_on_its_protocol(profile: Resolve) -> None:
    own = "[upstreams.profile]\ntemperature_max = 2.0\n"
    assert profile("anthropic", own=own, protocol="messages").temperature_max == 2.0


def test_ids_that_mistral_takes(profile: Resolve) -> None:
    pattern = profile("mistral").tool_id_pattern
    assert re.fullmatch(pattern, "aB3dE6gH9")
    assert not re.fullmatch(pattern, "call_1234")
    assert profile("mistral").max_tokens_field == "max_tokens"


@pytest.mark.parametrize("provider", PROVIDERS)
def test_patterns_and_efforts_are_usable(profile: Resolve, provider: str) -> None:
    for model in ("demo-model", "deepseek-r1", "gpt-5", "claude-opus-5", "kimi-k3", "grok-4"):
        found = profile(provider, model)
        for pattern in (found.tool_name_pattern, found.tool_id_pattern):
            re.compile(pattern)
        assert len(set(found.efforts)) == len(found.efforts)
        assert "auto" in found.tool_choices


def test_each_rule_of_a_known_provider_names_its_document() -> None:
    undocumented, document = [], False
    for number, line in enumerate(PROVIDERS_FILE.read_text("utf-8").splitlines(), 1):
        code, _, comment = line.partition("#")
        if code.startswith("["):
            document = False
        document = document or "https://" in comment or "as " in comment
        if " = " in code and not code.startswith(" ") and not document:
            undocumented.append((number, line))
    assert undocumented == []
    assert tomllib.loads(PROVIDERS_FILE.read_text("utf-8"))
