"""Several processes that share the port: uvicorn's supervisor, with three things mended.

While the workers drain, the supervisor closes its own copy of the listening socket: otherwise new
clients would be accepted by nobody and wait.  A worker that outlives the time to drain is killed.
And the metrics of all workers are shared, in files of a folder that exists while they run:
https://prometheus.github.io/client_python/multiprocess/
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from tempfile import TemporaryDirectory

import structlog
import uvicorn
from prometheus_client.multiprocess import mark_process_dead
from uvicorn.supervisors.multiprocess import Multiprocess, Process

from toolwire.proxy.metrics_page import DIRECTORY

ORPHAN_CHECK_SECONDS = 2
"""How often a worker looks whether its supervisor still lives."""

GRACE_SECONDS = 5
"""What a worker gets beside the time to drain, to close its connections and end."""

_log = structlog.get_logger("toolwire")


def run_workers(config: uvicorn.Config, listener: socket.socket) -> int:
    """Runs ``config.workers`` processes until SIGTERM or SIGINT; the exit status.

    A worker that dies is replaced; one that cannot even start ends them all, with status 1.
    """
    config.callback_notify = leave_with_supervisor
    config.timeout_notify = ORPHAN_CHECK_SECONDS
    with _shared_metrics() as folder:
        workers = Workers(config, [listener], folder)
        workers.run()
    _log.info("stopped")
    return 1 if workers.failed else 0


@contextmanager
def _shared_metrics() -> Iterator[str]:
    """The folder, named in the environment that workers inherit."""
    with TemporaryDirectory(prefix="toolwire-metrics-", ignore_cleanup_errors=True) as folder:
        before = os.environ.get(DIRECTORY)
        os.environ[DIRECTORY] = folder
        try:
            yield folder
        finally:
            del os.environ[DIRECTORY]
            if before is not None:
                os.environ[DIRECTORY] = before


class Workers(Multiprocess):
    """The supervisor.  ``failed``: it ended because a worker could not start."""

    def __init__(
        self, config: uvicorn.Config, sockets: list[socket.socket], metrics_folder: str
    ) -> None:
        super().__init__(config, sockets)
        self.failed = False
        self._metrics_folder = metrics_folder
        self._running: dict[int | None, Process] = {}

    def keep_subprocess_alive(self) -> None:
        """Called twice a second."""
        told_to_stop = self.should_exit.is_set()
        super().keep_subprocess_alive()
        self.failed = self.should_exit.is_set() and not told_to_stop
        running = {process.pid: process for process in self.processes}
        for pid in self._running.keys() - running.keys():
            status = self._running[pid].exitcode
            _log.warning("worker ended", pid=pid, exit_status=status, workers=len(running))
            mark_process_dead(pid, self._metrics_folder)  # type: ignore[no-untyped-call]
        self._running = running

    def terminate_all(self) -> None:
        """Lets the workers drain, and refuses new clients meanwhile."""
        seconds = self.config.timeout_graceful_shutdown
        _log.info("draining", workers=len(self.processes), at_most_seconds=seconds)
        super().terminate_all()
        for listener in self.sockets:
            listener.close()

    def join_all(self) -> None:
        """Waits for the workers to end, but not for ever."""
        last = time.monotonic() + (self.config.timeout_graceful_shutdown or 0) + GRACE_SECONDS
        for worker in self.processes:
            worker.process.join(max(0.0, last - time.monotonic()))
            if worker.process.exitcode is None:
                _log.error("worker did not end and is killed", pid=worker.pid)
                worker.process.kill()
                worker.process.join()


async def leave_with_supervisor() -> None:
    """Drains this worker when its supervisor was killed: nobody else would ever stop it."""
    supervisor = multiprocessing.parent_process()
    if supervisor is not None and not supervisor.is_alive():
        signal.raise_signal(signal.SIGTERM)
