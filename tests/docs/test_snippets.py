"""What the README says to type is typed, and does what is written under it."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.docs.conftest import SHOWN_URL
from tests.docs.markdown import ROOT, Block, blocks
from tests.e2e.gateway import RunningGateway
from tests.proxy.gateway import GUARD_SECONDS

NODE_MODULES = ROOT / "tests/e2e/node/node_modules"
SHELL = [block for block in blocks("sh") if not block.text.startswith("make ")]
PYTHON = [block for block in blocks("python") if block.section == "SDKs"]
NODE = blocks("js")
CLIENTS = {"openai", "anthropic", "@anthropic-ai/sdk"}


def run(
    command: list[str], folder: Path, environ: dict[str, str], timeout: int = GUARD_SECONDS
) -> str:
    """What a command prints; it has to succeed."""
    done = subprocess.run(
        command, cwd=folder, env=environ, capture_output=True, text=True, timeout=timeout
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.replace("\r", "")


def covers(shown: Any, found: Any) -> bool:
    """Whether ``found`` has all that is shown; "…" stands for any text."""
    match shown:
        case dict():
            return isinstance(found, dict) and all(
                key in found and covers(value, found[key]) for key, value in shown.items()
            )
        case list():
            return (
                isinstance(found, list)
                and len(shown) == len(found)
                and all(map(covers, shown, found))
            )
        case "…":
            return isinstance(found, str) and found != ""
    return type(shown) is type(found) and bool(shown == found)


def matches(shown: str, printed: str) -> bool:
    """Whether this is printed; "…" stands for anything."""
    parts = [re.escape(part.strip("\n")) for part in shown.strip().split("…")]
    return re.fullmatch(r"(?s:.*?)".join(parts), printed.strip()) is not None


@pytest.mark.parametrize("block", SHELL, ids=str)
def test_a_command(
    block: Block, demo: RunningGateway, tmp_path: Path, environ: dict[str, str]
) -> None:
    for program in ("bash", "curl"):
        if program in ("bash", *block.text.split()) and shutil.which(program) is None:
            pytest.skip(f"{program} is not installed")
    if "toolwire.toml" in block.text:
        configuration = own_upstreams()
        (tmp_path / "toolwire.toml").write_text(configuration.text, "utf-8")
        environ |= dict.fromkeys(re.findall(r"\$\{(\w+)\}", configuration.text), "sk-secret")
    text = block.text.replace(SHOWN_URL, demo.url)
    printed = run(["bash", "-euo", "pipefail", "-c", text], tmp_path, environ)
    if block.output_language == "json":
        assert covers(json.loads(block.output), json.loads(printed)), printed
    elif block.output_language == "text":
        assert matches(block.output, printed), printed
    else:  # the stand-in for Claude Code
        assert "claude -p" in block.text
        assert printed.count("Hello") == 2


def own_upstreams() -> Block:
    """The README's example of a configuration."""
    (found,) = (block for block in blocks("toml") if block.section == "Your own upstreams")
    return found


def test_each_command_but_one_shows_what_it_prints() -> None:
    assert len(SHELL) >= 7
    assert len([block for block in SHELL if not block.output]) == 1


def loop_output() -> str:
    """What each program of the SDKs prints."""
    shown, *_ = (block for block in blocks("text") if block.section == "SDKs")
    return shown.text * 2


@pytest.mark.parametrize("block", PYTHON, ids=str)
def test_a_python_program(
    block: Block, demo: RunningGateway, tmp_path: Path, environ: dict[str, str]
) -> None:
    program = tmp_path / "loop.py"
    program.write_text(block.text.replace(SHOWN_URL, demo.url), "utf-8")
    assert run([sys.executable, str(program)], tmp_path, environ) == loop_output()


@pytest.mark.node
@pytest.mark.parametrize("block", NODE, ids=str)
def test_a_node_program(
    block: Block, demo: RunningGateway, tmp_path: Path, environ: dict[str, str]
) -> None:
    if shutil.which("node") is None:
        pytest.skip("node is not installed")
    if not NODE_MODULES.is_dir():
        pytest.skip(f"{NODE_MODULES.relative_to(ROOT)} is not there: make test installs it")
    (tmp_path / "node_modules").symlink_to(NODE_MODULES)
    program = tmp_path / "loop.mjs"
    program.write_text(block.text.replace(SHOWN_URL, demo.url), "utf-8")
    assert run(["node", str(program)], tmp_path, environ) == loop_output()


def test_programs_and_commands_cross_protocols() -> None:
    """Of each client some program, and no program or command that crosses nothing."""
    imported = re.findall(r"^(?:from|import .* from) ?\"?([@\w/-]+)", _texts(PYTHON + NODE), re.M)
    assert CLIENTS <= set(imported)
    assert [str(block) for block in PYTHON + NODE + SHELL if not _crosses(block)] == []


def _texts(found: list[Block]) -> str:
    return "\n".join(block.text for block in found)


def _crosses(block: Block) -> bool:
    spoken = {
        "chat": ("/chat/completions", "chat.completions", "explain"),
        "messages": ("/v1/messages", ".messages.create", "claude"),
        "responses": ("/v1/responses", ".responses.create"),
    }
    asked = re.search(r"\b(chat|messages|responses)/demo", block.text)
    if asked is None:
        return "toolwire check" in block.text
    clients = [name for name, marks in spoken.items() if any(m in block.text for m in marks)]
    return len(clients) == 1 and clients != [asked[1]]
