"""``toolwire explain`` as a process: what it reads, writes and does not do."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.proxy.explain.samples import CONFIGURATION, PROTOCOLS, REQUESTS
from tests.proxy.gateway import NAMESPACE

pytestmark = pytest.mark.usefixtures("folder")


def run(*arguments: str, stdin: bytes = b"", **environ: str) -> subprocess.CompletedProcess[bytes]:
    """The command as a process."""
    return subprocess.run(
        [sys.executable, "-m", "toolwire.proxy", "explain", *arguments],
        input=stdin,
        env={**os.environ, "PYTHONPATH": str(NAMESPACE), **environ},
        capture_output=True,
        timeout=60,
    )


def test_it_explains_a_request_from_standard_input() -> None:
    done = run(stdin=json.dumps(REQUESTS["messages"]).encode())
    assert (done.returncode, done.stderr) == (0, b"")
    text = done.stdout.decode()
    assert "settings   none: one upstream without peculiarities for each protocol\n" in text
    assert "upstream   chat, which speaks chat (provider generic), for model m\n" in text
    assert "\n== tool_schema_conversion\n" in text
    assert "\x1b" not in text


def test_it_asks_nobody_and_writes_nothing(tmp_path: Path) -> None:
    """Not even a store for responses: an audit hook sees every socket and every file."""
    program = """
import sys

def watch(event, arguments):
    if event in ("socket.connect", "socket.bind", "socket.getaddrinfo", "socket.sendto"):
        print(event, arguments, file=sys.stderr)
    if event == "open" and arguments[1] and set(arguments[1]) & set("wax+"):
        print(event, arguments, file=sys.stderr)
    if event in ("os.mkdir", "os.rename", "os.remove", "sqlite3.connect"):
        print(event, arguments, file=sys.stderr)

sys.addaudithook(watch)
from toolwire.proxy.__main__ import main
sys.exit(main(sys.argv[1:]))
"""
    state = tmp_path / "state"
    request = {**REQUESTS["responses"], "store": True, "stream": True}
    for upstream in PROTOCOLS:
        arguments = ["explain", "-", "--answer", f"{upstream}.sse", "--upstream", upstream]
        done = subprocess.run(
            [sys.executable, "-B", "-c", program, *arguments],
            input=json.dumps(request).encode(),
            env={**os.environ, "PYTHONPATH": str(NAMESPACE), "XDG_STATE_HOME": str(state)},
            capture_output=True,
        )
        assert (done.returncode, done.stderr.decode()) == (0, "")
        assert b"response.completed" in done.stdout
    assert not state.exists()


def test_a_configuration_with_secrets_is_explained_without_them(tmp_path: Path) -> None:
    file = tmp_path / "toolwire.toml"
    file.write_text(CONFIGURATION)
    request = {**REQUESTS["chat"], "model": "deepseek-chat"}
    done = run("-", stdin=json.dumps(request).encode(), KEY="sk-of-the-upstream")
    assert (done.returncode, done.stderr) == (0, b"")
    text = done.stdout.decode()
    assert "settings   toolwire.toml\n" in text
    assert "authorization: Bearer ***\n" in text
    assert "sk-of-the-upstream" not in text


@pytest.mark.parametrize(("arguments", "coloured"), [((), False), (("--color", "always"), True)])
def test_colours_are_for_terminals_or_when_asked_for(
    arguments: tuple[str, ...], coloured: bool
) -> None:
    done = run("messages.json", *arguments, NO_COLOR="1")
    assert (b"\x1b[32m" in done.stdout) is coloured


@pytest.mark.skipif(sys.platform == "win32", reason="needs pseudo-terminals")
@pytest.mark.parametrize("no_colour", [False, True])
def test_a_terminal_gets_colours_unless_it_wants_none(no_colour: bool) -> None:
    import pty

    ours, theirs = pty.openpty()
    environ = {**os.environ, "PYTHONPATH": str(NAMESPACE), "TERM": "xterm"}
    if no_colour:
        environ["NO_COLOR"] = "1"
    command = [
        sys.executable,
        "-m",
        "toolwire.proxy",
        "explain",
        "messages.json",
        "--only",
        "losses",
    ]
    process = subprocess.Popen(command, env=environ, stdout=theirs, stdin=subprocess.DEVNULL)
    os.close(theirs)
    shown = b""
    try:
        while data := os.read(ours, 65536):
            shown += data
    except OSError:  # how Linux says that the other side is closed
        pass
    os.close(ours)
    assert process.wait() == 0
    assert b"== losses" in shown
    assert (b"\x1b[1m" in shown) is not no_colour


def test_a_reader_that_has_seen_enough_is_no_error() -> None:
    command = [sys.executable, "-m", "toolwire.proxy", "explain", "messages.json"]
    reading, writing = os.pipe()
    os.close(reading)
    environ = {**os.environ, "PYTHONPATH": str(NAMESPACE)}
    done = subprocess.run(command, env=environ, stdout=writing, stderr=subprocess.PIPE)
    os.close(writing)
    assert (done.returncode, done.stderr) == (0, b"")


def test_an_output_that_knows_ascii_alone_gets_utf8() -> None:
    request = {**REQUESTS["chat"], "user": "é"}
    done = run(
        "-", "--only", "body", "--raw", stdin=json.dumps(request).encode(), PYTHONIOENCODING="ascii"
    )
    assert done.returncode == 0
    assert json.loads(done.stdout)["user"] == "é"
