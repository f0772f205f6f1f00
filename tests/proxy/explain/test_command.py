"""``toolwire explain`` as it is typed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.proxy.explain.samples import CONFIGURATION, PAIRS, PATHS, PROTOCOLS, REQUESTS
from tests.proxy.explain.streams import STREAMS
from toolwire.config.load import loads
from toolwire.proxy.__main__ import main
from toolwire.proxy.commands import explain
from toolwire.proxy.stack import OPTIONS

pytestmark = pytest.mark.usefixtures("folder")


@pytest.mark.parametrize(("client", "upstream"), PAIRS)
def test_each_pair_of_protocols(
    client: str, upstream: str, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    arguments = [f"{client}.json", "--upstream", upstream, "--answer", f"{upstream}-answer.json"]
    assert main(["explain", *arguments, "--format", "json"]) == 0
    printed, told = capfdbinary.readouterr()
    assert told == b""
    document = json.loads(printed)
    assert document["client"]["protocol"] == client
    assert document["request"]["url"] == f"https://{upstream}.invalid{PATHS[upstream]}"
    assert "Take an umbrella." in json.dumps(document["answer"]["seen"])


@pytest.mark.parametrize(("client", "upstream"), PAIRS)
def test_a_stream_alone_is_explained_for_any_client(
    client: str, upstream: str, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    """The upstream is the one that speaks the stream's protocol."""
    arguments = ["--answer", f"{upstream}.sse", "--protocol", client, "--format", "json"]
    assert main(["explain", *arguments]) == 0
    document = json.loads(capfdbinary.readouterr().out)
    assert (document["upstream"]["upstream"], document["client"]["stand_in"]) == (upstream, True)
    assert document["answer"]["complete"]
    assert "Take an umbrella." in json.dumps(document["answer"]["seen"])


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_record_is_explained(protocol: str, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    record = {
        "protocol": protocol,
        "request": {**REQUESTS[protocol], "stream": True},
        "sse": STREAMS[protocol].decode(),
        "status": 200,
    }
    Path("record.json").write_text(json.dumps(record))
    assert main(["explain", "--record", "record.json", "--only", "answer", "--raw"]) == 0
    printed = capfdbinary.readouterr().out
    assert printed.startswith(STREAMS[protocol][:12])
    assert b"umbrella." in printed
    assert main(["explain", "--record", "record.json", "--format", "json"]) == 0
    document = json.loads(capfdbinary.readouterr().out)
    assert (document["client"]["stand_in"], document["upstream"]["upstream"]) == (False, protocol)


def test_the_status_of_the_answer_can_be_given(
    capfdbinary: pytest.CaptureFixture[bytes],
) -> None:
    Path("error.json").write_text('{"error": {"message": "slow down"}}')
    arguments = ["messages.json", "--answer", "error.json", "--status", "429"]
    assert main(["explain", *arguments, "--only", "answer"]) == 0
    assert b"== the client gets 429\n" in capfdbinary.readouterr().out


def test_headers_are_the_clients(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    arguments = ["chat.json", "--header", "x-own: mine", "--header", "Authorization: Bearer sk-c"]
    assert main(["explain", *arguments, "--only", "request"]) == 0
    lines = capfdbinary.readouterr().out.decode().splitlines()
    assert "x-own: mine" in lines
    assert not any("sk-c" in line for line in lines)


def test_the_text_can_be_a_part(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    assert main(["explain", "messages.json", "--only", "body", "--raw"]) == 0
    body = capfdbinary.readouterr().out
    assert json.loads(body)["messages"][0] == {"content": "Be brief.", "role": "system"}
    assert b"\n" not in body


# ------------------------------------------------------------------------------- exit status
@pytest.mark.parametrize(
    ("request_", "status"),
    [('{"model": "m", "messages": []}', 0), ('{"messages": []}', 1), ('{"model": 1}', 1)],
)
def test_a_request_that_the_gateway_refuses_is_status_1(
    request_: str, status: int, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    Path("request.json").write_text(request_)
    assert main(["explain", "request.json", "--protocol", "chat"]) == status
    printed = capfdbinary.readouterr().out
    assert (b"== refused by routing: the client gets 4" in printed) is (status == 1)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["bad.json"], "toolwire: bad.json is not valid JSON: Expecting value at line 2, column 8"),
        (["nowhere.json"], "toolwire: nowhere.json: expected a readable file: No such file or"),
        (["chat.json", "--answer", "nowhere"], "toolwire: nowhere: expected a readable file: "),
        (["chat.json", "--record", "chat.json"], "toolwire: expected a request or --record, got b"),
        (["-", "--answer", "-"], "toolwire: expected one input from standard input, got two"),
        (["chat.json", "--header", "x"], 'toolwire: --header: expected "name: value", got "x"'),
        (["chat.json", "--only", "bdy"], "toolwire: --only: expected routing, changes, request, "),
        (
            ["chat.json", "--upstream", "caht"],
            'toolwire: --upstream: expected the name of an upstream ("chat", "messages" or "resp',
        ),
        (
            ["chat.json", "--config", "nowhere.toml"],
            "toolwire: the configuration has 1 mistake:\n  nowhere.toml: expected a readable file",
        ),
        (
            ["chat.json", "--config", "bad.toml"],
            "toolwire: the configuration has 1 mistake:\n  bad.toml: upstreams[0].api_key: ",
        ),
    ],
)
def test_what_cannot_be_explained_is_told_and_status_2(
    arguments: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("bad.json").write_text('{"model": "m",\n  "x": }')
    Path("bad.toml").write_text(CONFIGURATION)
    assert main(["explain", *arguments]) == 2
    printed, error = capsys.readouterr()
    assert printed == ""
    assert error.startswith(told)


def test_the_configuration_that_the_environment_names_counts(
    monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    Path("named.toml").write_text(CONFIGURATION)
    monkeypatch.setenv("TOOLWIRE_CONFIG", "named.toml")
    monkeypatch.setenv("KEY", "sk")
    assert main(["explain", "chat.json", "--only", "routing"]) == 1
    assert b"settings   named.toml\n" in capfdbinary.readouterr().out


def test_the_built_in_configuration_has_one_upstream_for_each_protocol() -> None:
    text = (Path(explain.__file__).parent / "explain.toml").read_text()
    settings = loads(text, environ={}, options=OPTIONS)
    assert tuple(upstream.name for upstream in settings.upstreams) == PROTOCOLS
    assert tuple(upstream.protocol for upstream in settings.upstreams) == PROTOCOLS
    assert all(upstream.base_url.endswith(".invalid") for upstream in settings.upstreams)
