"""The files of deploy/ as tests read them, and the tools that check them where they are there."""

from __future__ import annotations

import re
import shutil
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from toolwire.config.load import load
from toolwire.config.model import Settings
from toolwire.proxy.stack import OPTIONS

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
README = (DEPLOY / "README.md").read_text("utf-8")
VERSION = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]

ENVIRON = {
    "DASHSCOPE_API_KEY": "sk-bailian",
    "DEEPSEEK_API_KEY": "sk-deepseek",
    "ANTHROPIC_API_KEY": "sk-anthropic",
    "TOOLWIRE_CLIENT_KEY": "client-key",
}
"""What the texts tell a reader to set."""

END_SECONDS = 5
"""What the gateway may need to end beside `drain_seconds` (GRACE_SECONDS of its workers)."""


def documents(path: str) -> list[Any]:
    """The YAML documents of a file in deploy/."""
    return list(yaml.safe_load_all((DEPLOY / path).read_text("utf-8")))


def document(path: str) -> Any:
    """The only YAML document of a file in deploy/."""
    (found,) = documents(path)
    return found


def settings(file: Path, environ: dict[str, str]) -> Settings:
    """What the gateway makes of a configuration; a mistake in it fails the test."""
    return load(file, environ=environ, options=OPTIONS)


def code_blocks(language: str) -> list[str]:
    """The README's blocks of code in one language."""
    return re.findall(rf"^```{language}\n(.*?)^```", README, re.DOTALL | re.MULTILINE)


def seconds(text: str) -> float:
    """`40s` in seconds."""
    return float(text.removesuffix("s"))


def tool(name: str, package: str) -> str:
    """The path of a program; without it the test is skipped."""
    found = shutil.which(name)
    if found is None:
        pytest.skip(f"{name} is not installed ({package})")
    return found
