"""Middlewares of others: from `package.module:Class` to the class and its checked options."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable
from typing import cast

from msgspec import Struct, field

from toolwire.config.options import Options
from toolwire.config.reading import Reading, Table

Factory = Callable[..., object]
"""`factory(app, **options)` gives an ASGI app."""


class ThirdParty(Options, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An ASGI middleware of somebody else, and its place in the stack."""

    use: str
    """Where the class is found: `package.module:Class`."""

    before: str = ""
    """It stands directly outside of this middleware: one of ours, or one further up in the file.
    Exactly one of `before` and `after` is given; of several at one place the last is next to it.
    """

    after: str = ""
    """It stands directly inside of this middleware."""

    options: dict[str, object] = field(default_factory=dict)
    """The class's own options. Where the class, or else its module, has a msgspec struct `Options`,
    this is `{"options": Options(...)}` after loading."""

    @property
    def factory(self) -> Factory:
        """The class that `use` names. Raises `ValueError` that says what is not there."""
        return _find(self.use)

    def arguments(self) -> dict[str, object]:
        """What `factory(app, **arguments())` is called with; checked when the file was read."""
        return self.options


def _find(use: str) -> Factory:
    """Import what `package.module:Class` names. Raises `ValueError` that says what is not there."""
    module_name, _, name = use.partition(":")
    if not module_name or not name or module_name.startswith("."):
        raise ValueError(f'expected "package.module:Class", got "{use}"')
    try:
        found: object = importlib.import_module(module_name)
    except (ImportError, SyntaxError) as error:
        raise ValueError(f'expected a module that can be imported, got "{use}": {error}') from error
    for part in name.split("."):
        found = getattr(found, part, None)
    if not callable(found):
        raise ValueError(f'expected "package.module:Class", but {module_name} has no class {name}')
    return cast(Factory, found)


def read_options(reading: Reading, factory: Factory, raw: Table, path: str) -> dict[str, object]:
    """Keyword arguments for `factory(app, ...)` from the table `raw`; problems are noted."""
    struct = _own_options(factory)
    if struct is not None:
        return {"options": reading.struct(raw, struct, path)}
    options = {key: reading.substituted(value, f"{path}.{key}") for key, value in raw.items()}
    try:
        inspect.signature(factory).bind(None, **options)
    except TypeError as error:
        reading.problem(path, f"expected the arguments of {factory.__name__}(app, ...): {error}")
    return options


def _own_options(factory: Factory) -> type[Struct] | None:
    for place in (factory, inspect.getmodule(factory)):
        options = getattr(place, "Options", None)
        if isinstance(options, type) and issubclass(options, Struct):
            return options
    return None
