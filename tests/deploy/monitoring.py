"""The alerts, the dashboard and every expression in them."""

from __future__ import annotations

import json
import re

from tests.deploy.files import DEPLOY, document

RULES = [rule for group in document("prometheus/alerts.yml")["groups"] for rule in group["rules"]]
DASHBOARD = json.loads((DEPLOY / "grafana/dashboards/toolwire.json").read_text("utf-8"))
PANELS = [panel for panel in DASHBOARD["panels"] if panel["type"] != "row"]


def plain(expression: str) -> str:
    """An expression of the dashboard with Grafana's variables filled in.

    https://grafana.com/docs/grafana/latest/dashboards/variables/add-template-variables/
    """
    expression = re.sub(r"\[\$__(rate_interval|range)\]", "[5m]", expression)
    for variable in DASHBOARD["templating"]["list"]:
        expression = expression.replace(f'"${variable["name"]}"', '".*"')
    assert "$" not in expression
    return expression


EXPRESSIONS = {
    **{rule["alert"]: rule["expr"] for rule in RULES},
    **{
        f"{panel['title']} {target['refId']}": plain(target["expr"])
        for panel in PANELS
        for target in panel["targets"]
    },
}
