"""Asks the gateway on this machine whether it is alive: for HEALTHCHECK and for exec probes.

    python -I healthz.py [PORT]

PORT is that of `[server]`, 8080 when none is given. Ends with 0 when `GET /healthz` answers 200,
else with 1 and a line that says why. Proxies of the environment are not asked.
"""

from __future__ import annotations

import sys
from http.client import HTTPConnection, HTTPException

TIMEOUT = 2.0
"""Seconds; less than the probes' own timeout, so that the reason is told."""


def check(port: int) -> str:
    """Why the gateway does not count as alive; empty when it does."""
    connection = HTTPConnection("localhost", port, timeout=TIMEOUT)
    try:
        connection.request("GET", "/healthz")
        status = connection.getresponse().status
    except (OSError, HTTPException) as error:
        return f"GET http://localhost:{port}/healthz: {error!r}"
    finally:
        connection.close()
    return "" if status == 200 else f"GET http://localhost:{port}/healthz answered {status}"


if __name__ == "__main__":
    sys.exit(check(int(sys.argv[1]) if len(sys.argv) > 1 else 8080) or 0)
