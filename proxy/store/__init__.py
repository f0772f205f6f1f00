"""Where answers are kept for ``previous_response_id``: the facade, and how it is opened.

Importing this loads no database library: that happens when the first answer is kept.
"""

from toolwire.proxy.store.interface import NoStore, Store, StoredResponse, StoreUnavailable
from toolwire.proxy.store.memory import MemoryStore
from toolwire.proxy.store.opening import open_store
from toolwire.proxy.store.unresolved import reference_error

__all__ = [
    "MemoryStore",
    "NoStore",
    "Store",
    "StoreUnavailable",
    "StoredResponse",
    "open_store",
    "reference_error",
]
