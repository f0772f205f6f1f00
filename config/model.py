"""What an operator can say: the structs that `load` fills from the TOML file.

Everything here is immutable. Times are seconds, sizes are bytes, names are those of the TOML file.
The defaults are written out with their meaning in `defaults.toml`.
"""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct

from toolwire.config.kinds import (
    ClientKey,
    DatabaseUrl,
    File,
    Glob,
    HeaderName,
    Host,
    Key,
    Name,
    Prefix,
    SecretHeaderValue,
    Url,
)
from toolwire.config.options import Options
from toolwire.config.profile import Profile, Protocol
from toolwire.config.resolution import ProfileRules
from toolwire.config.secret import Secret
from toolwire.config.third_party import ThirdParty

__all__ = [
    "Options",
    "Profile",
    "Protocol",
    "ResponsesStore",
    "Secret",
    "Server",
    "Settings",
    "ThinkingStore",
    "ThirdParty",
    "Upstream",
]

Seconds = Annotated[float, Meta(gt=0)]
Positive = Annotated[int, Meta(ge=1)]
OnLoss = Literal["report", "reject"]
"""What happens when the upstream's protocol cannot carry what the client said: it is reported in a
header, the log and a counter, or the request is a 400 that names the field."""


class Server(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where the gateway listens, and what it asks of its clients."""

    host: Host = "127.0.0.1"
    """Address or name to listen on. One that others can reach needs client keys, or `auth =
    "off"`."""

    port: Annotated[int, Meta(ge=0, le=65535)] = 8080
    """TCP port; 0 lets the system choose one."""

    workers: Annotated[int, Meta(ge=1, le=256)] = 1
    """Processes that share the port."""

    root_path: Prefix = ""
    """The path under which a reverse proxy in front shows the gateway, such as `/llm`."""

    auth: Literal["keys", "off"] = "keys"
    """`keys`: a client shows one of `client_keys` where there are any. `off`: nobody is asked."""

    client_keys: tuple[ClientKey, ...] = ()
    """Keys that clients may show, as `Authorization: Bearer` or `x-api-key`."""

    client_keys_file: File = ""
    """A file with further keys, one a line; empty lines and lines that begin with `#` do not
    count."""

    max_body_bytes: Positive = 64 * 1024 * 1024
    """The largest request body; a larger one is a 413."""

    drain_seconds: Annotated[float, Meta(ge=0)] = 30.0
    """How long running requests may go on after SIGTERM before they are cut."""

    log_level: Literal["debug", "info", "warning", "error"] = "info"

    log_format: Literal["auto", "console", "json"] = "auto"
    """`auto`: `console` on a terminal, else `json`, one object a line."""

    metrics: bool = True
    """Whether `GET /metrics` is answered, without authentication, in the format of Prometheus."""


class ResponsesStore(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where answers are kept for `previous_response_id` on upstreams that know no Responses."""

    enabled: bool = True

    url: DatabaseUrl = Secret("")
    """A database URL (`sqlite:///...`, `postgresql://...`), secret because it may hold a password.
    Empty: `responses.sqlite3` in the user's state folder (`$XDG_STATE_HOME/toolwire`)."""

    max_age_seconds: Seconds = 30 * 24 * 3600.0
    """How long an answer is kept. OpenAI keeps them 30 days.
    https://platform.openai.com/docs/guides/your-data"""

    max_entries: Positive = 100_000
    """How many answers are kept; the oldest goes first."""

    max_bytes: Positive = 1024**3
    """How much is kept in all, before compression: each answer is kept with all that led to it."""


class ThinkingStore(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The memory that gives a turn its signed thinking back when the client dropped it; per
    worker."""

    enabled: bool = True

    max_entries: Positive = 10_000
    """How many turns are remembered; the one unused for longest goes first."""

    max_bytes: Positive = 32 * 1024 * 1024
    """How much thinking is remembered in all."""

    max_age_seconds: Seconds = 24 * 3600.0
    """How long a turn is remembered after its last use."""


class Upstream(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A server that runs models, and how it is reached."""

    name: Name
    """Clients may write `NAME/model`; unique."""

    protocol: Protocol
    """What it speaks."""

    base_url: Url
    """Its address, with or without the version (`/v1`) at the end; see `api_root`."""

    version_path: Prefix = "/v1"
    """Put after a `base_url` without a version in its path; empty: nothing is."""

    provider: str = "generic"
    """The profile of quirks: a table of `providers.toml` or of the file's `[providers]`."""

    api_key: Key = Secret("")
    api_key_file: File = ""
    """A file that holds the key instead, in a line of its own, as with `client_keys_file`."""

    forward_client_auth: bool = False
    """Whether the client's own credentials go up in the place of `api_key`."""

    models: tuple[Glob, ...] = ("*",)
    """Globs of the models it serves, case-sensitive. The first upstream that matches is asked, the
    next ones are its fallbacks. Names without wildcard are listed by `GET /v1/models`."""

    headers: dict[HeaderName, SecretHeaderValue] = {}
    """Headers added to each request; secret, for many of them are."""

    connect_seconds: Seconds = 10.0
    """The longest wait for a connection (name, TCP and TLS); then 502."""

    first_byte_seconds: Seconds = 600.0
    """The longest wait for the head of the answer; then 504. Plain answers of models that think
    take long. The official SDKs wait 600 s as well:
    https://github.com/openai/openai-python#timeouts"""

    between_bytes_seconds: Seconds = 300.0
    """The longest silence inside an answer; then it counts as cut. A living stream has no total
    limit."""

    max_connections: Positive = 512
    """Connections open at once, per worker; further requests wait for one."""

    keepalive_seconds: Seconds = 30.0
    """How long an unused connection is kept."""

    verify_tls: bool = True
    """Whether the certificate must be valid; false only for tests."""

    ca_file: File = ""
    """A PEM file with the authorities to trust instead of the system's."""

    trust_env_proxies: bool = False
    """Whether `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY` are obeyed."""

    on_loss: OnLoss | None = None
    """This upstream's own `on_loss`; after loading never None."""

    middlewares: dict[str, Options] = {}
    """Every middleware's options here, in the order of the stack; in the file what differs from
    `[middlewares]`. Those of others are `ThirdParty`."""

    profile: ProfileRules = ProfileRules()
    """In the file what differs from the provider's profile; here all the rules that apply."""

    @property
    def api_root(self) -> str:
        """The URL to which `/chat/completions`, `/messages` or `/models` is added; no slash at its
        end."""
        return api_root(self.base_url, self.version_path)

    def profile_for(self, model: str) -> Profile:
        """The quirks of one model here: the provider's, changed by each glob that fits;
        remembered."""
        return self.profile.for_model(model)


class Settings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The whole configuration."""

    server: Server = Server()
    upstreams: tuple[Upstream, ...] = ()
    """In the order of the file, which is the order in which models are looked up."""

    default_upstream: str = ""
    """Who gets requests that name no model (files, batches, ...); after loading a name, the first
    upstream's where the file says nothing."""

    on_loss: OnLoss = "report"
    middlewares: dict[str, Options] = {}
    """Every middleware's options where an upstream says nothing else, in the order of the stack,
    outermost first. Those of others are `ThirdParty`, at the place that they asked for."""

    responses_store: ResponsesStore = ResponsesStore()
    thinking_store: ThinkingStore = ThinkingStore()

    def upstream(self, name: str) -> Upstream | None:
        """The upstream of that name."""
        return next((upstream for upstream in self.upstreams if upstream.name == name), None)


def api_root(base_url: str, version_path: str) -> str:
    """`https://host` -> `https://host/v1`; a path that has a version already stays as it is."""
    url = base_url.rstrip("/")
    path = url.split("://", 1)[-1].split("/")[1:]
    return url if any(_is_version(segment) for segment in path) else url + version_path


def _is_version(segment: str) -> bool:
    """`v1`, `v4`, `v1beta`: what vendors put before their endpoints."""
    return segment[:1] == "v" and segment[1:2].isdigit()
