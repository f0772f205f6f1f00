"""The compliance tester `llm-comply` finds nothing on any pair that has no explanation.

It asks as a client of each protocol would, and holds what it hears to the published schemas.
https://github.com/Oaklight/llm-comply
"""

from __future__ import annotations

import importlib.resources
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.conftest import UPSTREAMS
from tests.e2e.gateway import RunningGateway
from tests.proxy.gateway import GUARD_SECONDS

MODELS = {"openai-chat": "gpt-5", "anthropic": "claude-sonnet-4-5", "open-responses": "gpt-5"}
"""Its formats, and a model of each that it takes for one that thinks: else it skips tests."""

NAMES_NO_MODEL = "HTTP 404 (expected [400, 422])"
NO_SUCH_METHOD = "HTTP 405 (expected"
EXPLAINED = {
    # The request names no model, and nobody serves none: the answer is the 404 that lists those
    # there are, in OpenAI's shape.
    "chat-error-handling": NAMES_NO_MODEL,
    "error-handling": NAMES_NO_MODEL,
    # Compaction is passed through to the upstream, and the demo's has none; the tester itself calls
    # this advisory, for "many providers lack this endpoint".
    "compact-response": NO_SUCH_METHOD,
    "compact-missing-model": NO_SUCH_METHOD,
}
"""Test -> the beginning of the one fault that it may find."""

MAY_BE_ABSENT = {
    "Message": ["container", "stop_details"],
    "Usage": ["cache_creation", "inference_geo", "server_tool_use", "service_tier"],
    "ResponseTextBlock": ["citations"],
    "ResponseToolUseBlock": ["caller"],
}
"""What Anthropic's schema requires and its own answers leave out: the example in the documentation
has none of them, each has a default in the schema, and the official client takes it for absent.
https://docs.anthropic.com/en/api/messages"""


@pytest.fixture(scope="session")
def specs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The schemas that are used in place of the tester's own."""
    bundled = importlib.resources.files("llm_comply") / "specs" / "anthropic.json"
    spec = json.loads(bundled.read_text("utf-8"))
    for name, fields in MAY_BE_ABSENT.items():
        schema = spec["components"]["schemas"][name]
        assert all("default" in schema["properties"][field] for field in fields)
        schema["required"] = [field for field in schema["required"] if field not in fields]
    file = tmp_path_factory.mktemp("specs") / "anthropic.json"
    file.write_text(json.dumps(spec), "utf-8")
    return {"anthropic": file}


@pytest.mark.parametrize("upstream", UPSTREAMS)
@pytest.mark.parametrize("client", MODELS)
def test_finds_nothing_unexplained(
    gateway: RunningGateway, specs: dict[str, Path], client: str, upstream: str
) -> None:
    report = run(
        *("--format", client, "--model", f"{upstream}/{MODELS[client]}"),
        *("--base-url", f"{gateway.url}/v1", "--api-key", "any"),
        *(["--spec", str(specs[client])] if client in specs else []),
    )
    results = {result["id"]: result for result in report["results"]}
    assert [name for name, result in results.items() if result["status"] == "skipped"] == []
    found = {name: result["errors"] for name, result in results.items() if result.get("errors")}
    assert found.keys() == EXPLAINED.keys() & results.keys(), found
    for name, errors in found.items():
        (error,) = errors
        assert error.startswith(EXPLAINED[name])


def run(*options: str) -> dict[str, Any]:
    """What it reports, as JSON."""
    process = subprocess.run(
        [sys.executable, "-m", "llm_comply.cli", "--json", *options],
        capture_output=True,
        text=True,
        timeout=4 * GUARD_SECONDS,
    )
    assert process.stdout, process.stderr
    report: dict[str, Any] = json.loads(process.stdout)
    return report
