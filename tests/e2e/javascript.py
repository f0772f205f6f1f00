"""Runs a suite of the JavaScript clients (`tests/e2e/node`) against a gateway."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.proxy.gateway import GUARD_SECONDS

FOLDER = Path(__file__).with_name("node")
_OLDEST = 20
_COUNT = re.compile(r"^# (tests|pass|skipped) (\d+)$", re.MULTILINE)


def run_suite(file: str, url: str) -> None:
    """Fails with what the suite printed unless all of its tests passed.

    Skips, and says why, where Node.js or its packages are not there.
    """
    node = shutil.which("node")
    if node is None:
        pytest.skip("Node.js (node) was not found")
    version = subprocess.run([node, "--version"], capture_output=True, text=True, check=True)
    if int(version.stdout.removeprefix("v").split(".")[0]) < _OLDEST:
        pytest.skip(f"Node.js {version.stdout.strip()} is older than {_OLDEST}")
    if not (FOLDER / "node_modules").is_dir():
        pytest.skip("tests/e2e/node/node_modules is not there: `make node` installs it")
    done = subprocess.run(
        [node, "--test-reporter=tap", file],
        cwd=FOLDER,
        env={**os.environ, "TOOLWIRE_URL": url},
        capture_output=True,
        text=True,
        timeout=4 * GUARD_SECONDS,
    )
    counts = {name: int(number) for name, number in _COUNT.findall(done.stdout)}
    told = done.stdout + done.stderr
    assert done.returncode == 0, told
    assert counts["pass"] == counts["tests"] > 0, told
    assert "Warning" not in done.stderr, told
