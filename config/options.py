"""What every middleware's options have in common."""

from __future__ import annotations

from typing import ClassVar

from msgspec import Struct


class Options(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What can be said about one middleware. Each middleware's module has a subclass of this name.

    The TOML table is `[middlewares.MODULE]`, and `[upstreams.middlewares.MODULE]` for one upstream.
    """

    enabled: bool = True
    """Whether the middleware stands in the stack; a disabled one costs nothing."""

    per_upstream: ClassVar[bool] = True
    """False on middlewares that act before an upstream is chosen: they cannot be tuned for one."""
