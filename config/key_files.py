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
    keys = _keys(reading, str(file), at)
    if len(keys) > 1:
        reading.problem(at, f"expected a file with one key, got {len(keys)}")
    return keys[0] if keys else Secret("")


def with_client_keys_of_file(reading: Reading, server: Server, path: str) -> Server:
    """The server's settings with the keys of `client_keys_file` among its `client_keys`."""
    if not server.client_keys_file:
        return server
    keys = _keys(reading, server.client_keys_file, key_path(path, "client_keys_file"))
    return replace(server, client_keys=(*server.client_keys, *keys))


def _keys(reading: Reading, file: str, path: str) -> list[Secret]:
    """The lines of a file as keys. One without any is a mistake: no open door was meant."""
    try:
        lines = [line.strip() for line in Path(file).read_text("utf-8").splitlines()]
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "reason", None) or getattr(error, "strerror", None)
        reading.problem(path, f"expected a text file ({reason})")
        return []
    keys = [line for line in lines if line and not line.startswith("#")]
    if not keys:
        reading.problem(path, "expected a file with a key, got one without")
    for key in keys:
        if expected := client_key(key):
            reading.problem(path, f"expected {expected} in the file")
    return [Secret(key) for key in keys]
