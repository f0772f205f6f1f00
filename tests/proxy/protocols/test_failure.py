"""Error bodies of every shape that servers are known to send."""

from __future__ import annotations

from typing import Any

import pytest

from toolwire.proxy.protocols import json
from toolwire.proxy.protocols.failure import read_body, read_document


@pytest.mark.parametrize(
    ("body", "message", "code"),
    [
        ({"error": {"message": "m", "code": "c"}}, "m", "c"),
        ({"error": "m"}, "m", None),
        ([{"error": {"message": "m", "code": 400}}], "m", 400),
        ({"message": "m", "code": "c"}, "m", "c"),
        ({"detail": "m"}, "m", None),
        ({"errors": [{"message": "m", "code": 5006}, {"message": "n"}]}, "m", 5006),
        ({"error_msg": "m", "error_code": 17}, "m", 17),
        ({"choices": None, "base_resp": {"status_code": 1004, "status_msg": "m"}}, "m", 1004),
    ],
)
def test_shapes(body: Any, message: str, code: Any) -> None:
    failure = read_body(400, json.encode(body))
    assert (failure.message, failure.code, failure.kind) == (message, code, "invalid_request")


@pytest.mark.parametrize(
    "document",
    [{}, {"errors": []}, {"errors": ["m"]}, {"base_resp": {"status_code": 0, "status_msg": "ok"}}],
)
def test_no_error(document: dict[str, Any]) -> None:
    assert read_document(200, document) is None


def test_what_is_no_json_is_shown() -> None:
    html = b"<html><style>p {}</style><body>Bad <b>gateway</b></body></html>"
    assert read_body(502, html).message == "the upstream answered 502 with: Bad gateway"
    assert read_body(502, b"").message == "the upstream answered 502 without a body"
