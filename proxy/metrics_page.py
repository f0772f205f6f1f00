"""``GET /metrics``, in the text format of Prometheus; right with several workers."""

from __future__ import annotations

import os

from prometheus_client import CONTENT_TYPE_LATEST, REGISTRY, CollectorRegistry, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector

DIRECTORY = "PROMETHEUS_MULTIPROC_DIR"
"""Set before the workers start; each keeps its values in files there, and a scrape sums them."""


def metrics_page() -> tuple[bytes, bytes]:
    """The page and its content type."""
    registry = REGISTRY
    if os.environ.get(DIRECTORY):
        registry = CollectorRegistry()
        MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
    return generate_latest(registry), CONTENT_TYPE_LATEST.encode()
