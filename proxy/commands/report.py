"""What a configuration comes to, in words: the upstreams and the stack of each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec.structs import asdict

from toolwire.config.model import Server, Settings, ThirdParty, Upstream
from toolwire.config.options import Options
from toolwire.proxy.stack import Layer, inner_layers, outer_layers, shared_for

_MASK = "***"


def report(settings: Settings) -> str:
    """The whole text.  Secrets stand in it as stars, and of the options of somebody else's
    middleware, which may be secrets too, only the names."""
    lines = [f"The configuration is right. {_server(settings.server)}", ""]
    shared = shared_for(settings)
    lines += ["before an upstream is chosen", *_stack(outer_layers(settings, shared)), ""]
    for upstream in settings.upstreams:
        default = upstream.name == settings.default_upstream
        lines += [f"upstream {upstream.name}{' (the default one)' if default else ''}"]
        lines += [f"  {name:<12}{value}" for name, value in _facts(upstream)]
        lines += ["  stack", *_stack(inner_layers(settings, upstream, shared), "    "), ""]
    return "\n".join(lines).rstrip()


def _server(server: Server) -> str:
    workers = "1 process" if server.workers == 1 else f"{server.workers} processes"
    asked = server.auth == "keys" and server.client_keys
    keys = "clients show a key" if asked else "clients need no key"
    host = f"[{server.host}]" if ":" in server.host else server.host
    return f"It listens on {host}:{server.port} in {workers}; {keys}."


def _facts(upstream: Upstream) -> Iterator[tuple[str, str]]:
    yield "protocol", upstream.protocol
    yield "provider", upstream.provider
    yield "base URL", _base_url(upstream)
    yield "key", _key(upstream)
    yield "models", ", ".join(upstream.models)
    if upstream.headers:
        yield "headers", ", ".join(f"{name}: {_MASK}" for name in upstream.headers)


def _base_url(upstream: Upstream) -> str:
    if upstream.api_root == upstream.base_url.rstrip("/"):
        return upstream.base_url
    return f"{upstream.base_url} (asked under {upstream.api_root})"


def _key(upstream: Upstream) -> str:
    own = _MASK if upstream.api_key else "none"
    return f"the client's own, else {own}" if upstream.forward_client_auth else own


def _stack(layers: list[Layer], indent: str = "  ") -> list[str]:
    return [f"{indent}{layer.name:<26}{_options(layer.options)}".rstrip() for layer in layers]


def _options(options: Options) -> str:
    """What differs from the default, as it would stand in the file."""
    if isinstance(options, ThirdParty):
        return ", ".join([f'use = "{options.use}"', *(f"{k} = {_MASK}" for k in options.options)])
    default = asdict(type(options)())
    return ", ".join(
        f"{name} = {_toml(value)}"
        for name, value in asdict(options).items()
        if value != default[name]
    )


def _toml(value: object) -> str:
    match value:
        case bool():
            return str(value).lower()
        case str():
            return f'"{value}"'
        case list() | tuple():
            return f"[{', '.join(map(_toml, value))}]"
        case Mapping():
            return f"{{ {', '.join(f'{key} = {_toml(item)}' for key, item in value.items())} }}"
    return str(value)
