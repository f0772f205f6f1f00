"""An answer that is an error, in the shape that the protocol's vendor gives it.

https://platform.openai.com/docs/guides/error-codes
https://docs.anthropic.com/en/api/errors
"""

from __future__ import annotations

from toolwire.proxy.demo.neutral import Json, Protocol

_TYPES = {  # of Anthropic; OpenAI's are told by the refusal itself
    400: "invalid_request_error",
    401: "authentication_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    500: "api_error",
    503: "overloaded_error",
    529: "overloaded_error",
}


class Refusal(Exception):
    """The demo does not answer this request, as its vendor would not.

    `type`, `param` and `code` are those of OpenAI's error object; Anthropic's type follows from the
    status, `details` are those of its error object. `page` is HTML that is sent in place of either.
    """

    def __init__(
        self,
        message: str,
        *,
        status: int = 400,
        type: str = "invalid_request_error",
        param: str | None = None,
        code: str | None = None,
        headers: dict[str, str] | None = None,
        details: Json | None = None,
        page: str | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.status = status
        self.type = type
        self.param = param
        self.code = code
        self.headers = headers or {}
        self.details = details
        self.page = page

    def body(self, protocol: Protocol, request_id: str) -> Json:
        """The error document of that protocol."""
        if protocol is Protocol.MESSAGES:
            kind = _TYPES.get(self.status, "api_error")
            error: Json = {"type": kind, "message": self.message}
            if self.details is not None:
                error["details"] = self.details
            return {"type": "error", "error": error, "request_id": request_id}
        error = {"message": self.message, "type": self.type, "param": self.param, "code": self.code}
        return {"error": error}
