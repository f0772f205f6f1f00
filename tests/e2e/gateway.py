"""The gateway as users start it: a process of its own, on a free port of this machine."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.proxy.gateway import GUARD_SECONDS, NAMESPACE


class RunningGateway:
    """A ``toolwire`` that listens at ``url``; it logs JSON, which is kept here line by line."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self.log: list[str] = []
        self._wrote = threading.Condition()
        self._reader = threading.Thread(target=self._read)
        self._reader.start()
        told = self.logged("listening")
        self.url = f"http://{told['host']}:{told['port']}"

    def _read(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            with self._wrote:
                self.log.append(line)
                self._wrote.notify_all()
        with self._wrote:
            self._wrote.notify_all()

    def events(self, name: str) -> list[dict[str, Any]]:
        """What the log says of ``name`` so far."""
        lines = [json.loads(line) for line in self.log if line.startswith("{")]
        return [line for line in lines if line["event"] == name]

    def logged(self, name: str) -> dict[str, Any]:
        """The first line of the log about ``name``, as soon as it is there."""
        with self._wrote:
            self._wrote.wait_for(
                lambda: self.events(name) or not self._reader.is_alive(), GUARD_SECONDS
            )
        assert self.events(name), "".join(self.log)
        return self.events(name)[0]

    def stop(self) -> int:
        """Asks it to end, and kills it when it does not; the exit status."""
        self.process.send_signal(signal.SIGTERM)
        try:
            status = self.process.wait(GUARD_SECONDS)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
            status = self.process.wait()
        self._reader.join()
        assert self.process.stderr is not None
        self.process.stderr.close()
        return status


@contextlib.contextmanager
def running(*arguments: str, state: Path, **environ: str) -> Iterator[RunningGateway]:
    """``toolwire`` with these arguments; ``state`` is the folder where it may keep things.

    It has to end when it is told to, and to log no exception until then.
    """
    process = subprocess.Popen(
        [sys.executable, "-m", "toolwire.proxy", *arguments, "--port", "0", "--log-format", "json"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env={
            **os.environ,
            "PYTHONPATH": str(NAMESPACE),
            "XDG_STATE_HOME": str(state),
            **environ,
        },
        start_new_session=True,
    )
    gateway = RunningGateway(process)
    try:
        yield gateway
    finally:
        status = gateway.stop()
    assert status == 0, "".join(gateway.log[-20:])
    assert not [line for line in gateway.log if "Traceback" in line or '"exception"' in line]
