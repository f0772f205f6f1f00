"""The order of the stack, and what is built of it."""

from __future__ import annotations

from typing import Any

import pytest

from toolwire.config.load import from_dict
from toolwire.config.model import Settings, ThirdParty, Upstream
from toolwire.config.options import Options
from toolwire.middlewares import key_canonicalization, sse_rechunking
from toolwire.proxy import stack
from toolwire.proxy.stack import OPTIONS, STACK, inner_layers, order, outer_layers

OURS = [step.name for step in STACK]
PLAIN = "starlette.middleware.gzip:GZipMiddleware"


def loaded(**middlewares: dict[str, Any]) -> Settings:
    upstream = {"name": "u", "protocol": "chat", "base_url": "http://127.0.0.1:1"}
    document = {"upstreams": [upstream], "middlewares": middlewares}
    return from_dict(document, environ={}, options=OPTIONS)


def names(layers: list[stack.Layer]) -> list[str]:
    return [layer.name for layer in layers]


def test_the_whole_stack_in_order() -> None:
    settings = loaded()
    built = names(outer_layers(settings)) + names(inner_layers(settings, settings.upstreams[0]))
    assert built == [name for name in OURS if name != "auth"]  # there are no client keys


def test_third_parties_stand_where_the_file_says() -> None:
    settings = loaded(
        first={"use": PLAIN, "after": "routing"},
        second={"use": PLAIN, "after": "routing"},
        third={"use": PLAIN, "before": "first"},
    )
    inner = names(inner_layers(settings, settings.upstreams[0]))
    assert inner[:4] == ["second", "third", "first", "count_tokens"]


def test_third_parties_among_options_made_by_hand() -> None:
    third = ThirdParty(use=PLAIN, before="routing")
    fourth = ThirdParty(use=PLAIN, after="routing")
    found = order({"third": third, "fourth": fourth})
    place = found.index("routing")
    assert found[place - 1 : place + 2] == ["third", "routing", "fourth"]
    assert [name for name in found if name not in ("third", "fourth")] == OURS


def test_a_disabled_middleware_is_not_built() -> None:
    settings = loaded(access_log={"enabled": False}, answer_repair={"enabled": False})
    assert "access_log" not in names(outer_layers(settings))
    assert "answer_repair" not in names(inner_layers(settings, settings.upstreams[0]))


def test_a_disabled_third_party_need_not_be_installed() -> None:
    settings = loaded(
        gone={"use": "not_installed.anywhere:Gone", "after": "routing", "enabled": False}
    )
    assert "gone" not in names(inner_layers(settings, settings.upstreams[0]))


def test_an_upstream_has_its_own_options() -> None:
    own: dict[str, Options] = {
        "key_canonicalization": key_canonicalization.Options(enabled=False),
        "sse_rechunking": sse_rechunking.Options(flush="budget"),
    }
    upstream = Upstream(name="u", protocol="chat", base_url="http://127.0.0.1:1", middlewares=own)
    layers = {
        layer.name: layer for layer in inner_layers(Settings(upstreams=(upstream,)), upstream)
    }
    assert "key_canonicalization" not in layers
    assert layers["sse_rechunking"].options == own["sse_rechunking"]


def test_options_of_nobody_are_refused() -> None:
    everything = {"stray": Options(), **{name: options() for name, options in OPTIONS.items()}}
    with pytest.raises(TypeError, match="stray"):
        outer_layers(Settings(middlewares=everything))
