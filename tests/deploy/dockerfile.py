"""Reads deploy/Dockerfile, as far as tests want to know of it."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from typing import NamedTuple

from tests.deploy.files import DEPLOY, ROOT


class Instruction(NamedTuple):
    """`COPY config config` is ("COPY", "config config")."""

    name: str
    rest: str


def _instructions(text: str) -> list[Instruction]:
    lines = [line for line in text.splitlines() if not line.lstrip().startswith("#")]
    joined = "\n".join(lines).replace("\\\n", " ")
    split = (line.split(None, 1) for line in joined.splitlines() if line.strip())
    return [Instruction(name, " ".join(rest.split())) for name, rest in split]


def _stages(instructions: list[Instruction]) -> list[list[Instruction]]:
    starts = [i for i, found in enumerate(instructions) if found.name == "FROM"]
    return [instructions[a:b] for a, b in zip(starts, [*starts[1:], None], strict=True)]


BUILD, IMAGE = _stages(_instructions((DEPLOY / "Dockerfile").read_text("utf-8")))
"""The stage that builds the environment, and the one that is the image."""


def values(stage: list[Instruction], name: str) -> list[str]:
    """What the instructions of one name say, in their order."""
    return [found.rest for found in stage if found.name == name]


def environment(stage: list[Instruction]) -> dict[str, str]:
    """The variables that `ENV` sets, and `ARG` by default."""
    said = " ".join(values(stage, "ENV") + values(stage, "ARG"))
    return dict(re.findall(r"(\w+)=(\S+)", said))


def copies(stage: list[Instruction]) -> list[tuple[str, str]]:
    """Source in the context and target of each `COPY`; those from other stages are left out."""
    found = []
    for rest in values(stage, "COPY"):
        *sources, target = rest.split()
        if not rest.startswith("--from="):
            found.extend((source, target) for source in sources)
    return found


def reaches_builder(path: str) -> bool:
    """Whether .dockerignore lets a path of the checkout into the build context.

    https://docs.docker.com/build/concepts/context/#dockerignore-files
    """
    parts = path.split("/")
    prefixes = ["/".join(parts[: i + 1]) for i in range(len(parts))]
    let_in = True
    for line in (ROOT / ".dockerignore").read_text("utf-8").splitlines():
        pattern = line.removeprefix("!").removeprefix("**/")
        if not pattern or pattern.startswith("#"):
            continue
        tried = parts if "**/" in line else prefixes
        if any(fnmatchcase(candidate, pattern) for candidate in tried):
            let_in = line.startswith("!")
    return let_in
