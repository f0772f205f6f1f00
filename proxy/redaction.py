"""Keeps an upstream's key from coming back: some upstreams repeat a key that they refuse."""

from __future__ import annotations

from toolwire.config.model import Upstream
from toolwire.proxy.headers import CREDENTIALS

SHORTEST = 8
"""Characters; anything shorter is no secret, and may stand in any text."""


def secrets_of(upstream: Upstream) -> tuple[bytes, ...]:
    """What must not come back: the key, and credentials among the configured headers."""
    headers = upstream.headers.items()
    given = [value for name, value in headers if name.lower().encode() in CREDENTIALS]
    texts = [secret.reveal() for secret in (upstream.api_key, *given)]
    return tuple(text.encode("latin-1") for text in texts if len(text) >= SHORTEST)


class Redaction:
    """Puts as many asterisks in the place of each secret in a body that comes read by read.

    The end of a read is held back only where a secret may have begun in it.
    """

    def __init__(self, secrets: tuple[bytes, ...]) -> None:
        self._secrets = secrets
        self._held = b""

    def feed(self, data: bytes, *, last: bool = False) -> bytes:
        """What can be shown of the body now."""
        data = redacted(self._held + data if self._held else data, self._secrets)
        begun = 0 if last else max((_begun(data, secret) for secret in self._secrets), default=0)
        self._held = data[len(data) - begun :]
        return data[: len(data) - begun]


def redacted(text: bytes, secrets: tuple[bytes, ...]) -> bytes:
    """``text`` with each secret made unreadable, as long as before."""
    for secret in secrets:
        if secret in text:
            text = text.replace(secret, b"*" * len(secret))
    return text


def _begun(data: bytes, secret: bytes) -> int:
    """How many bytes at the end of ``data`` may be the beginning of ``secret``."""
    at = data.find(secret[:1], max(0, len(data) - len(secret) + 1))
    while at >= 0:
        if secret.startswith(data[at:]):
            return len(data) - at
        at = data.find(secret[:1], at + 1)
    return 0
