from __future__ import annotations

import pytest

from toolwire.proxy.protocols.neutral import (
    Failure,
)
from toolwire.proxy.protocols.responses import CODEC


class TestErrors:
    def test_the_words_of_the_same_family_stay(self) -> None:
        failure = Failure(
            429,
            "Slow down",
            kind="rate_limit",
            type="tokens",
            code="rate_limit_exceeded",
            param="p",
        )

        assert CODEC.write_failure(failure) == {
            "error": {
                "message": "Slow down",
                "type": "tokens",
                "param": "p",
                "code": "rate_limit_exceeded",
            }
        }

    @pytest.mark.parametrize(
        ("kind", "word", "written"),
        [
            ("too_large", "request_too_large", "invalid_request_error"),
            ("api", "api_error", "server_error"),
            ("overloaded", "overloaded_error", "overloaded_error"),
            ("billing", None, "insufficient_quota"),
        ],
    )
    def test_words_of_another_family(self, kind: str, word: str | None, written: str) -> None:
        document = CODEC.write_failure(Failure(500, "m", kind=kind, type=word))

        assert document["error"]["type"] == written

    def test_any_body_is_read(self) -> None:
        body = b'{"error": {"message": "No", "type": "invalid_request_error", "code": "c"}}'

        failure = CODEC.read_failure(400, body)

        assert (failure.message, failure.code, failure.kind) == ("No", "c", "invalid_request")
        assert CODEC.read_failure(502, b"<html>Bad gateway</html>").status == 502
