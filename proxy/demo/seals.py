"""Signatures and ciphertexts of the demo's own thinking: stable, and verified without a memory.

A real vendor refuses a thinking block whose signature is not its own or whose text was changed; so
does the demo, and that shows whether they survived the way there and back.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac

_KEY = b"the key of the demo upstream is no secret"
_NONCE = 16
_MAC = 32
_CIPHER_PREFIX = b"\x80demo"


def sign(thinking: str, seed: str) -> str:
    """The signature of a thinking block with this text."""
    nonce = bytes.fromhex(seed)[:_NONCE]
    return base64.b64encode(nonce + _mac(nonce, _bytes(thinking))).decode()


def is_signature(signature: object, thinking: object) -> bool:
    """Whether the demo gave this signature to this text."""
    raw = _decoded(signature)
    if len(raw) != _NONCE + _MAC or not isinstance(thinking, str):
        return False
    return hmac.compare_digest(raw[_NONCE:], _mac(raw[:_NONCE], _bytes(thinking)))


def encrypt(thinking: str, seed: str) -> str:
    """The encrypted content of a reasoning item with this text. It can be verified, not read."""
    sealed = _CIPHER_PREFIX + hashlib.sha256(bytes.fromhex(seed) + _bytes(thinking)).digest()
    return base64.urlsafe_b64encode(sealed + _mac(b"cipher", sealed)).decode()


def is_ciphertext(content: object) -> bool:
    """Whether the demo made this encrypted content."""
    raw = _decoded(content, altchars=b"-_")
    sealed, mac = raw[:-_MAC], raw[-_MAC:]
    return sealed.startswith(_CIPHER_PREFIX) and hmac.compare_digest(mac, _mac(b"cipher", sealed))


def _mac(nonce: bytes, text: bytes) -> bytes:
    return hmac.digest(_KEY, nonce + text, "sha256")


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _decoded(text: object, altchars: bytes | None = None) -> bytes:
    """The bytes of a Base64 string; none at all when it is not one."""
    if not isinstance(text, str):
        return b""
    try:
        return base64.b64decode(text.encode(), altchars=altchars, validate=True)
    except (binascii.Error, UnicodeEncodeError):
        return b""
