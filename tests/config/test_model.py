"""Secrets, addresses, and what the structs are fit for."""

from __future__ import annotations

import pickle
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from tests.config.conftest import UPSTREAM, Read
from toolwire.config.model import Secret, Upstream, api_root
from toolwire.config.problems import ConfigError, Problem

NAMESPACE = str(Path(__file__).parents[2] / "build" / "ns")


@pytest.mark.parametrize(
    ("base_url", "root"),
    [
        ("https://api.deepseek.com", "https://api.deepseek.com/v1"),
        ("https://api.deepseek.com/", "https://api.deepseek.com/v1"),
        ("https://api.openai.com/v1", "https://api.openai.com/v1"),
        ("https://api.openai.com/v1/", "https://api.openai.com/v1"),
        ("https://api.moonshot.cn/anthropic", "https://api.moonshot.cn/anthropic/v1"),
        ("https://open.bigmodel.cn/api/paas/v4", "https://open.bigmodel.cn/api/paas/v4"),
        ("https://g.example/v1beta/openai/", "https://g.example/v1beta/openai"),
        ("https://v1.example.com", "https://v1.example.com/v1"),
        ("http://[::1]:8000/vllm", "http://[::1]:8000/vllm/v1"),
    ],
)
def test_a_base_url_may_end_in_a_version_or_not(base_url: str, root: str) -> None:
    assert api_root(base_url, "/v1") == root


def test_a_server_without_version(read: Read) -> None:
    upstream = read(UPSTREAM + 'version_path = ""').upstreams[0]
    assert upstream.api_root == "http://127.0.0.1:9000"


def test_a_secret_shows_itself_only_when_asked() -> None:
    secret = Secret("hunter2")
    shown = f"{secret} {secret!r} {[secret]} {{}} %s %r" % (secret, secret)
    assert "hunter2" not in shown
    with pytest.raises(TypeError):
        msgspec.json.encode(secret)
    assert secret.reveal() == "hunter2"
    assert pickle.loads(pickle.dumps(secret)) == secret


def test_secrets_compare() -> None:
    assert Secret("a") == Secret("a") != Secret("b")
    assert len({Secret("a"), Secret("a")}) == 1
    assert Secret("a") != "a"
    assert Secret("schlüssel").matches("schlüssel")
    assert not Secret("a").matches("\ud800")
    assert Secret("a")
    assert not Secret("")


def test_settings_show_no_secret(read: Read) -> None:
    text = (
        """
        [server]
        client_keys = ["${K}-client"]
        [responses_store]
        url = "postgresql://u:${K}@h/d"
    """
        + UPSTREAM
    )
    more = 'api_key = "${K}"\nheaders = { authorization = "Bearer ${K}" }'
    settings = read(text + more, {"K": "hunter2"})
    assert "hunter2" not in repr(settings)
    assert settings.responses_store.url.reveal() == "postgresql://u:hunter2@h/d"


def test_settings_cannot_be_changed(read: Read) -> None:
    settings = read(UPSTREAM)
    with pytest.raises(AttributeError):
        settings.server.port = 1  # type: ignore[misc]


def test_settings_travel_to_workers(read: Read) -> None:
    settings = read(UPSTREAM + 'provider = "deepseek"\napi_key = "k"')
    copy = pickle.loads(pickle.dumps(settings))
    assert copy == settings
    assert copy.upstreams[0].profile_for("x").reasoning_history == "current_turn"


def test_an_error_travels_too() -> None:
    error = ConfigError([Problem("f", "a.b", "expected"), Problem("f", "", "expected TOML")])
    assert str(error) == "f: a.b: expected\nf: expected TOML"
    assert pickle.loads(pickle.dumps(error)).problems == error.problems


def test_an_upstream_of_ones_own_making_is_generic() -> None:
    upstream = Upstream(name="a", protocol="chat", base_url="http://x")
    assert upstream.profile_for("gpt-5") == upstream.profile_for("anything")


def test_the_options_alone_cost_no_import() -> None:
    code = (
        "import sys\n"
        f"sys.path.insert(0, {NAMESPACE!r})\n"
        "from toolwire.config import Options\n"
        "heavy = {'aiohttp', 'asyncio', 'starlette', 'structlog', 'tomllib', 'difflib'}\n"
        "ours = {name for name in sys.modules if name.startswith('toolwire.')}\n"
        "print(sorted(heavy & sys.modules.keys()), sorted(ours))\n"
    )
    shown = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True)
    assert shown.stderr == ""
    assert shown.stdout == "[] ['toolwire.config', 'toolwire.config.options']\n"


def test_the_configuration_costs_no_server() -> None:
    code = (
        "import sys\n"
        f"sys.path.insert(0, {NAMESPACE!r})\n"
        "import toolwire.config.load\n"
        "heavy = {'aiohttp', 'asyncio', 'starlette', 'structlog', 'ssl', 'toolwire.proxy'}\n"
        "print(sorted(heavy & sys.modules.keys()))\n"
    )
    shown = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True)
    assert (shown.stderr, shown.stdout) == ("", "[]\n")
