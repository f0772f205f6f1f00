"""The tables `[middlewares.NAME]`, and `[upstreams.middlewares.NAME]` for one upstream."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from toolwire.config.options import Options
from toolwire.config.problems import did_you_mean, key_path
from toolwire.config.reading import Reading, Table, build, is_table
from toolwire.config.third_party import ThirdParty, read_options

Known = Mapping[str, type[Options]]
"""Our own middlewares, outermost first."""

_PLACE = {"use", "before", "after"}


class StackOptions(NamedTuple):
    """What the file says of the stack."""

    order: list[str]
    """All names, outermost first, those of others at the place that they asked for."""

    options: dict[str, Options]
    """In this order; without those that have problems."""


def read_stack(reading: Reading, raw: Table, known: Known, path: str) -> StackOptions:
    """The options of every middleware, ours and those of others; problems are noted."""
    found: dict[str, Options | None] = {
        name: reading.struct(raw.get(name, {}), options, key_path(path, name))
        for name, options in known.items()
    }
    order = list(known)
    for name, table in raw.items():
        at = key_path(path, name)
        if name in known:
            continue
        if not is_table(table) or "use" not in table:
            near = did_you_mean(name, known)
            hint = 'one of your own needs use = "package.module:Class"'
            reading.problem(at, f"unknown middleware{near} ({hint})")
            continue
        found[name] = _read_third_party(reading, table, at)
        order.insert(_place(reading, order, table, at), name)
    options = {name: options for name in order if (options := found[name]) is not None}
    return StackOptions(order, options)


def check_own(reading: Reading, raw: Table, order: Sequence[str], known: Known, path: str) -> None:
    """Check `raw`, what one upstream says of the middlewares named in `order`.

    Its options are those that `read_stack` reads from both tables, `merged`.
    """
    shared = _shared(order, known)
    for name, table in raw.items():
        at = key_path(path, name)
        if name not in order:
            near = did_you_mean(name, order)
            reading.problem(at, f"unknown middleware{near}")
        elif name in shared:
            reading.problem(
                at, f"expected in [middlewares.{name}] only: it acts before an upstream is chosen"
            )
        else:
            given = reading.fields(table, known.get(name, ThirdParty), at)
            for key in given.keys() & _PLACE if name not in known else ():
                reading.problem(key_path(at, key), f"expected in [middlewares.{name}] only")


def _shared(order: Sequence[str], known: Known) -> set[str]:
    """The names up to the last one that acts before an upstream is chosen."""
    early = [i for i, name in enumerate(order) if name in known and not known[name].per_upstream]
    return set(order[: max(early, default=-1) + 1])


def merged(table: Table, over: Table) -> dict[str, object]:
    """`table` with the values of `over`, also inside the tables that both have."""
    result = dict(table)
    for key, value in over.items():
        old = result.get(key)
        result[key] = merged(old, value) if is_table(old) and is_table(value) else value
    return result


def _read_third_party(reading: Reading, raw: Table, path: str) -> ThirdParty | None:
    before = len(reading.problems)
    values = reading.fields(raw, ThirdParty, path, whole=True, elsewhere=("options",))
    options = reading.table(raw.get("options", {}), key_path(path, "options"))
    if len(reading.problems) > before:
        return None
    found = build(ThirdParty, values)
    if not found.enabled:  # what is switched off need not be installed
        return found
    try:
        factory = found.factory
    except ValueError as error:
        reading.problem(key_path(path, "use"), str(error))
        return None
    checked = read_options(reading, factory, options, key_path(path, "options"))
    return replace(found, options=checked)


def _place(reading: Reading, order: list[str], raw: Table, path: str) -> int:
    """The index in `order` at which the middleware wants to be inserted."""
    wishes = [key for key in ("before", "after") if key in raw]
    if len(wishes) != 1:
        reading.problem(path, "expected either before or after, with the name of a middleware")
        return len(order)
    target = raw[wishes[0]]
    if target not in order:
        expected = "expected the name of a middleware, or of one of your own further up"
        near = did_you_mean(str(target), order)
        reading.problem(key_path(path, wishes[0]), f'{expected}, got "{target}"{near}')
        return len(order)
    return order.index(str(target)) + (wishes[0] == "after")
