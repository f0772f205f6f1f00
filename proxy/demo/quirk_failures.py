"""What some quirks refuse, and how."""

from __future__ import annotations

from typing import NoReturn

from toolwire.proxy.demo.neutral import Json, Protocol
from toolwire.proxy.demo.refusals import Refusal

_RETRY_AFTER = "1"  # seconds
_HTML = (
    "<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n<body>\r\n"
    "<center><h1>502 Bad Gateway</h1></center>\r\n</body>\r\n</html>\r\n"
)


def rate_limit(protocol: Protocol) -> NoReturn:
    """429, come back in a second."""
    raise Refusal(
        "Rate limit reached for requests.",
        status=429,
        type="requests",
        code="rate_limit_exceeded",
        headers={"retry-after": _RETRY_AFTER},
    )


def overloaded(protocol: Protocol) -> NoReturn:
    """529 as Anthropic says it, 503 as OpenAI does."""
    if protocol is Protocol.MESSAGES:
        raise Refusal("Overloaded", status=529)
    raise Refusal(
        "The engine is currently overloaded, please try again later.",
        status=503,
        type="server_error",
        code="service_unavailable",
    )


def server_error(protocol: Protocol) -> NoReturn:
    """500."""
    message = "The server had an error while processing your request."
    raise Refusal(message, status=500, type="server_error")


def html_error(protocol: Protocol) -> NoReturn:
    """502 with the page of a load balancer."""
    raise Refusal("Bad Gateway", status=502, page=_HTML)


def error_200(protocol: Protocol) -> NoReturn:
    """An error object under status 200, as some aggregators send it."""
    raise Refusal("Provider returned error", status=200, type="server_error", code="502")


def forced_while_thinking(body: Json) -> None:
    """Alibaba's models think unless `enable_thinking` is false, and then no call can be forced.

    https://github.com/cloudwego/eino/issues/994
    """
    choice = body.get("tool_choice")
    forced = choice == "required" or isinstance(choice, dict)
    if forced and bailian_thinks(body):
        raise Refusal(
            "<400> InternalError.Algo.InvalidParameter: The tool_choice parameter does not support"
            " being set to required or object in thinking mode",
            code="invalid_parameter_error",
        )


def reasoning_left_out(body: Json) -> None:
    """DeepSeek's thinking models want the reasoning of each turn that called tools.

    https://api-docs.deepseek.com/guides/thinking_mode
    """
    called = (m for m in body["messages"] if m.get("tool_calls"))
    left_out = any(not isinstance(m.get("reasoning_content"), str) for m in called)
    if left_out and deepseek_thinks(body):
        raise Refusal(
            "The `reasoning_content` in the thinking mode must be passed back to the API.",
            code="invalid_request_error",
        )


def bailian_thinks(body: Json) -> bool:
    """On unless switched off."""
    return body.get("enable_thinking") is not False


def deepseek_thinks(body: Json) -> bool:
    """On unless switched off."""
    return body.get("thinking") != {"type": "disabled"}
