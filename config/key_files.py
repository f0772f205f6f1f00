"""Keys that stand in files of their own, as container platforms mount them."""

from __future__ import annotations

from pathlib import Path

from msgspec.structs import replace

from toolwire.config.kinds import client_key
from toolwire.config.model import Server
from toolwire.config.problems import key_path
from toolwire.config.reading import Reading, Table
from toolwire.config.secret import Secret


def read_key(reading: Reading, values: Table, name: str, path: str) -> Secret:
    """The key `values[name]`, or that in the file `values[name + "_file"]`; empty without both."""
    given, file = values.get(name), values.get(f"{name}_file")
    if not file:
        return given if isinstance(given, Secret) else Secret("")
    at = key_path(path, f"{name}_file")
    if given:
        reading.problem(at, f"expected either {name} or {name}_file")
    keys = _keys(reading, [line for line in _lines(reading, str(file), at) if line], at)
    if len(keys) > 1:
        reading.problem(at, f"expected a file with one key, got {len(keys)} lines")
    return keys[0] if keys else Secret("")


def with_client_keys_of_file(reading: Reading, server: Server, path: str) -> Server:
    """The server's settings with the keys of `client_keys_file` among its `client_keys`."""
    if not server.client_keys_file:
        return server
    at = key_path(path, "client_keys_file")
    lines = [line.strip() for line in _lines(reading, server.client_keys_file, at)]
    keys = _keys(reading, [line for line in lines if line and not line.startswith("#")], at)
    return replace(server, client_keys=(*server.client_keys, *keys))


def _lines(reading: Reading, file: str, path: str) -> list[str]:
    try:
        return Path(file).read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        reading.problem(path, f"expected a readable text file: {error}")
        return []


def _keys(reading: Reading, lines: list[str], path: str) -> list[Secret]:
    """The lines as keys. A file without any is a mistake: an open door is not what was meant."""
    if not lines:
        reading.problem(path, "expected a file with a key, got one without")
    for line in lines:
        if expected := client_key(line):
            reading.problem(path, f"expected {expected} in the file")
    return [Secret(line) for line in lines]
