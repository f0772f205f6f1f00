"""Middlewares of others: from `package.module:Class` to the class and its checked options."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Mapping

import msgspec

from toolwire.config.options import Options


class ThirdParty(Options, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An ASGI middleware of somebody else, and its place in the stack."""

    use: str
    """Where the class is found: `package.module:Class`."""

    before: str = ""
    """The middleware just inside of this one; exactly one of `before` and `after` is given."""

    after: str = ""
    """The middleware just outside of this one."""

    options: dict[str, object] = {}
    """The class's own options."""

    @property
    def factory(self) -> Callable[..., object]:
        """The class that `use` names. Raises `ValueError` that says what is not there."""
        return _find(self.use)

    def arguments(self) -> dict[str, object]:
        """What `factory(app, **arguments)` is called with.

        `{"options": <Options>}` with a validated struct where the class, or else its module, has
        `Options`, as our own do; else `options` themselves as keywords. Raises `ValueError` that
        says which option is wrong.
        """
        return _arguments(self.factory, self.options)


def _find(use: str) -> Callable[..., object]:
    """Import the class that `package.module:Class` names; `ValueError` says what is missing."""
    module_name, _, name = use.partition(":")
    if not module_name or not name:
        raise ValueError(f'expected "package.module:Class", got {use!r}')
    try:
        found: object = importlib.import_module(module_name)
    except (ImportError, SyntaxError) as error:
        raise ValueError(f"cannot import {module_name}: {type(error).__name__}: {error}") from error
    for part in name.split("."):
        found = getattr(found, part, None)
    if not callable(found):
        raise ValueError(f"{module_name} has no class {name}")
    return found


def _own_options(factory: Callable[..., object]) -> type[msgspec.Struct] | None:
    """The struct that validates a class's options: its attribute `Options`, or its module's."""
    module = inspect.getmodule(factory)
    for place in (factory, module):
        options = getattr(place, "Options", None)
        if isinstance(options, type) and issubclass(options, msgspec.Struct):
            return options
    return None


def _arguments(factory: Callable[..., object], options: Mapping[str, object]) -> dict[str, object]:
    """Keyword arguments for `factory(app, ...)`; `ValueError` says which option is wrong."""
    struct = _own_options(factory)
    if struct is not None:
        try:
            return {"options": msgspec.convert(options, struct)}
        except msgspec.ValidationError as error:
            raise ValueError(str(error)) from error
    try:
        inspect.signature(factory).bind(None, **options)
    except TypeError as error:
        raise ValueError(f"{factory.__name__}(app, ...): {error}") from error
    return dict(options)
