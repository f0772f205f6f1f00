"""How the inside of the stack learns why an id of the client's was not found in the store.

Whether that is an error depends on the upstream, which is not known yet when the store is asked: a
native Responses upstream has a store of its own, which may know the id.  So the reason travels
inwards in the scope, and whoever cannot serve the id raises ``reference_error``.
"""

from __future__ import annotations

from toolwire.proxy.asgi import Scope
from toolwire.proxy.errors import InvalidRequest, ToolwireError
from toolwire.proxy.store.interface import StoreUnavailable

_KEY = "toolwire.unresolved"

_NOT_IN_STACK = (
    "this upstream keeps no responses, and the gateway's own response store is not in the stack: "
    "set enabled = true in [middlewares.response_store]"
)


def note(scope: Scope, why: StoreUnavailable | str) -> Scope:
    """The scope for the inner app, with the reason; "" where the id simply is not there."""
    return {**scope, _KEY: why}


def reference_error(scope: Scope, name: str, param: str) -> ToolwireError:
    """The error for an id that was not resolved: 503 where the store failed, else 400.

    ``name`` is the id and ``param`` the path at which the client wrote it:
    ``previous_response_id``, or ``input[3].id`` for an ``item_reference``.
    """
    why = scope.get(_KEY, _NOT_IN_STACK)
    if isinstance(why, StoreUnavailable):
        return why
    response = param == "previous_response_id"
    what = f"Previous response with id '{name}'" if response else f"Item with id '{name}'"
    return InvalidRequest(
        f"{what} not found." + (f" {why[0].upper()}{why[1:]}." if why else ""),
        param=param,
        code="previous_response_not_found" if response else "item_not_found",
    )
