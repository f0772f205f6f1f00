"""The connections to one upstream: an aiohttp session with its limits, TLS and proxy."""

from __future__ import annotations

import ssl
import urllib.request
from urllib.parse import urlsplit

import aiohttp

from toolwire.config.model import Upstream

READ_BYTES = 64 * 1024
"""aiohttp stops reading from the upstream when twice this waits to be taken."""

MAX_HEADER_BYTES = 64 * 1024
DNS_SECONDS = 60
"""How long the address of an upstream is remembered."""


def open_session(upstream: Upstream, *, keep: bool = True) -> aiohttp.ClientSession:
    """A session for requests to ``upstream``; without ``keep`` each has a connection of its own.

    It decides nothing itself: no redirects, cookies, headers or retries.
    """
    connector = aiohttp.TCPConnector(
        ssl=_tls(upstream),
        ttl_dns_cache=DNS_SECONDS,
        limit=upstream.max_connections,
        force_close=not keep,
        keepalive_timeout=upstream.keepalive_seconds if keep else None,
    )
    session = aiohttp.ClientSession(
        connector=connector,
        timeout=aiohttp.ClientTimeout(total=None, sock_connect=upstream.connect_seconds),
        cookie_jar=aiohttp.DummyCookieJar(),
        skip_auto_headers=("User-Agent", "Accept", "Accept-Encoding", "Content-Type"),
        proxy=environment_proxy(upstream.base_url) if upstream.trust_env_proxies else None,
        read_bufsize=READ_BYTES,
        max_line_size=MAX_HEADER_BYTES,
        max_field_size=MAX_HEADER_BYTES,
    )
    session._retry_connection = False  # of GETs and the like, which would be counted by nobody
    return session


def environment_proxy(url: str) -> str | None:
    """What ``HTTPS_PROXY``, ``HTTP_PROXY`` and ``NO_PROXY`` say of ``url``.

    aiohttp's own ``trust_env`` would read passwords from ``~/.netrc``, too.
    """
    parts = urlsplit(url)
    if urllib.request.proxy_bypass(parts.netloc):
        return None
    proxies = urllib.request.getproxies_environment()
    return proxies.get(parts.scheme) or proxies.get("all")


def _tls(upstream: Upstream) -> ssl.SSLContext | bool:
    if not upstream.verify_tls:
        return False
    return ssl.create_default_context(cafile=upstream.ca_file) if upstream.ca_file else True
