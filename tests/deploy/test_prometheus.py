"""A real Prometheus with our files scrapes a real gateway, and answers the dashboard's queries."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.parse import urlencode
from urllib.request import ProxyHandler, Request, build_opener

import pytest
import yaml

from tests.deploy.files import DEPLOY, document, tool
from tests.deploy.monitoring import EXPRESSIONS, RULES

PATIENCE = 60
"""Seconds until something that has to happen counts as never happening."""

_open = build_opener(ProxyHandler({})).open


def get(url: str, body: Any = None) -> Any:
    """The answer's JSON, or its text."""
    data = None if body is None else json.dumps(body).encode()
    headers = {"content-type": "application/json"} if data else {}
    with _open(Request(url, data, headers), timeout=PATIENCE) as answer:
        text = answer.read().decode()
    return json.loads(text) if answer.headers.get_content_type().endswith("json") else text


def wait_for(what: Callable[[], Any]) -> Any:
    """What `what` returns as soon as it is true and the server is there."""
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            if found := what():
                return found
        except URLError as error:
            last: object = error
        else:
            last = "nothing found"
        assert time.monotonic() < deadline, last
        time.sleep(0.2)


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as free:
        return int(free.getsockname()[1])


@contextmanager
def running(command: list[Any], folder: Path, log: str) -> Iterator[None]:
    """A process while the test runs; its output is in `folder / log`."""
    with open(folder / log, "wb") as output:
        process = subprocess.Popen(command, cwd=folder, stdout=output, stderr=output)
        try:
            yield
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(timeout=PATIENCE)


@pytest.fixture(scope="module")
def prometheus(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of a Prometheus that has scraped a gateway which has answered a request."""
    program = tool("prometheus", "the Debian package prometheus")
    folder = tmp_path_factory.mktemp("prometheus")
    gateway, port = free_port(), free_port()
    config = document("prometheus/prometheus.yml")
    config["global"] = {"scrape_interval": "1s", "evaluation_interval": "1s"}
    config["rule_files"] = [str(DEPLOY / "prometheus" / file) for file in config["rule_files"]]
    config["scrape_configs"][0]["static_configs"][0]["targets"] = [f"127.0.0.1:{gateway}"]
    (folder / "prometheus.yml").write_text(yaml.safe_dump(config))
    demo = [sys.executable, "-m", "toolwire.proxy", "demo", "--port", str(gateway)]
    scraper = [
        program,
        f"--config.file={folder}/prometheus.yml",
        f"--storage.tsdb.path={folder}/db",
    ]
    scraper.append(f"--web.listen-address=127.0.0.1:{port}")
    with ExitStack() as processes:
        processes.enter_context(running(demo, folder, "gateway.log"))
        wait_for(lambda: get(f"http://127.0.0.1:{gateway}/healthz"))
        processes.enter_context(running(scraper, folder, "prometheus.log"))
        message = {"role": "user", "content": "Hello"}
        for _ in range(2):  # before and after a scrape, for a rate needs two samples
            url = f"http://127.0.0.1:{gateway}/v1/chat/completions"
            get(url, {"model": "any", "messages": [message]})
            wait_for(lambda: query(f"http://127.0.0.1:{port}", 'up{job="toolwire"} == 1'))
        series = 'increase(toolwire_requests_total{client="chat", status="200"}[1m]) > 0'
        wait_for(lambda: query(f"http://127.0.0.1:{port}", series))
        yield f"http://127.0.0.1:{port}"


def query(prometheus: str, expression: str) -> list[Any]:
    """https://prometheus.io/docs/prometheus/latest/querying/api/#instant-queries"""
    answer = get(f"{prometheus}/api/v1/query?{urlencode({'query': expression})}")
    assert answer["status"] == "success"
    found: list[Any] = answer["data"]["result"]
    return found


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_prometheus_answers_the_expression(prometheus: str, name: str) -> None:
    query(prometheus, EXPRESSIONS[name])


@pytest.mark.parametrize("name", ["Requests A", "First byte, p95 A", "Requests by upstream A"])
def test_the_dashboard_shows_the_traffic(prometheus: str, name: str) -> None:
    values = [float(found["value"][1]) for found in query(prometheus, EXPRESSIONS[name])]
    assert values
    assert all(value > 0 for value in values)


def test_the_rules_are_in_force(prometheus: str) -> None:
    def evaluated() -> list[Any]:
        (group,) = get(f"{prometheus}/api/v1/rules")["data"]["groups"]
        rules: list[Any] = group["rules"]
        return rules if all(rule["health"] != "unknown" for rule in rules) else []

    rules = wait_for(evaluated)
    assert [rule["name"] for rule in rules] == [rule["alert"] for rule in RULES]
    assert [rule["health"] for rule in rules] == ["ok"] * len(RULES)
    assert [rule for rule in rules if rule["state"] == "firing"] == []
