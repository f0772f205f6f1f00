"""From TOML values to the values of a struct, one field at a time, so that every mistake is found.

msgspec stops at the first error. Here each field is converted by itself, and what is wrong is
collected with the path of its key.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import cache
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, TypeGuard, TypeVar, Union, get_args, get_origin

import msgspec
from msgspec import Meta, Struct
from msgspec.structs import FieldInfo, fields

from toolwire.config.describe import describe, shown
from toolwire.config.problems import Problem, did_you_mean, key_path
from toolwire.config.secret import Secret
from toolwire.config.substitution import is_substituted, substitute

S = TypeVar("S", bound=Struct)
Table = Mapping[str, object]

BAD = object()
"""Stands for a value about which a problem has been noted."""


class Reading:
    """One configuration that is being read: its surroundings, and the problems found so far."""

    def __init__(
        self,
        file: str,
        folder: Path,
        environ: Mapping[str, str],
        command_line: Collection[str] = (),
    ) -> None:
        self.file = file
        self.folder = folder
        self.environ = environ
        self.command_line = command_line
        self.problems: list[Problem] = []

    def problem(self, path: str, message: str) -> object:
        """Note what is wrong at the key `path`."""
        file = "command line" if path in self.command_line else self.file
        self.problems.append(Problem(file, path, message))
        return BAD

    def struct(self, raw: object, struct: type[S], path: str) -> S | None:
        """The struct that the table `raw` describes; None after a problem."""
        before = len(self.problems)
        values = self.fields(raw, struct, path, whole=True)
        if len(self.problems) > before:
            return None
        try:
            return build(struct, values)
        except (TypeError, ValueError) as error:  # __post_init__: fields that do not fit each other
            self.problem(path, str(error))
            return None

    def fields(
        self,
        raw: object,
        struct: type[Struct],
        path: str,
        *,
        whole: bool = False,
        elsewhere: Collection[str] = (),
    ) -> dict[str, object]:
        """The right ones of the fields that the table `raw` gives.

        With `whole` the required fields must be there. Keys in `elsewhere` are somebody else's.
        """
        known, table = _fields(struct), self.table(raw, path)
        whole = whole and is_table(raw)
        for key in table:
            if key not in known and key not in elsewhere:
                near = did_you_mean(key, [*known, *elsewhere])
                self.problem(key_path(path, key), f"unknown key{near}")
        values = {}
        for key, field in known.items():
            if key in elsewhere:
                continue
            if key in table:
                value = self.value(table[key], field.type, key_path(path, key))
                if value is not BAD:
                    values[field.name] = value
            elif whole and field.required:
                expected = describe(field.type) or "a value"
                self.problem(key_path(path, key), f"expected {expected}, the key is missing")
        return values

    def table(self, raw: object, path: str) -> Table:
        """`raw` where it is a table, else an empty one after a problem."""
        if is_table(raw):
            return raw
        self.problem(path, f"expected a table, got {shown(raw)}")
        return {}

    def value(self, raw: object, type_: object, path: str) -> object:
        """`raw` as a value of `type_`, or `BAD`."""
        if get_origin(type_) in (Union, UnionType):
            choices = [choice for choice in get_args(type_) if choice is not type(None)]
            if len(choices) == 1:  # TOML has no null: a key that is not wanted is left out
                return self.value(raw, choices[0], path)
        if type_ is object or type_ is Any:
            return self.substituted(raw, path)
        origin, arguments = get_origin(type_), get_args(type_)
        if isinstance(type_, type) and issubclass(type_, Struct):
            found = self.struct(raw, type_, path)
            return BAD if found is None else found
        if origin is dict and is_table(raw):
            return self._table(raw, arguments, path)
        if origin in (list, tuple) and isinstance(raw, list) and arguments[1:] in ((), (...,)):
            items = [self.value(v, arguments[0], f"{path}[{i}]") for i, v in enumerate(raw)]
            return BAD if BAD in items else origin(items)
        return self._leaf(raw, type_, path)

    def _table(self, raw: Table, types: tuple[object, ...], path: str) -> object:
        table = {}
        for key, item in raw.items():
            at = key_path(path, key)
            table[self.value(key, types[0], at)] = self.value(item, types[1], at)
        return BAD if BAD in table or BAD in table.values() else table

    def _leaf(self, raw: object, type_: object, path: str) -> object:
        before = len(self.problems)
        plain = self.substituted(raw, path)
        if len(self.problems) > before:
            return BAD
        from_environment = isinstance(raw, str) and is_substituted(raw)
        try:
            value = msgspec.convert(plain, type_, strict=not from_environment, dec_hook=_secret)
        except msgspec.ValidationError as error:
            if expected := describe(type_):
                return self.problem(path, f"expected {expected}, got {shown(raw, type_)}")
            return self.problem(path, str(error))
        return self._checked(value, raw, type_, path)

    def _checked(self, value: object, raw: object, type_: object, path: str) -> object:
        """What the annotation wants beyond msgspec's bounds: a form, or a file that can be read."""
        extra = _extra(type_)
        text = value.reveal() if isinstance(value, Secret) else value
        check: Callable[[object], str | None] | None = extra.get("check")
        if check and (expected := check(text)):
            return self.problem(path, f"expected {expected}, got {shown(raw, type_)}")
        if extra.get("file") and isinstance(text, str) and text:
            return self._file(text, path)
        return value

    def _file(self, name: str, path: str) -> object:
        try:
            file = self.folder / Path(name).expanduser()
            with file.open("rb"):
                return str(file)
        except (OSError, RuntimeError) as error:  # RuntimeError: nobody's home folder
            reason = getattr(error, "strerror", error)
            # the name is not shown: a key itself may stand where its file's name should
            where = f"relative to {self.folder}"
            return self.problem(path, f"expected a file that can be read, {where} ({reason})")

    def substituted(self, raw: object, path: str) -> object:
        """`raw` with the environment's variables in all its strings."""
        match raw:
            case str():
                try:
                    return substitute(raw, self.environ)
                except ValueError as error:
                    return self.problem(path, str(error))
            case list():
                return [self.substituted(item, f"{path}[{i}]") for i, item in enumerate(raw)]
            case dict():
                return {k: self.substituted(item, key_path(path, k)) for k, item in raw.items()}
        return raw


@cache
def _fields(struct: type[Struct]) -> Mapping[str, FieldInfo]:
    """The fields by the names of their keys; remembered, for resolving annotations takes long."""
    return {field.encode_name: field for field in fields(struct)}


def is_table(raw: object) -> TypeGuard[Table]:
    """Whether `raw` is a TOML table."""
    return isinstance(raw, dict)


def build(struct: type[S], values: Mapping[str, object]) -> S:
    """The struct of values that were checked, which no type checker can know."""
    return struct(**values)


def _secret(type_: type, value: object) -> object:
    if type_ is Secret and isinstance(value, str):
        return Secret(value)
    raise ValueError(f"expected {type_.__name__}")


def _extra(type_: object) -> Mapping[str, Callable[[object], str | None]]:
    if get_origin(type_) is not Annotated:
        return {}
    metas = [meta for meta in get_args(type_)[1:] if isinstance(meta, Meta)]
    return {key: value for meta in metas for key, value in (meta.extra or {}).items()}
