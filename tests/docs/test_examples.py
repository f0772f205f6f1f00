"""The examples that are files: configurations are loaded, apps and middlewares run."""

from __future__ import annotations

import json
import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from openai import AsyncOpenAI

from tests.asgi import Upstream, ask
from tests.docs.conftest import SHOWN_URL
from tests.docs.markdown import DOCS, README, ROOT, Block, blocks
from tests.e2e.gateway import RunningGateway
from toolwire.config.load import load
from toolwire.config.model import Settings
from toolwire.proxy.stack import OPTIONS, fold, inner_layers

CODEX = "# ~/.codex/config.toml"
TOML = blocks("toml", files=(README, *DOCS))
FILES = [
    block
    for block in blocks("python", files=(README, ROOT / "docs/middlewares.md"))
    if block.section != "SDKs"
]
CHAT = "/v1/chat/completions"


def name_of(block: Block) -> str:
    """Its file, which its first line names."""
    named = re.match(r"# (\w+\.py)\b", block.text)
    assert named, block
    return named[1]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder with these files, which can be imported; the current one."""
    for block in FILES:
        (tmp_path / name_of(block)).write_text(block.text, "utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    yield tmp_path
    for block in FILES:
        sys.modules.pop(name_of(block).removesuffix(".py"), None)


def settings(text: str, folder: Path) -> Settings:
    """What the gateway makes of a configuration; a mistake in it fails the test."""
    (folder / "toolwire.toml").write_text(text, "utf-8")
    environ = dict.fromkeys(re.findall(r"\$\{(\w+)\}", text), "sk-secret")
    return load(folder / "toolwire.toml", environ=environ, options=OPTIONS)


@pytest.mark.parametrize("block", [b for b in TOML if not b.text.startswith(CODEX)], ids=str)
def test_a_configuration_loads(block: Block, folder: Path) -> None:
    loaded = settings(block.text, folder)
    assert len(loaded.upstreams) == block.text.count("[[upstreams]]")


def test_the_readme_shows_the_upstreams_that_most_people_have(folder: Path) -> None:
    text = next(block.text for block in TOML if block.section == "Your own upstreams")
    loaded = settings(text, folder)
    providers = {upstream.provider for upstream in loaded.upstreams}
    assert providers == {"bailian", "deepseek", "openai", "anthropic", "vllm"}
    assert {upstream.protocol for upstream in loaded.upstreams} == {"chat", "messages", "responses"}


async def test_codex_finds_a_model_with_the_file_that_is_shown(demo: RunningGateway) -> None:
    (block,) = (block for block in TOML if block.text.startswith(CODEX))
    file = tomllib.loads(block.text.replace(SHOWN_URL, demo.url))
    provider = file["model_providers"][file["model_provider"]]
    assert provider["wire_api"] == "responses"
    async with AsyncOpenAI(base_url=provider["base_url"], api_key="any") as client:
        answer = await client.responses.create(model=file["model"], input="Hello")
    assert "Hello" in answer.output_text


async def test_the_app_that_mounts_the_gateway_and_one_middleware(
    folder: Path, demo: RunningGateway
) -> None:
    (folder / "toolwire.toml").write_text(
        f'[[upstreams]]\nname = "demo"\nprotocol = "messages"\nbase_url = "{demo.url}"\n', "utf-8"
    )
    names: dict[str, Any] = {}
    exec((folder / "app.py").read_text("utf-8"), names)
    app = names["app"]
    body = {"model": "chat/demo", "messages": [{"role": "user", "content": "Hello"}]}
    async with app.router.lifespan_context(app):
        gateway = await ask(app, f"/llm{CHAT}", body)
        own = await ask(app, f"/own{CHAT}", b'{"model": "m", "messages": []}')
    assert gateway.status == 200
    assert "Hello" in gateway.json()["choices"][0]["message"]["content"]
    assert own.body == b'{"messages":[],"model":"m"}'


@pytest.mark.parametrize(("team", "user"), [("blue", "blue"), (None, "guest")])
async def test_the_middleware_of_ones_own(folder: Path, team: str | None, user: str) -> None:
    (text,) = (block.text for block in TOML if "team_user:TeamUser" in block.text)
    loaded = settings(text, folder)
    model = Upstream(b'{"choices": []}')
    app = fold(inner_layers(loaded, loaded.upstreams[0]), model)
    headers = {"x-team": team} if team else {}
    await ask(app, CHAT, {"model": "m", "messages": []}, headers=headers)
    assert json.loads(model.bodies[0])["user"] == user
