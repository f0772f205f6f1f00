"""What PromQL expressions name, and what the gateway exports."""

from __future__ import annotations

from collections.abc import Iterator
from types import ModuleType

import promql_parser
from prometheus_client.metrics import MetricWrapperBase

from toolwire.middlewares import metrics
from toolwire.proxy import thinking_store

UP = {"up": {"job", "instance"}}
"""What Prometheus itself says of a target. https://prometheus.io/docs/concepts/jobs_instances/"""

SUFFIXES = {"counter": ["_total"], "gauge": [""], "histogram": ["_bucket", "_count", "_sum"]}
"""https://github.com/prometheus/OpenMetrics/blob/main/specification/OpenMetrics.md#suffixes"""


def exported(*modules: ModuleType) -> dict[str, set[str]]:
    """The labels of each series that the modules make, by the series' name; of all by default."""
    found = {}
    for module in modules or (metrics, thinking_store):
        for metric in vars(module).values():
            if isinstance(metric, MetricWrapperBase):
                (family,) = metric.describe()
                for suffix in SUFFIXES[family.type]:
                    more = {"le"} if suffix == "_bucket" else set()
                    found[family.name + suffix] = {*metric._labelnames, *more}
    return found


def selectors(expression: str) -> Iterator[tuple[str, set[str]]]:
    """The name of each series in an expression, and the labels by which it is chosen or grouped.

    Raises `ValueError` where it is no PromQL.
    """
    yield from _selectors(promql_parser.parse(expression), set())


def _selectors(node: promql_parser.Expr, grouped: set[str]) -> Iterator[tuple[str, set[str]]]:
    match node:
        case promql_parser.VectorSelector():
            yield node.name, grouped | {matcher.name for matcher in node.matchers.matchers}
        case promql_parser.MatrixSelector():
            yield from _selectors(node.vector_selector, grouped)
        case promql_parser.AggregateExpr():
            labels = set(node.modifier.labels) if node.modifier else set()
            yield from _selectors(node.expr, grouped | labels)
        case promql_parser.BinaryExpr():
            yield from _selectors(node.lhs, grouped)
            yield from _selectors(node.rhs, grouped)
        case promql_parser.Call():
            for argument in node.args:
                yield from _selectors(argument, grouped)
        case promql_parser.ParenExpr():
            yield from _selectors(node.expr, grouped)
        case promql_parser.NumberLiteral() | promql_parser.StringLiteral():
            return
        case _:
            raise ValueError(f"unknown part of an expression: {type(node).__name__}")
