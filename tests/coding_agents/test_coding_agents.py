"""Coding agents run a tool loop to its end on an upstream of each protocol.

Each is the program that people install, with the settings that the README names, against the demo
upstream: it has the agent call its tools, gets their results, and says that they were run.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.e2e.gateway import RunningGateway, running
from tests.proxy.gateway import GUARD_SECONDS

pytestmark = pytest.mark.coding_agent

PROGRAMS = Path(__file__).with_name("node_modules") / ".bin"
TASK = "Run the tests."
CODEX = """\
model = "{model}"
model_provider = "toolwire"

[model_providers.toolwire]
name = "toolwire"
base_url = "{url}/v1"
wire_api = "responses"
"""

Settings = dict[str, str]
"""Environment variables."""

Agent = Callable[[Path, str, str], tuple[list[str], Settings]]
"""The command and its settings, for a home, the gateway's URL and a model."""


def claude_code(home: Path, url: str, model: str) -> tuple[list[str], Settings]:
    return ["claude", "-p", TASK], {
        "ANTHROPIC_BASE_URL": url,
        "ANTHROPIC_AUTH_TOKEN": "any",
        "ANTHROPIC_MODEL": model,
        "ANTHROPIC_DEFAULT_HAIKU_MODEL": model,
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    }


def codex(home: Path, url: str, model: str) -> tuple[list[str], Settings]:
    config = home / ".codex" / "config.toml"
    config.parent.mkdir()
    config.write_text(CODEX.format(model=model, url=url))
    return ["codex", "exec", "--skip-git-repo-check", TASK], {}


def opencode(home: Path, url: str, model: str) -> tuple[list[str], Settings]:
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "options": {"baseURL": f"{url}/v1", "apiKey": "any"},
        "models": {model: {"name": model}},
    }
    config = home / ".config" / "opencode" / "opencode.json"
    config.parent.mkdir(parents=True)
    config.write_text(json.dumps({"provider": {"toolwire": provider}, "autoupdate": False}))
    return ["opencode", "run", "-m", f"toolwire/{model}", TASK], {}


def qwen_code(home: Path, url: str, model: str) -> tuple[list[str], Settings]:
    return ["qwen", "--auth-type", "openai", "-p", TASK], {
        "OPENAI_BASE_URL": f"{url}/v1",
        "OPENAI_API_KEY": "any",
        "OPENAI_MODEL": model,
    }


def pi(api: str, path: str) -> Agent:
    """An agent that speaks all three protocols."""

    def settings(home: Path, url: str, model: str) -> tuple[list[str], Settings]:
        provider = {"baseUrl": url + path, "api": api, "apiKey": "any", "models": [{"id": model}]}
        config = home / ".pi" / "agent" / "models.json"
        config.parent.mkdir(parents=True)
        config.write_text(json.dumps({"providers": {"toolwire": provider}}))
        return ["pi", "-p", "--provider", "toolwire", "--model", model, TASK], {}

    return settings


AGENTS: dict[str, tuple[str, Agent]] = {
    "claude code": ("messages", claude_code),
    "codex": ("responses", codex),
    "opencode": ("chat", opencode),
    "qwen code": ("chat", qwen_code),
    "pi, chat": ("chat", pi("openai-completions", "/v1")),
    "pi, messages": ("messages", pi("anthropic-messages", "")),
    "pi, responses": ("responses", pi("openai-responses", "/v1")),
}
"""Each with the protocol that it speaks."""


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningGateway]:
    with running("demo", state=tmp_path_factory.mktemp("state")) as gateway:
        yield gateway


@pytest.mark.parametrize("upstream", ["chat", "messages", "responses"])
@pytest.mark.parametrize("agent", AGENTS)
def test_a_tool_loop_ends(
    gateway: RunningGateway, tmp_path: Path, agent: str, upstream: str
) -> None:
    if not PROGRAMS.is_dir():
        pytest.skip("tests/coding_agents/node_modules is not there: `make test-agents` installs it")
    home, work = tmp_path / "home", tmp_path / "work"
    home.mkdir()
    work.mkdir()
    client, settings_for = AGENTS[agent]
    command, settings = settings_for(home, gateway.url, f"{upstream}/demo")
    earlier = len(gateway.events("request"))
    done = subprocess.run(
        [str(PROGRAMS / command[0]), *command[1:]],
        cwd=work,
        env={"PATH": os.environ["PATH"], "HOME": str(home), "LANG": "C.UTF-8", **settings},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=4 * GUARD_SECONDS,
    )
    told = done.stdout + done.stderr
    assert done.returncode == 0, told
    assert "The tools were run." in told
    asked = gateway.events("request")[earlier:]
    assert len(asked) >= 2, told
    assert {(line["client"], line["upstream"]) for line in asked} == {(client, upstream)}
    assert {line["status"] for line in asked} == {200}, told
