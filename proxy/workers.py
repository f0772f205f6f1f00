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
from uvicorn.config import STARTUP_FAILURE
from uvicorn.supervisors.multiprocess import Multiprocess, Process

from toolwire.proxy.metrics_page import DIRECTORY

ORPHAN_CHECK_SECONDS = 2
"""How often a worker looks whether its supervisor still lives."""

HUNG_SECONDS = 30
"""How long a worker may say nothing before it is killed.  It says nothing while it starts, which
takes a second of CPU time: ten seconds where a container gets a tenth of a core."""

GRACE_SECONDS = 5
"""What a worker gets beside the time to drain, to close its connections and end."""

STOP = {signal.SIGTERM, signal.SIGINT}

_log = structlog.get_logger("toolwire")


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
    """The supervisor of ``config.workers`` processes that accept from ``listener``.

    A worker that dies is replaced; one that cannot even start ends them all.
    """

    def __init__(self, config: uvicorn.Config, listener: socket.socket) -> None:
        config.callback_notify = leave_with_supervisor
        config.timeout_notify = ORPHAN_CHECK_SECONDS
        config.timeout_worker_healthcheck = HUNG_SECONDS
        super().__init__(config, [listener])
        self._metrics_folder = ""
        self._seen: dict[int | None, Process] = {}

    def supervise(self) -> int:
        """Runs them until SIGTERM or SIGINT; the exit status, 1 when they could not start."""
        with _shared_metrics() as self._metrics_folder:
            self.run()
        failed = any(process.exitcode == STARTUP_FAILURE for process in self.processes)
        return 1 if failed else 0

    def keep_subprocess_alive(self) -> None:
        """Called twice a second; replaces workers that died, or that hang."""
        if STOP & set(self.signal_queue):
            return
        before = self._seen | self._by_pid()
        for process in before.values():
            # Only the worker's own end is left open, so that its death is seen at once.
            process.child_conn.close()
        super().keep_subprocess_alive()
        self._seen = self._by_pid()
        for pid in before.keys() - self._seen.keys():
            status = before[pid].exitcode
            _log.warning("worker ended", pid=pid, exit_status=status, workers=len(self._seen))
            mark_process_dead(pid, self._metrics_folder)  # type: ignore[no-untyped-call]

    def _by_pid(self) -> dict[int | None, Process]:
        return {process.pid: process for process in self.processes}

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
