"""Measures ASGI servers side by side and prints one table (Linux).

    python -m tests.bench.servers [--servers uvicorn granian] [--only cost streams life]

Needs the dependency group `servers` (pip install --group servers). CPU time is what the kernel
charged to the server's processes, so a busy machine changes it little; delays it changes much.
"""

import argparse
import asyncio
from collections.abc import Awaitable, Callable

from tests.bench.servers import cost, life, streams
from tests.bench.servers.processes import SERVERS

Rows = dict[str, str]
Measure = Callable[[str], Awaitable[Rows]]

MEASURES: dict[str, list[Measure]] = {
    "streams": [streams.flush, streams.departure, streams.pressure],
    "life": [life.drain, life.workers],
}


async def measure(names: list[str], kinds: list[str]) -> dict[str, Rows]:
    found = await cost.costs(names) if "cost" in kinds else {name: {} for name in names}
    for kind in kinds:
        for one in MEASURES.get(kind, []):
            for name in names:
                found[name] |= await one(name)
    return found


def table(found: dict[str, Rows]) -> str:
    """Markdown, one column for each server."""
    names = list(found)
    labels = list(dict.fromkeys(label for rows in found.values() for label in rows))
    lines = [["", *names], ["---"] * (len(names) + 1)]
    lines += [[label, *(found[name].get(label, "") for name in names)] for label in labels]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    kinds = ["cost", *MEASURES]
    parser.add_argument("--servers", nargs="+", choices=list(SERVERS), default=list(SERVERS))
    parser.add_argument("--only", nargs="+", choices=kinds, default=kinds)
    wanted = parser.parse_args()
    print(table(asyncio.run(measure(wanted.servers, wanted.only))))


if __name__ == "__main__":
    main()
