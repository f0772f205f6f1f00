"""Alerts and dashboard ask for what the gateway exports, and reach it."""

from __future__ import annotations

import re
import subprocess
from typing import Any

import pytest
import yaml

from tests.deploy.files import DEPLOY, ENVIRON, README, ROOT, code_blocks, document, settings, tool
from tests.deploy.monitoring import DASHBOARD, EXPRESSIONS, PANELS, RULES
from tests.deploy.promql import UP, exported, selectors
from toolwire.middlewares import metrics

SERVICES = document("compose.yaml")["services"]


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_an_expression_asks_for_what_is_exported(name: str) -> None:
    known = exported() | UP
    asked = list(selectors(EXPRESSIONS[name]))
    assert asked
    for series, labels in asked:
        assert series in known
        assert labels <= known[series]


def test_every_metric_of_the_middleware_is_shown() -> None:
    shown = {series for name in EXPRESSIONS for series, _ in selectors(EXPRESSIONS[name])}
    series = {name for name in exported(metrics) if not name.endswith(("_count", "_sum"))}
    assert len(series) == 9
    assert series - shown == set()


def test_a_series_that_does_not_exist_is_found_out() -> None:
    asked = dict(selectors('sum by (modle) (rate(toolwire_request_total{state="200"}[5m])) > 1'))
    assert asked == {"toolwire_request_total": {"modle", "state"}}
    assert not asked.keys() & exported().keys()


def test_an_annotation_names_labels_that_its_expression_keeps() -> None:
    for rule in RULES:
        said = " ".join(rule["annotations"].values())
        kept = set().union(*(labels for _, labels in selectors(rule["expr"])))
        if rule["alert"] == "ToolwireDown":
            kept = UP["up"]
        assert set(re.findall(r"\$labels\.(\w+)", said)) <= kept, rule["alert"]


def test_the_readme_lists_every_alert() -> None:
    listed = re.findall(r"^\| `(Toolwire\w+)` \|", README, re.MULTILINE)
    assert listed == [rule["alert"] for rule in RULES]


def test_prometheus_scrapes_the_gateway_of_compose() -> None:
    (scrape,) = document("prometheus/prometheus.yml")["scrape_configs"]
    server = settings(DEPLOY / "toolwire.toml", ENVIRON).server
    assert scrape["static_configs"] == [{"targets": [f"gateway:{server.port}"]}]
    assert "gateway" in SERVICES
    assert (scrape["metrics_path"], server.metrics) == ("/metrics", True)
    rules = document("prometheus/prometheus.yml")["rule_files"]
    assert all((DEPLOY / "prometheus" / rule).is_file() for rule in rules)


def test_grafana_finds_prometheus_and_the_dashboard() -> None:
    (source,) = document("grafana/provisioning/datasources/prometheus.yaml")["datasources"]
    host, port = source["url"].removeprefix("http://").split(":")
    assert SERVICES[host]["ports"] == [f"127.0.0.1:{port}:{port}"]
    (provider,) = document("grafana/provisioning/dashboards/toolwire.yaml")["providers"]
    folder = provider["options"]["path"]
    assert f"./grafana/dashboards:{folder}:ro" in SERVICES["grafana"]["volumes"]
    assert "./grafana/provisioning:/etc/grafana/provisioning:ro" in SERVICES["grafana"]["volumes"]
    home = SERVICES["grafana"]["environment"]["GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH"]
    assert home == f"{folder}/toolwire.json"


def test_every_panel_asks_the_chosen_data_source() -> None:
    chosen = {"type": "prometheus", "uid": "${datasource}"}
    asking = [*PANELS, *(target for panel in PANELS for target in panel["targets"])]
    asking += [found for found in DASHBOARD["templating"]["list"] if found["type"] == "query"]
    assert all(found["datasource"] == chosen for found in asking)
    assert len({panel["id"] for panel in DASHBOARD["panels"]}) == len(DASHBOARD["panels"])


def test_panels_do_not_overlap() -> None:
    taken: set[tuple[int, int]] = set()
    for panel in DASHBOARD["panels"]:
        place = panel["gridPos"]
        rows = range(place["y"], place["y"] + place["h"])
        cells = {(x, y) for x in range(place["x"], place["x"] + place["w"]) for y in rows}
        assert not cells & taken, panel["title"]
        assert max(x for x, _ in cells) < 24
        taken |= cells


def test_a_prometheus_rule_is_made_of_the_alerts() -> None:
    (command,) = (block for block in code_blocks("sh") if "PrometheusRule" in block)
    command = command.replace("kubectl apply --filename -", "cat")
    assert "kubectl" not in command
    done = subprocess.run(["/bin/sh", "-ec", command], cwd=ROOT, capture_output=True, check=True)
    made: Any = yaml.safe_load(done.stdout)
    assert made["kind"] == "PrometheusRule"
    assert made["spec"] == document("prometheus/alerts.yml")


PROMTOOL = "the Debian package prometheus"


def test_promtool_accepts_configuration_and_rules() -> None:
    command = [tool("promtool", PROMTOOL), "check", "config", DEPLOY / "prometheus/prometheus.yml"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert f"{len(RULES)} rules found" in done.stdout


def test_alerts_fire_on_what_they_are_for() -> None:
    command = [tool("promtool", PROMTOOL), "test", "rules", ROOT / "tests/deploy/alerts_test.yml"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_alert_is_tested() -> None:
    tests = yaml.safe_load((ROOT / "tests/deploy/alerts_test.yml").read_text("utf-8"))["tests"]
    quiet, _, firing = (test["alert_rule_test"] for test in tests)
    names = {rule["alert"] for rule in RULES}
    assert {case["alertname"] for case in quiet} == names
    assert {case["alertname"] for case in firing if case.get("exp_alerts")} == names
