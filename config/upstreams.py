"""The tables `[[upstreams]]`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from typing import NamedTuple

from toolwire.config.describe import shown
from toolwire.config.key_files import read_key
from toolwire.config.model import OnLoss, Upstream
from toolwire.config.options import Options
from toolwire.config.problems import did_you_mean, key_path
from toolwire.config.providers import Providers, read_profile
from toolwire.config.reading import Reading, Table, build, is_table
from toolwire.config.resolution import ProfileRules, Rule
from toolwire.config.stack_options import Known, StackOptions, check_own, merged, read_stack
from toolwire.config.substitution import is_substituted, substitute

ELSEWHERE = ("middlewares", "profile")


class Common(NamedTuple):
    """What the rest of the file says for all upstreams."""

    providers: Providers
    middlewares: Table
    """The table `[middlewares]` as it stands in the file."""
    known: Known
    stack: StackOptions
    """The middlewares' options where an upstream has none of its own."""
    sound: bool
    """Whether `[middlewares]` has no problems."""
    on_loss: OnLoss


def read_upstreams(reading: Reading, raw: object, common: Common) -> tuple[Upstream, ...]:
    """All upstreams; after a problem only some of them."""
    if not isinstance(raw, list) or not all(map(is_table, raw)):
        reading.problem("upstreams", "expected a list of tables, each begun with [[upstreams]]")
        return ()
    if not raw:
        reading.problem("upstreams", "expected at least one upstream, begun with [[upstreams]]")
    _check_names(reading, raw)
    found = [_read(reading, table, f"upstreams[{i}]", common) for i, table in enumerate(raw)]
    return tuple(upstream for upstream in found if upstream is not None)


def _read(reading: Reading, raw: Table, path: str, common: Common) -> Upstream | None:
    before = len(reading.problems)
    values = reading.fields(raw, Upstream, path, whole=True, elsewhere=ELSEWHERE)
    _check_models(reading, values, path)
    values["api_key"] = read_key(reading, values, "api_key", path)
    values.setdefault("on_loss", common.on_loss)
    values["profile"] = _rules(reading, raw, values, path, common.providers)
    values["middlewares"] = _stack(reading, raw, path, common)
    return build(Upstream, values) if len(reading.problems) == before else None


def _rules(
    reading: Reading, raw: Table, values: Table, path: str, providers: Providers
) -> ProfileRules:
    provider = str(values.get("provider", "generic"))
    if provider not in providers.names:
        near = did_you_mean(provider, providers.names) or f"; known: {', '.join(providers.names)}"
        expected = f"expected a provider, got {shown(raw.get('provider'))}{near}"
        reading.problem(key_path(path, "provider"), expected)
    at = key_path(path, "profile")
    rules, models = read_profile(reading, raw.get("profile", {}), at)
    check_served(reading, models, [raw], key_path(at, "models"))
    known = providers.rules(values.get("protocol"), provider)
    return ProfileRules((*known, *rules, *models))


def _stack(reading: Reading, raw: Table, path: str, common: Common) -> dict[str, Options]:
    at = key_path(path, "middlewares")
    own = reading.table(raw.get("middlewares", {}), at)
    before = len(reading.problems)
    check_own(reading, own, common.stack.order, common.known, at)
    if not own or not common.sound or len(reading.problems) > before:
        return common.stack.options
    return read_stack(reading, merged(common.middlewares, own), common.known, at).options


def names_of(tables: Iterable[Table], environ: Mapping[str, str]) -> list[str]:
    """What upstreams are called, "" where that cannot be told."""
    names = []
    for table in tables:
        try:
            names.append(substitute(str(table.get("name", "")), environ))
        except ValueError:
            names.append("")
    return names


def _check_names(reading: Reading, tables: list[Table]) -> None:
    first: dict[str, int] = {}
    for i, name in enumerate(names_of(tables, reading.environ)):
        if name and first.setdefault(name, i) != i:
            expected = f'expected a name of its own, but upstreams[{first[name]}] is "{name}" too'
            reading.problem(f"upstreams[{i}].name", expected)


def _check_models(reading: Reading, values: Table, path: str) -> None:
    if values.get("models") == ():
        reading.problem(key_path(path, "models"), "expected at least one glob; it serves no model")


def check_served(
    reading: Reading, rules: tuple[Rule, ...], upstreams: Iterable[Table], path: str
) -> None:
    """Note each rule for one model (no wildcards) that no table in `upstreams` serves."""
    globs = [glob for table in upstreams for glob in _globs(table)]
    for rule in rules:
        model = rule.models.lower()
        if not set(model) & set("*?[") and not any(fnmatchcase(model, glob) for glob in globs):
            reading.problem(key_path(path, rule.models), "expected a model that an upstream serves")


def _globs(table: Table) -> list[str]:
    """What an upstream's table says that it serves; the environment may say anything."""
    models = table.get("models")
    if not isinstance(models, list):
        return ["*"]
    return [
        "*" if is_substituted(glob) else glob.lower() for glob in models if isinstance(glob, str)
    ]
