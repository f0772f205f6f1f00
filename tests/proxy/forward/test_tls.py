"""TLS towards the upstream, and the proxies of the environment."""

from __future__ import annotations

import ssl
from pathlib import Path
from typing import Any

import aiohttp
import pytest
import trustme

from tests.proxy.live import Connection, answering, gateway, playing, settings_for

FILES = "/v1/files"


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture
def server_tls(authority: trustme.CA) -> ssl.SSLContext:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    return context


@pytest.fixture
def ca_file(authority: trustme.CA, tmp_path: Path) -> str:
    file = tmp_path / "ca.pem"
    authority.cert_pem.write_to_path(str(file))
    return str(file)


async def asked(server_tls: ssl.SSLContext, **options: Any) -> tuple[int, str]:
    """Status and text of what an upstream behind TLS answers through the gateway."""
    async with (
        answering(b"over tls", tls=server_tls) as upstream,
        gateway(settings_for(upstream.url, **options)) as url,
        aiohttp.ClientSession() as client,
        client.get(url + FILES) as answer,
    ):
        return answer.status, await answer.text()


async def test_an_unknown_authority_is_refused(server_tls: ssl.SSLContext) -> None:
    status, text = await asked(server_tls)
    assert status == 502
    assert "certificate" in text.lower()


async def test_an_authority_of_one_s_own(server_tls: ssl.SSLContext, ca_file: str) -> None:
    assert await asked(server_tls, ca_file=ca_file) == (200, "over tls")


async def test_the_name_is_checked(authority: trustme.CA, ca_file: str) -> None:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    authority.issue_cert("elsewhere.example").configure_cert(context)
    status, _ = await asked(context, ca_file=ca_file)
    assert status == 502


async def test_certificates_can_go_unchecked(server_tls: ssl.SSLContext) -> None:
    assert await asked(server_tls, verify_tls=False) == (200, "over tls")


class Proxy:
    """A proxy that answers instead of asking; it notes for whom."""

    def __init__(self) -> None:
        self.targets: list[str] = []
        self.authorizations: list[str | None] = []

    async def play(self, connection: Connection) -> None:
        while (request := await connection.request()) is not None:
            self.targets.append(request.target)
            self.authorizations.append(request.one("proxy-authorization"))
            await connection.answer(b"by the proxy")


async def proxied(
    monkeypatch: pytest.MonkeyPatch, *, no_proxy: str = "", user: str = "", **options: Any
) -> tuple[Proxy, str]:
    """What the proxy saw of a request, and the answer's text."""
    proxy = Proxy()
    async with answering(b"direct") as upstream, playing(proxy.play) as server:
        for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
            monkeypatch.delenv(name, raising=False)
            monkeypatch.delenv(name.upper(), raising=False)
        address = server.url.replace("http://", f"http://{user}")
        monkeypatch.setenv("HTTP_PROXY".lower(), address)
        monkeypatch.setenv("no_proxy", no_proxy)
        async with (
            gateway(settings_for(upstream.url, **options)) as url,
            aiohttp.ClientSession() as client,
            client.get(url + FILES) as answer,
        ):
            return proxy, await answer.text()


async def test_proxies_of_the_environment_do_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    proxy, text = await proxied(monkeypatch)
    assert (proxy.targets, text) == ([], "direct")


async def test_unless_they_are_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    proxy, text = await proxied(monkeypatch, trust_env_proxies=True)
    assert text == "by the proxy"
    assert [target.startswith("http://127.0.0.1:") for target in proxy.targets] == [True]


async def test_a_proxy_s_password(monkeypatch: pytest.MonkeyPatch) -> None:
    proxy, _ = await proxied(monkeypatch, user="me:secret@", trust_env_proxies=True)
    assert proxy.authorizations == ["Basic bWU6c2VjcmV0"]


async def test_no_proxy_is_obeyed(monkeypatch: pytest.MonkeyPatch) -> None:
    proxy, text = await proxied(monkeypatch, no_proxy="127.0.0.1", trust_env_proxies=True)
    assert (proxy.targets, text) == ([], "direct")


async def test_the_netrc_file_is_not_read(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login somebody password else\n")
    monkeypatch.setenv("NETRC", str(netrc))
    noted: list[str | None] = []

    async def notes(connection: Connection) -> None:
        while (request := await connection.request()) is not None:
            noted.append(request.one("authorization"))
            await connection.answer()

    for options in ({}, {"trust_env_proxies": True}, {"api_key": "sk-own"}):
        async with (
            playing(notes) as upstream,
            gateway(settings_for(upstream.url, **options)) as url,
            aiohttp.ClientSession() as client,
            client.get(url + FILES) as answer,
        ):
            assert answer.status == 200
    assert noted == [None, None, "Bearer sk-own"]
