"""The command line: what is printed, and the exit status."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from tests.proxy.gateway import NAMESPACE, listening
from toolwire.config.load import loads
from toolwire.proxy.__main__ import COMMANDS, main
from toolwire.proxy.commands import demo, serve
from toolwire.proxy.demo import QUIRKS
from toolwire.proxy.stack import OPTIONS, STACK

SECRETS = ["sk-of-the-upstream", "key-of-a-client", "value-of-a-header", "option-of-somebody"]

CONFIGURATION = f"""
[server]
client_keys = ["{SECRETS[1]}"]
workers = 3

[[upstreams]]
name = "bailian"
protocol = "chat"
provider = "bailian"
base_url = "https://bailian.example/compatible-mode/v1"
api_key = "${{KEY}}"
models = ["qwen*", "deepseek-v3"]
headers = {{ x-team = "{SECRETS[2]}" }}
[upstreams.middlewares.sse_rechunking]
flush = "budget"
flush_ms = 7

[[upstreams]]
name = "claude"
protocol = "messages"
base_url = "https://claude.example"
forward_client_auth = true
[upstreams.middlewares.key_canonicalization]
enabled = false

[middlewares.gzip]
use = "starlette.middleware.gzip:GZipMiddleware"
before = "auth"
[middlewares.gzip.options]
minimum_size = "{SECRETS[3]}"
"""


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("KEY", SECRETS[0])
    file = tmp_path / "toolwire.toml"
    file.write_text(CONFIGURATION)
    return file


def test_check_tells_of_each_upstream(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "--config", str(file)]) == 0
    printed = capsys.readouterr().out
    assert "listens on 127.0.0.1:8080 in 3 processes; clients show a key" in printed
    bailian, claude = _sections(printed)[1:]
    assert bailian[:6] == [
        "upstream bailian (the default one)",
        "protocol    chat",
        "provider    bailian",
        "base URL    https://bailian.example/compatible-mode/v1",
        "key         ***",
        "models      qwen*, deepseek-v3",
    ]
    assert "headers     x-team: ***" in bailian
    assert "base URL    https://claude.example (asked under https://claude.example/v1)" in claude
    assert "key         the client's own, else none" in claude


def test_check_prints_the_stack_outermost_first_and_what_is_not_the_default(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", "--config", str(file)]) == 0
    before, bailian, claude = map(_stack, _sections(capsys.readouterr().out))
    names = [step.name for step in STACK]
    at = names.index("auth")
    assert list(before) + list(bailian) == [*names[:at], "gzip", *names[at:]]
    assert "key_canonicalization" in bailian
    assert "key_canonicalization" not in claude
    assert bailian["sse_rechunking"] == 'flush = "budget", flush_ms = 7'
    assert claude["sse_rechunking"] == ""
    assert before["gzip"].startswith('use = "starlette.middleware.gzip:GZipMiddleware"')


def test_check_prints_no_secret(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "--config", str(file)]) == 0
    printed = "".join(capsys.readouterr())
    assert [secret for secret in SECRETS if secret in printed] == []


@pytest.mark.parametrize("command", ["check", "serve"])
def test_all_mistakes_are_told_and_the_status_is_2(
    command: str,
    file: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.delenv("KEY")
    file.write_text(CONFIGURATION.replace("workers = 3", "workers = 0\nportt = 1"))
    assert main([command, "--config", str(file)]) == 2
    printed, told = capsys.readouterr()
    assert printed == ""
    first, *lines = told.splitlines()
    assert first == "toolwire: the configuration has 3 mistakes:"
    assert [line.split(": ")[:2] for line in lines] == [
        [f"  {file}", "server.portt"],
        [f"  {file}", "server.workers"],
        [f"  {file}", "upstreams[0].api_key"],
    ]


def test_what_the_command_line_says_is_checked_like_the_file(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["serve", "--config", str(file), "--port", "70000"]) == 2
    told = capsys.readouterr().err
    assert "command line: server.port: expected a whole number from 0 to 65535" in told


def test_without_a_file_it_is_told_how_to_name_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TOOLWIRE_CONFIG", raising=False)
    assert main(["check"]) == 2
    assert "--config FILE" in capsys.readouterr().err


def test_without_a_command_the_help_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2
    printed = capsys.readouterr().err
    assert all(f"    {name} " in printed for name in COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_the_examples_in_the_help_are_understood(
    command: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    ran: list[Namespace] = []

    def run(arguments: Namespace) -> int:
        ran.append(arguments)
        return 0

    monkeypatch.setattr(COMMANDS[command], "run", run)
    examples = COMMANDS[command].EXAMPLES.splitlines()
    for example in examples:
        words = shlex.split(example.partition("&&")[0].partition("    ")[0])
        assert words[:2] == ["toolwire", command]
        assert main(words[1:]) == 0
    assert len(ran) == len(examples)
    with pytest.raises(SystemExit) as exit_:
        main([command, "--help"])
    assert exit_.value.code == 0
    assert examples[0] in capsys.readouterr().out


def test_the_example_of_a_file_in_the_help_is_enough() -> None:
    text = serve.HELP.partition("toolwire.toml:\n")[2].partition("\nWhat stands")[0]
    settings = loads(text, environ={"DEEPSEEK_API_KEY": "sk"}, options=OPTIONS)
    assert [upstream.name for upstream in settings.upstreams] == ["deepseek"]
    told = serve.next_steps(settings, "http://127.0.0.1:8080")
    assert "OPENAI_BASE_URL=http://127.0.0.1:8080/v1\n" in told


def test_the_version_is_that_of_the_package(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out.startswith("toolwire")


@pytest.mark.parametrize(
    ("program", "not_needed"),
    [
        (
            "from toolwire.proxy.__main__ import main; main([])",
            {"aiohttp", "asyncio", "prometheus_client", "structlog", "uvicorn"},
        ),
        (
            "import toolwire.proxy.serve",
            {"anthropic", "openai", "sqlalchemy", "starlette", "toolwire.proxy.demo"},
        ),
    ],
    ids=["the help", "the gateway"],
)
def test_it_loads_only_what_it_needs(program: str, not_needed: set[str]) -> None:
    program += "; import json, sys; print(json.dumps(list(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={"PYTHONPATH": str(NAMESPACE)},
        capture_output=True,
        check=True,
    )
    assert set(json.loads(done.stdout)) & not_needed == set()


TOOL_SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
QUESTION = "What is the weather in Oslo?"
REQUESTS: dict[str, Any] = {
    "/v1/chat/completions": {
        "messages": [{"role": "user", "content": QUESTION}],
        "tools": [
            {"type": "function", "function": {"name": "get_weather", "parameters": TOOL_SCHEMA}}
        ],
    },
    "/v1/messages": {
        "max_tokens": 500,
        "messages": [{"role": "user", "content": QUESTION}],
        "tools": [{"name": "get_weather", "input_schema": TOOL_SCHEMA}],
    },
    "/v1/responses": {
        "input": QUESTION,
        "tools": [{"type": "function", "name": "get_weather", "parameters": TOOL_SCHEMA}],
    },
}
"""The same question with the same tool, in each protocol."""


async def test_the_demo_calls_a_tool_across_all_protocols_without_a_key(tmp_path: Path) -> None:
    async with (
        listening("demo", XDG_STATE_HOME=str(tmp_path)) as gateway,
        aiohttp.ClientSession() as session,
    ):
        for path, body in REQUESTS.items():
            for model in ("any-name-at-all", "messages/demo", "responses/demo"):
                async with session.post(
                    f"{gateway.url}{path}", json={"model": model, **body}
                ) as answer:
                    document = await answer.json()
                assert answer.status == 200, (path, model, document)
                assert _calls(path, document) == [("get_weather", {"city": "Oslo"})], (path, model)
    assert os.listdir(tmp_path) == []  # nothing of a demo stays behind


async def test_the_demo_prints_what_to_type_and_it_works() -> None:
    async with listening("demo") as gateway, aiohttp.ClientSession() as session:
        printed = await gateway.printed("Stop with Ctrl+C.")
        commands = list(_curl_commands(printed))
        assert [url for url, _, _ in commands] == [
            f"{gateway.url}/v1/chat/completions",
            f"{gateway.url}/v1/messages",
        ]
        for url, header, body in commands:
            name, _, value = header.partition(": ")
            async with session.post(url, data=body, headers={name: value}) as answer:
                document = await answer.json()
            called = _calls(url.removeprefix(gateway.url), document)
            assert called == [("get_weather", {"city": "Oslo"})]
        assert [word for word in QUIRKS if f"  {word} " not in printed] == []


def test_the_demo_has_an_upstream_for_any_model_in_each_protocol() -> None:
    settings = demo.settings_for("http://127.0.0.1:1", {"server": {"port": 0}})
    assert [upstream.protocol for upstream in settings.upstreams] == [
        "chat",
        "messages",
        "responses",
    ]
    assert all("*" in upstream.models for upstream in settings.upstreams)


def test_the_demo_can_be_reached_from_other_machines() -> None:
    overrides: dict[str, object] = {"server": {"host": "0.0.0.0"}}
    assert demo.settings_for("http://127.0.0.1:1", overrides).server.host == "0.0.0.0"


def _sections(report: str) -> list[list[str]]:
    """The parts of a report that blank lines divide, without the first one."""
    parts = report.split("\n\n")[1:]
    return [[line.strip() for line in part.splitlines()] for part in parts]


def _stack(section: list[str]) -> dict[str, str]:
    """Middleware -> its options, in their order."""
    start = section.index("stack") + 1 if "stack" in section else 1
    pairs = [line.partition(" ") for line in section[start:]]
    return {name: options.strip() for name, _, options in pairs}


def _curl_commands(printed: str) -> Iterator[tuple[str, str, str]]:
    """(url, header, body) of each command."""
    for command in printed.split("  curl ")[1:]:
        url, h, header, d, body = shlex.split(command.partition("\n\n")[0])
        assert (h, d) == ("-H", "-d")
        yield url, header, body


def _calls(path: str, document: Any) -> list[tuple[str, Any]]:
    """The tools that an answer calls, with their arguments."""
    if path == "/v1/chat/completions":
        calls = document["choices"][0]["message"]["tool_calls"]
        functions = [call["function"] for call in calls]
        return [(f["name"], json.loads(f["arguments"])) for f in functions]
    if path == "/v1/messages":
        blocks = [block for block in document["content"] if block["type"] == "tool_use"]
        return [(block["name"], block["input"]) for block in blocks]
    items = [item for item in document["output"] if item["type"] == "function_call"]
    return [(item["name"], json.loads(item["arguments"])) for item in items]
