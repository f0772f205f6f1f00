"""Every request of the cases once more with tools that are known: it goes up as it did before."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.conformance.test_cases import CASES
from toolwire.config.profile import Profile
from toolwire.proxy.errors import InvalidRequest
from toolwire.proxy.protocols import known_tools
from toolwire.proxy.protocols.convert import convert_request
from toolwire.proxy.protocols.json import decode
from toolwire.proxy.protocols.known_tools import KNOWN_TOOLS
from toolwire.proxy.protocols.registry import CODECS

PROFILES = [
    Profile(),
    Profile(
        strict=False,
        cache_control=True,
        custom_tools=True,
        schema_unions=False,
        tool_name_max=8,
        tool_choices=["auto", "none"],
    ),
]
HEAD_BYTES = 64
"""What arrays are looked up by."""

REQUESTS = {
    name: case
    for name, case in CASES.items()
    if len(json.dumps(case["request"].get("tools"))) >= HEAD_BYTES
}


def sent(case: dict[str, Any], document: dict[str, Any], upstream: str, profile: Profile) -> object:
    """What goes up, and what is lost."""
    client = CODECS[case["client"]]
    if client.name == upstream:
        return KNOWN_TOOLS.encode(document, sort_keys=True)
    try:
        converted = convert_request(client, CODECS[upstream], document, profile, "vendor")
    except InvalidRequest as error:
        return str(error)
    return KNOWN_TOOLS.encode(converted.document, sort_keys=True), converted.losses.entries


@pytest.mark.parametrize("profile", PROFILES, ids=["generic", "limited"])
@pytest.mark.parametrize("upstream", CODECS)
@pytest.mark.parametrize("name", REQUESTS)
def test_it_goes_up_as_before(
    name: str, upstream: str, profile: Profile, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(known_tools, "MIN_BYTES", HEAD_BYTES)
    case = REQUESTS[name]
    body = json.dumps(case["request"]).encode()
    fresh = sent(case, decode(body), upstream, profile)
    seen = []
    for _ in range(4):
        document = KNOWN_TOOLS.decode(body)
        assert sent(case, document, upstream, profile) == fresh
        seen.append(document["tools"])
    assert seen[2] is seen[3]
    assert seen[3] == case["request"]["tools"]


FUNCTION = {
    "name": "looks_up_the_weather_of_a_city",
    "parameters": {"type": "object", "anyOf": [{"properties": {"city": {"type": "string"}}}]},
}
FREE_FORM = {"name": "patch", "description": "Changes files. " * 8}
AGENTS: dict[str, dict[str, Any]] = {
    "chat": {
        "messages": [{"role": "user", "content": "Hi"}],
        "tools": [
            {"type": "function", "function": FUNCTION},
            {"type": "custom", "custom": FREE_FORM},
        ],
    },
    "messages": {
        "max_tokens": 10,
        "messages": [{"role": "user", "content": "Hi"}],
        "tools": [{"name": FUNCTION["name"], "input_schema": FUNCTION["parameters"]}],
    },
    "responses": {
        "input": "Hi",
        "tools": [{"type": "function", **FUNCTION}, {"type": "custom", **FREE_FORM}],
    },
}


@pytest.mark.parametrize(
    "limits",
    [
        {},
        {"schema_unions": False},
        {"tool_name_max": 8},
        {"custom_tools": True},
        {"schema_unions": False, "tool_name_max": 8, "strict": False},
    ],
    ids=str,
)
@pytest.mark.parametrize(
    ("client", "upstream"),
    [(client, upstream) for client in CODECS for upstream in CODECS if client != upstream],
)
def test_what_goes_up_is_made_once(
    client: str, upstream: str, limits: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(known_tools, "MIN_BYTES", HEAD_BYTES)
    body = json.dumps({"model": str(limits), **AGENTS[client]}).encode()
    made = [
        convert_request(
            CODECS[client], CODECS[upstream], KNOWN_TOOLS.decode(body), Profile(**limits), "vendor"
        ).document["tools"]
        for _ in range(4)
    ]
    assert made[2] is made[3]
