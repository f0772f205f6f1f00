"""Find the configuration, read it and check it whole; what is wrong is told all at once."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path

from toolwire.config.key_files import with_client_keys_of_file
from toolwire.config.kinds import is_loopback
from toolwire.config.model import Server, Settings
from toolwire.config.options import Options
from toolwire.config.problems import ConfigError, Problem, did_you_mean, key_path, listed
from toolwire.config.providers import Providers
from toolwire.config.reading import Reading, Table, build, is_table
from toolwire.config.stack_options import merged, read_stack
from toolwire.config.upstreams import Common, check_served, names_of, read_upstreams

DEFAULT_FILE = Path("toolwire.toml")
VARIABLE = "TOOLWIRE_CONFIG"
NOTHING: Table = {}

ELSEWHERE = ("upstreams", "middlewares", "providers", "models")


def find(path: Path | None, environ: Mapping[str, str]) -> Path:
    """The configuration file: `path` (`--config`), `$TOOLWIRE_CONFIG` or `./toolwire.toml`.

    Raises `ConfigError` when none is named and there is no `./toolwire.toml`.
    """
    if path is not None:
        return path
    if named := environ.get(VARIABLE):
        return Path(named)
    if DEFAULT_FILE.is_file():
        return DEFAULT_FILE
    expected = f"expected --config FILE, ${VARIABLE} or a file of this name in the current folder"
    raise ConfigError([Problem(str(DEFAULT_FILE), "", expected)])


def load(
    path: Path | None,
    *,
    environ: Mapping[str, str],
    options: Mapping[str, type[Options]],
    overrides: Table = NOTHING,
) -> Settings:
    """The settings of the file that `find` finds.

    `options` maps our middlewares' names, outermost first, to their options; `overrides` is what
    the command line says, in the shape of the file. Raises `ConfigError` with every problem.
    """
    file = find(path, environ)
    try:
        text = file.read_bytes().decode("utf-8-sig")
    except OSError as error:
        message = f"expected a readable file: {error.strerror}"
        raise ConfigError([Problem(str(file), "", message)]) from error
    except UnicodeDecodeError as error:
        message = f"expected UTF-8: {error.reason} at byte {error.start}"
        raise ConfigError([Problem(str(file), "", message)]) from error
    return loads(
        text,
        environ=environ,
        options=options,
        overrides=overrides,
        file=str(file),
        folder=file.absolute().parent,
    )


def loads(
    text: str,
    *,
    environ: Mapping[str, str],
    options: Mapping[str, type[Options]],
    overrides: Table = NOTHING,
    file: str = "<string>",
    folder: Path | None = None,
) -> Settings:
    """The settings that the TOML `text` describes; see `load`.

    `file` is named in problems, and other files are relative to `folder` (the current one).
    """
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError([Problem(file, "", f"expected TOML: {error}")]) from error
    return from_dict(
        document,
        environ=environ,
        options=options,
        overrides=overrides,
        file=file,
        folder=folder,
    )


def from_dict(
    document: Table,
    *,
    environ: Mapping[str, str],
    options: Mapping[str, type[Options]],
    overrides: Table = NOTHING,
    file: str = "<dict>",
    folder: Path | None = None,
) -> Settings:
    """The settings that a document in the shape of the TOML file describes; see `load`."""
    command_line = frozenset(_paths(overrides))
    reading = Reading(file, folder or Path.cwd(), environ, command_line)
    settings = _read(reading, merged(document, overrides), options)
    if settings is None or reading.problems:
        raise ConfigError(reading.problems)
    return settings


def _read(reading: Reading, document: Table, known: Mapping[str, type[Options]]) -> Settings | None:
    values = reading.fields(document, Settings, "", elsewhere=ELSEWHERE)
    server = values.get("server", Server() if "server" not in document else None)
    if isinstance(server, Server):
        values["server"] = _checked_server(reading, server)
    providers = Providers(reading, document)
    middlewares = reading.table(document.get("middlewares", {}), "middlewares")
    before = len(reading.problems)
    stack = read_stack(reading, middlewares, known, "middlewares")
    values["middlewares"] = stack.options
    common = Common(
        providers=providers,
        middlewares=middlewares,
        known=known,
        stack=stack,
        sound=len(reading.problems) == before,
        on_loss="reject" if values.get("on_loss") == "reject" else "report",
    )
    values["upstreams"] = read_upstreams(reading, document.get("upstreams", []), common)
    tables = [table for table in _list(document.get("upstreams")) if is_table(table)]
    check_served(reading, providers.own_models, tables, "models")
    names = [name for name in names_of(tables, reading.environ) if name]
    values["default_upstream"] = _default_upstream(reading, values.get("default_upstream"), names)
    return None if reading.problems else build(Settings, values)


def _checked_server(reading: Reading, server: Server) -> Server:
    server = with_client_keys_of_file(reading, server, "server")
    keys = server.client_keys or server.client_keys_file
    if server.auth == "keys" and not keys and not is_loopback(server.host):
        reading.problem(
            "server.host",
            'expected server.client_keys, or auth = "off" written out, because others can reach '
            f"{server.host}",
        )
    return server


def _default_upstream(reading: Reading, wanted: object, names: list[str]) -> object:
    """The name of the upstream for requests without a model: the one wanted, or the first."""
    if wanted and wanted not in names:
        message = f'expected the name of an upstream ({listed(names)}), got "{wanted}"'
        return reading.problem("default_upstream", message + did_you_mean(str(wanted), names))
    return wanted or next(iter(names), "")


def _list(raw: object) -> list[object]:
    return raw if isinstance(raw, list) else []


def _paths(table: Table, path: str = "") -> Iterator[str]:
    """The key paths of all values in nested tables."""
    for key, value in table.items():
        at = key_path(path, key)
        if is_table(value):
            yield from _paths(value, at)
        else:
            yield at
