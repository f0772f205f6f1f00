"""What an upstream gets: path, query, method and headers as the client sent them."""

from __future__ import annotations

import asyncio
import gzip
from typing import Any

import aiohttp
import pytest
from yarl import URL

from tests.proxy.live import HEADERS, Upstream, answering, gateway, settings_for

FILES = "/v1/files"


async def forwarded(
    method: str = "GET",
    target: str = FILES,
    sent: HEADERS | None = None,
    body: Any = None,
    **up: Any,
) -> Upstream:
    """The upstream after a request; its answer was a 200."""
    async with (
        answering() as upstream,
        gateway(settings_for(upstream.url, **up)) as url,
        aiohttp.ClientSession(skip_auto_headers=["User-Agent", "Accept"]) as client,
        client.request(method, URL(url + target, encoded=True), data=body, headers=sent) as answer,
    ):
        assert answer.status == 200, await answer.text()
    return upstream


@pytest.mark.parametrize(
    "target",
    [
        "/v1/files",
        "/v1/files?limit=2&after=a%20b&after=c",
        "/v1/files?",
        "/v1/files/a%2Fb%20c/content?x=%C3%A9+1",
        "/v1/files/%E4%BD%A0",
        "/v1/fine_tuning/jobs/ft-1/events;v=1",
        "/v1/files/a//b",
    ],
)
async def test_paths_and_queries_pass_as_they_are(target: str) -> None:
    upstream = await forwarded(target=target)
    assert upstream.request.target == target.removesuffix("?")


@pytest.mark.parametrize(
    ("base_url", "expected"),
    [("", "/v1/files"), ("/v1", "/v1/files"), ("/api/v4", "/api/v4/files"), ("/x", "/x/v1/files")],
)
async def test_the_version_is_in_the_path_once(base_url: str, expected: str) -> None:
    async with answering() as upstream:
        for target in ("/v1/files", "/files"):
            async with (
                gateway(settings_for(upstream.url + base_url)) as url,
                aiohttp.ClientSession() as client,
                client.get(url + target) as answer,
            ):
                assert answer.status == 200
            assert upstream.request.target == expected


@pytest.mark.parametrize("path", ["/v1/../admin", "/v1/%2e%2e/admin", "/v1/files/..%2f..", "/.."])
async def test_no_path_leads_out_of_the_api(path: str) -> None:
    async with (
        answering() as upstream,
        gateway(settings_for(upstream.url + "/tenant/v1")) as url,
    ):
        host, _, port = url.removeprefix("http://").partition(":")
        reader, writer = await asyncio.open_connection(host, int(port))
        writer.write(f"GET {path} HTTP/1.1\r\nhost: x\r\n\r\n".encode())
        assert (await reader.readline()).split()[1] == b"404"
        writer.close()
        assert upstream.requests == []


@pytest.mark.parametrize("method", ["GET", "HEAD", "DELETE", "PUT", "POST", "PATCH", "OPTIONS"])
async def test_every_method_passes(method: str) -> None:
    upstream = await forwarded(method, FILES + "/1")
    assert upstream.request.method == method
    assert upstream.request.body == b""
    assert upstream.request.one("transfer-encoding") is None


@pytest.mark.parametrize("method", ["PUT", "POST", "DELETE", "PATCH"])
async def test_bodies_pass_with_their_length(method: str) -> None:
    upstream = await forwarded(method, FILES + "/1", body=b"\x00binary\xff")
    assert upstream.request.body == b"\x00binary\xff"
    assert upstream.request.one("content-length") == "8"


async def test_an_empty_post_says_that_it_is_empty() -> None:
    upstream = await forwarded("POST", "/v1/batches/1/cancel")
    assert upstream.request.one("content-length") == "0"


async def test_headers_pass() -> None:
    upstream = await forwarded(
        sent=[
            ("x-twice", "1"),
            ("x-twice", "2"),
            ("openai-beta", "assistants=v2"),
            ("user-agent", "sdk/1"),
            ("accept", "text/plain"),
            ("x-text", "grüße"),
        ]
    )
    request = upstream.request
    assert request.all("x-twice") == ["1", "2"]
    assert request.one("openai-beta") == "assistants=v2"
    assert request.one("user-agent") == "sdk/1"
    assert request.one("accept") == "text/plain"
    assert request.one("x-text").encode("latin-1").decode() == "grüße"
    assert request.one("host") == upstream.url.removeprefix("http://")
    assert request.one("accept-encoding") == "identity"


async def test_nothing_is_added_that_the_client_did_not_send() -> None:
    upstream = await forwarded()
    assert {name.lower() for name, _ in upstream.request.headers} == {"host", "accept-encoding"}


@pytest.mark.parametrize(
    ("protocol", "kept", "left_out"),
    [
        ("chat", "openai-organization", "anthropic-beta"),
        ("responses", "openai-project", "anthropic-version"),
        ("messages", "anthropic-beta", "openai-beta"),
    ],
)
async def test_a_vendor_s_headers_go_to_its_protocol(
    protocol: str, kept: str, left_out: str
) -> None:
    headers = [(kept, "v"), (left_out, "v")]
    upstream = await forwarded(sent=headers, protocol=protocol)
    assert upstream.request.one(kept) == "v"
    assert upstream.request.one(left_out) is None


async def test_headers_of_one_hop_stay_here() -> None:
    names = [
        "keep-alive",
        "te",
        "trailer",
        "upgrade",
        "proxy-authorization",
        "proxy-connection",
        "x-foo",
        "x-bar",
    ]
    headers = [*((name, "x") for name in names), ("x-stays", "1")]
    connection = [("connection", "keep-alive, X-Foo"), ("connection", "x-bar")]
    upstream = await forwarded(sent=[*headers, *connection])
    found = {name.lower() for name, _ in upstream.request.headers}
    assert found & {*names, "connection"} == set()
    assert "x-stays" in found


async def test_a_packed_body_of_a_path_that_nobody_reads_stays_packed() -> None:
    packed = gzip.compress(b"text")
    upstream = await forwarded("POST", FILES, sent=[("content-encoding", "gzip")], body=packed)
    assert upstream.request.body == packed
    assert upstream.request.one("content-encoding") == "gzip"


async def test_a_packed_request_is_unpacked_where_it_is_read() -> None:
    packed = gzip.compress(b'{"model": "m", "messages": []}')
    upstream = await forwarded(
        "POST",
        "/v1/chat/completions",
        sent=[("content-encoding", "gzip"), ("content-type", "application/json")],
        body=packed,
    )
    assert upstream.request.body == b'{"messages":[],"model":"m"}'
    assert upstream.request.one("content-encoding") is None
    assert upstream.request.one("content-length") == "27"


async def test_configured_headers_are_added() -> None:
    upstream = await forwarded(sent=[("x-team", "client")], headers={"X-Team": "a"})
    assert upstream.request.all("x-team") == ["a"]
