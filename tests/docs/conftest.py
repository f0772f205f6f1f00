"""A running demo, and a place where snippets find what they name."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.gateway import RunningGateway, running
from tests.proxy.gateway import NAMESPACE

SHOWN_URL = "http://127.0.0.1:8080"
"""Where the texts say that the demo listens."""

TOOLWIRE = f"""\
#!/bin/sh
PYTHONPATH={NAMESPACE} exec {sys.executable} -m toolwire.proxy "$@"
"""

CLAUDE = f"""\
#!{sys.executable}
import os
from anthropic import Anthropic
for name in ("ANTHROPIC_MODEL", "ANTHROPIC_DEFAULT_HAIKU_MODEL"):
    question = [{{"role": "user", "content": "Hello"}}]
    answer = Anthropic().messages.create(model=os.environ[name], max_tokens=99, messages=question)
    print(answer.content[0].text)
"""
"""Stands in for Claude Code: asks with nothing but what its environment says."""


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningGateway]:
    """`toolwire demo`."""
    with running("demo", state=tmp_path_factory.mktemp("state")) as gateway:
        yield gateway


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    """For a process that finds `toolwire` and `claude`, and no proxy on its way to the demo."""
    programs = tmp_path / "bin"
    programs.mkdir()
    for name, text in (("toolwire", TOOLWIRE), ("claude", CLAUDE)):
        program = programs / name
        program.write_text(text, "utf-8")
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
    kept = {name: value for name, value in os.environ.items() if "proxy" not in name.lower()}
    return {**kept, "PATH": f"{programs}:{os.environ['PATH']}", "HOME": str(tmp_path)}
