"""healthz.py against servers that are well, unwell, absent and mute."""

from __future__ import annotations

import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread

import pytest

from tests.deploy.files import DEPLOY


@contextmanager
def server(status: int) -> Iterator[int]:
    """Answers `/healthz` with `status`; its port."""

    class Answer(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(status if self.path == "/healthz" else 404)
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Answer) as running:
        thread = Thread(target=running.serve_forever)
        thread.start()
        try:
            yield running.server_port
        finally:
            running.shutdown()
            thread.join()


def ask(port: int) -> subprocess.CompletedProcess[str]:
    """As HEALTHCHECK does, in an environment whose proxy answers nobody."""
    proxy = "http://127.0.0.1:9"
    return subprocess.run(
        [sys.executable, "-I", DEPLOY / "healthz.py", str(port)],
        env={"http_proxy": proxy, "HTTP_PROXY": proxy},
        capture_output=True,
        text=True,
        timeout=30,
    )


def test_a_gateway_that_is_well() -> None:
    with server(200) as port:
        done = ask(port)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize("status", [204, 404, 503])
def test_a_gateway_that_answers_otherwise(status: int) -> None:
    with server(status) as port:
        done = ask(port)
    assert done.returncode == 1
    assert done.stderr == f"GET http://localhost:{port}/healthz answered {status}\n"


def test_nobody_listens() -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    done = ask(port)
    assert done.returncode == 1
    assert "ConnectionRefusedError" in done.stderr


def test_a_gateway_that_hangs() -> None:
    with socket.create_server(("127.0.0.1", 0)) as mute:
        done = ask(mute.getsockname()[1])
    assert done.returncode == 1
    assert "TimeoutError" in done.stderr
