"""What the tests of the configuration share: reading a text, and hearing what is wrong with it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, ClassVar, Literal

import pytest
from msgspec import Meta, field

from toolwire.config import Options
from toolwire.config.load import loads
from toolwire.config.model import Settings
from toolwire.config.problems import ConfigError

UPSTREAM = """
[[upstreams]]
name = "a"
protocol = "chat"
base_url = "http://127.0.0.1:9000"
"""
"""The least that a configuration has to say."""


class Early(Options, frozen=True, kw_only=True, forbid_unknown_fields=True):
    per_upstream: ClassVar[bool] = False


class Tuned(Options, frozen=True, kw_only=True, forbid_unknown_fields=True):
    flush: Literal["read", "budget"] = "read"
    size: Annotated[int, Meta(ge=1, le=9)] = 4
    limits: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.flush == "budget" and self.size > 8:
            raise ValueError("expected size of at most 8 with flush = budget")


OPTIONS: dict[str, type[Options]] = {
    "auth": Early,
    "routing": Early,
    "tuned": Tuned,
    "last": Options,
}

Read = Callable[..., Settings]
Problems = Callable[..., list[str]]


@pytest.fixture
def read(tmp_path: Path) -> Read:
    """`read(text)`: the settings of a text whose file stands in `tmp_path`."""

    def read(text: str, environ: Mapping[str, str] | None = None, **more: object) -> Settings:
        return loads(
            text,
            environ=environ or {},
            options=OPTIONS,
            file="toolwire.toml",
            folder=tmp_path,
            **more,  # type: ignore[arg-type]
        )

    return read


@pytest.fixture
def problems(read: Read) -> Problems:
    """`problems(text)`: the lines that say what is wrong with it, without the file's name."""

    def problems(text: str, environ: Mapping[str, str] | None = None, **more: object) -> list[str]:
        with pytest.raises(ConfigError) as caught:
            read(text, environ, **more)
        lines = str(caught.value).splitlines()
        assert lines == [str(problem) for problem in caught.value.problems]
        return [line.removeprefix("toolwire.toml: ") for line in lines]

    return problems
