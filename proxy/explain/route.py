"""Which upstream is asked, and why."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase

from msgspec import Struct
from msgspec.structs import replace

from toolwire.config.model import Settings, Upstream
from toolwire.config.problems import did_you_mean, listed
from toolwire.proxy.exchange import Exchange
from toolwire.proxy.explain.given import InputError
from toolwire.proxy.models import Catalog
from toolwire.proxy.protocols.neutral import Protocol


class Route(Struct, frozen=True):
    """``model`` is the name that goes up; ``fallbacks`` are asked, in order, while nobody before
    them can be reached."""

    upstream: str
    protocol: Protocol
    provider: str
    model: str
    why: str
    fallbacks: list[str]


def narrowed(settings: Settings, name: str | None, spoken: Protocol | None) -> Settings:
    """The settings with only the upstreams that may be asked: the one called ``name``, else those
    that speak the protocol of the recorded answer, where there are some.

    Raises ``InputError`` where no upstream has the name.
    """
    if name is not None:
        upstream = settings.upstream(name)
        if upstream is None:
            names = [upstream.name for upstream in settings.upstreams]
            raise InputError(
                f'--upstream: expected the name of an upstream ({listed(names)}), got "{name}"'
                + did_you_mean(name, names)
            )
        return _only(settings, [replace(upstream, models=("*",))])
    speaking = [upstream for upstream in settings.upstreams if upstream.protocol == spoken]
    return _only(settings, speaking) if speaking else settings


def _only(settings: Settings, upstreams: Sequence[Upstream]) -> Settings:
    return replace(settings, upstreams=tuple(upstreams), default_upstream=upstreams[0].name)


def route_of(
    settings: Settings, exchange: Exchange | None, name: str | None, spoken: Protocol | None
) -> Route | None:
    """What routing chose among ``settings``, narrowed by ``name`` or ``spoken``; None where it
    came to no choice."""
    upstream = exchange.upstream if exchange else None
    if exchange is None or upstream is None:
        return None
    asked = exchange.client_model or ""
    others = [other.name for other, _ in Catalog(settings.upstreams).candidates(asked)]
    return Route(
        upstream.name,
        upstream.protocol,
        upstream.provider,
        exchange.model or "",
        _why(settings, upstream, asked, name is not None, spoken),
        [other for other in others if other != upstream.name],
    )


def _why(
    settings: Settings, upstream: Upstream, asked: str, named: bool, spoken: Protocol | None
) -> str:
    if named:
        return "--upstream names it"
    if asked.partition("/")[0] == upstream.name and "/" in asked:
        return f'the model "{asked}" names it, and the prefix is taken off'
    glob = next((glob for glob in upstream.models if fnmatchcase(asked, glob)), "")
    first = f'it is the first whose models fit "{asked}" ("{glob}")'
    if len(settings.upstreams) == 1:
        first = f'its models fit "{asked}" ("{glob}")'
    if spoken is not None and spoken == upstream.protocol:
        return f"it speaks {spoken}, as the recorded answer does, and {first}"
    return first
