"""The log, the metrics and the errors are those that are told."""

from __future__ import annotations

import ast
import importlib
import re
from collections.abc import Iterator
from pathlib import Path

from prometheus_client import Counter
from prometheus_client.metrics import MetricWrapperBase

from tests.docs.markdown import ROOT, table, text_of, words
from toolwire.proxy import answer, exchange, pool
from toolwire.proxy.errors import ToolwireError

OPERATIONS = "docs/operations.md"
NOT_THE_GATEWAY = {"demo", "explain"}
LEVELS = {"exception": "error"}
"""structlog's word for an error with its traceback."""


def sources() -> Iterator[Path]:
    """The modules that take part in a request."""
    for folder in ("proxy", "middlewares"):
        for file in (ROOT / folder).rglob("*.py"):
            if not NOT_THE_GATEWAY & set(file.relative_to(ROOT).parts):
                yield file


def nodes(file: Path) -> Iterator[ast.AST]:
    return ast.walk(ast.parse(file.read_text("utf-8")))


def test_each_event_of_the_log_is_told_with_its_level() -> None:
    found: dict[str, set[str]] = {}
    for file in sources():
        for node in nodes(file):
            match node:
                case ast.Call(
                    func=ast.Attribute(value=ast.Name(id="_log"), attr=level),
                    args=[ast.Constant(value=str(event)), *_],
                ):
                    found.setdefault(event, set()).add(LEVELS.get(level, level))
    told = {words(row[0])[0]: set(row[1].split(", ")) for row in table(OPERATIONS, "event")}
    assert told == found


def test_each_field_of_a_request_is_told() -> None:
    found = set()
    for node in nodes(ROOT / "middlewares/access_log.py"):
        match node:
            case ast.Dict(keys=keys):
                found |= {key.value for key in keys if isinstance(key, ast.Constant)}
            case ast.Subscript(value=ast.Name(id="line"), slice=ast.Constant(value=name)):
                found.add(name)
    told = [name for row in table(OPERATIONS, "field") for name in words(row[0])]
    assert len(found) > 15
    assert sorted(told) == sorted(found)


def metrics() -> dict[str, tuple[str, ...]]:
    """Name on the page -> labels."""
    found = {}
    for file in sources():
        if "from prometheus_client import" not in file.read_text("utf-8"):
            continue
        name = ".".join(("toolwire", *file.relative_to(ROOT).with_suffix("").parts))
        for metric in vars(importlib.import_module(name)).values():
            if isinstance(metric, MetricWrapperBase):
                end = "_total" if isinstance(metric, Counter) else ""
                found[metric.describe()[0].name + end] = metric._labelnames
    return found


def test_each_metric_is_told_with_its_labels() -> None:
    rows = table(OPERATIONS, "metric")
    assert {words(row[0])[0]: tuple(words(row[1])) for row in rows} == metrics()


def errors() -> set[tuple[int, str]]:
    """(status, code) of what the gateway says itself."""
    text = "\n".join(file.read_text("utf-8") for file in sources())
    raised = {
        (kind.status, kind.code)
        for kind in _below(ToolwireError)
        if kind.code and re.search(rf"(?<!class )\b{kind.__name__}\(|raise {kind.__name__}\b", text)
    }
    given = re.findall(r'code="(\w+)"(?: if \w+ else "(\w+)")?', text)
    return raised | {(400, code) for codes in given for code in codes if code}


def _below(kind: type[ToolwireError]) -> Iterator[type[ToolwireError]]:
    for below in kind.__subclasses__():
        if below.__module__.startswith("toolwire.") and "code" in vars(below):
            yield below
        yield from _below(below)


def test_each_error_is_told() -> None:
    importlib.import_module("toolwire.proxy.store")
    rows = table("README.md", "status")
    told = {(int(row[0]), code) for row in rows for code in words(row[1])}
    assert told == errors()


def test_the_bounds_of_memory_are_those_of_the_code() -> None:
    rows = {row[0]: row[1] for row in table(OPERATIONS, "what") if len(row) == 2}
    mib = 1024 * 1024
    whole = rows["whole answers that are repaired or converted"]
    inflated = rows["compressed request bodies"]
    assert whole == f"{answer.MAX_ANSWER_BYTES // mib} MiB each"
    assert inflated == f"{exchange.MAX_INFLATED_BYTES // mib} MiB each, inflated"
    assert f"{pool.READ_BYTES // 1024} KiB" in rows["streams"]


def test_headers_that_are_told_are_sent() -> None:
    text = "\n".join(file.read_text("utf-8") for file in sources())
    told = text_of("README.md") + text_of(OPERATIONS)
    named = set(re.findall(r"`(x-toolwire-[\w-]+)", told))
    parts = re.findall(r'b"(x-toolwire-[\w-]*)"', text)
    assert len(named) >= 4
    assert [name for name in named if not any(name.startswith(part) for part in parts)] == []
