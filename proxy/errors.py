"""What can go wrong with a request, and whose fault it is.

Each exception knows the HTTP status it stands for and the neutral *kind* of error, which each
protocol turns into its own word (``rate_limit_error``, ``invalid_request_error``, …).  Raise one
anywhere below the error middleware; it becomes an answer in the client's own shape.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar


class ToolwireError(Exception):
    """The root: something this gateway says itself.

    ``message`` is shown to the client, so it never holds a secret.  ``param`` is the path of the
    faulty field (``messages[2].tool_calls[0].id``), ``code`` a word for programs.
    """

    status: ClassVar[int] = 500
    code: str | None = None

    def __init__(
        self,
        message: str,
        *,
        param: str | None = None,
        code: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.param = param
        self.code = code or type(self).code
        self.headers = dict(headers or {})


class ClientError(ToolwireError):
    """The client's request cannot be served as it is."""

    status = 400


class InvalidRequest(ClientError):
    """The body or a parameter is wrong: 400, with the path of the field where there is one."""

    code = "invalid_request"


class Unauthorized(ClientError):
    """No client key, or a wrong one."""

    status = 401
    code = "invalid_api_key"


class NotFound(ClientError):
    """No such path or stored response."""

    status = 404
    code = "not_found"


class ModelNotFound(NotFound):
    """No upstream serves the model."""

    code = "model_not_found"


class BodyTooLarge(ClientError):
    """The body is over the configured size."""

    status = 413
    code = "request_too_large"


class RateLimited(ClientError):
    """Over a limit of the gateway itself; ``headers`` carries ``retry-after``."""

    status = 429
    code = "rate_limit_exceeded"


class UpstreamError(ToolwireError):
    """The upstream, or the way to it, failed."""

    status = 502
    code = "upstream_error"


class UpstreamUnreachable(UpstreamError):
    """No connection: refused, no such host, TLS failure, or closed before any answer."""

    code = "upstream_unreachable"


class UpstreamTimeout(UpstreamError):
    """The first byte, or the next one, did not come in time."""

    status = 504
    code = "upstream_timeout"


class UpstreamCut(UpstreamError):
    """The answer broke off in the middle."""

    code = "upstream_cut"


class ShuttingDown(UpstreamError):
    """The gateway stops, and its time to drain is over."""

    status = 503
    code = "shutting_down"

    def __init__(self) -> None:
        super().__init__("this gateway is shutting down; ask again")


class BadUpstreamAnswer(UpstreamError):
    """The upstream answered something that is no answer of its protocol."""

    code = "bad_upstream_answer"


class ClientDisconnected(Exception):
    """The client left; nobody is there to be answered."""
