"""The upstream of the benchmark, a process: ``python -m tests.bench.upstream PORT``."""

from __future__ import annotations

import asyncio
import json
import sys

from tests.bench.work import ANSWERS, PATHS, STREAMS

_STREAM_HEAD = (
    b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
)


def _plain(protocol: str) -> bytes:
    body = json.dumps(ANSWERS[protocol]).encode()
    head = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n"
    return head % len(body) + body


_PLAIN = {protocol: _plain(protocol) for protocol in ANSWERS}
_CHUNKS = {
    protocol: [b"%x\r\n%b\r\n" % (len(piece), piece) for piece in pieces]
    for protocol, pieces in STREAMS.items()
}


async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """One connection."""
    try:
        while head := await reader.readuntil(b"\r\n\r\n"):
            path = head.split(b" ", 2)[1].decode()
            protocol = next(name for name in ANSWERS if path.endswith(PATHS[name]))
            length = head.lower().partition(b"content-length:")[2].partition(b"\r\n")[0]
            body = await reader.readexactly(int(length))
            if b'"stream":true' in body or b'"stream": true' in body:
                await _stream(writer, protocol)
            else:
                writer.write(_PLAIN[protocol])
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    finally:
        writer.close()


async def _stream(writer: asyncio.StreamWriter, protocol: str) -> None:
    writer.write(_STREAM_HEAD)
    for piece in _CHUNKS[protocol]:
        writer.write(piece)
        await asyncio.sleep(0.002)  # so that each write is one read of the gateway
    writer.write(b"0\r\n\r\n")


async def main() -> None:
    server = await asyncio.start_server(serve, "127.0.0.1", int(sys.argv[1]))
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
