"""toolwire.service fits its configuration and the paths that the README installs."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from tests.deploy.files import DEPLOY, END_SECONDS, README, settings, tool

UNIT = DEPLOY / "systemd" / "toolwire.service"
TEXT = UNIT.read_text("utf-8")


def directives(name: str) -> list[str]:
    """What the unit says under one name."""
    return re.findall(rf"^{name}=(.*)$", TEXT, re.MULTILINE)


def test_the_configuration_loads_with_the_credentials_of_the_unit(tmp_path: Path) -> None:
    credentials = dict(found.split(":") for found in directives("LoadCredential"))
    for name in credentials:
        (tmp_path / name).write_text(f"key of {name}".replace(" ", "-") + "\n")
    environ = {"CREDENTIALS_DIRECTORY": str(tmp_path)}
    loaded = settings(DEPLOY / "systemd" / "toolwire.toml", environ)
    keys = [upstream.api_key.reveal() for upstream in loaded.upstreams]
    assert keys == [f"key-of-{name}" for name in credentials]


def test_the_readme_installs_what_the_unit_names() -> None:
    (start,) = directives("ExecStart")
    program, _, option, config = start.split()
    assert option == "--config"
    commands = README[README.index("## systemd") : README.index("## Metrics")]
    assert f"python3 -m venv {program.removesuffix('/bin/toolwire')}\n" in commands
    assert f"deploy/systemd/toolwire.toml {config}\n" in commands
    for found in directives("LoadCredential"):
        assert f"FILE_WITH_THE_KEY {found.split(':')[1]}\n" in commands


def test_the_service_has_the_time_to_drain() -> None:
    environ = {"CREDENTIALS_DIRECTORY": "."}
    text = (DEPLOY / "systemd" / "toolwire.toml").read_text("utf-8")
    assert environ.keys() == set(re.findall(r"\$\{(\w+)\}", text))
    (drain,) = re.findall(r"^drain_seconds = (\d+)", text, re.MULTILINE)
    (stop,) = directives("TimeoutStopSec")
    assert float(stop) >= float(drain) + END_SECONDS


def test_the_state_is_kept_in_the_state_directory() -> None:
    (state,) = directives("StateDirectory")
    assert state == "toolwire"  # the response store's folder below $XDG_STATE_HOME
    assert directives("Environment") == ["XDG_STATE_HOME=/var/lib"]


def test_a_wrong_configuration_is_not_tried_again() -> None:
    assert directives("Restart") == ["on-failure"]
    assert directives("RestartPreventExitStatus") == ["2"]


@pytest.fixture
def unit(tmp_path: Path) -> Path:
    """The unit with a program that exists here."""
    path = tmp_path / UNIT.name
    path.write_text(TEXT.replace("/opt/toolwire/bin/toolwire", "/bin/true"))
    return path


@pytest.fixture
def analyze() -> str:
    """systemd-analyze, of a version that needs no running systemd."""
    program = tool("systemd-analyze", "part of systemd")
    done = subprocess.run([program, "--version"], capture_output=True, text=True, check=True)
    version = int(done.stdout.split()[1])
    if version < 250:
        pytest.skip(f"systemd-analyze is of systemd {version}, and works offline since 250")
    return program


def test_systemd_understands_every_line(unit: Path, analyze: str) -> None:
    done = subprocess.run([analyze, "verify", unit], capture_output=True, text=True)
    complaints = [line for line in done.stderr.splitlines() if unit.name in line]
    assert (done.returncode, complaints) == (0, [])


def test_systemd_calls_the_exposure_low(unit: Path, analyze: str) -> None:
    command = [analyze, "security", "--offline=true", "--threshold=20", "--no-pager", unit]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout  # an exposure of 2.0 of 10 at most
