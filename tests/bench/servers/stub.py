"""The upstream behind the pass-through: canned bytes, so that it costs little of the machine."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

EVENTS = 200
WRITES = 20

CHAT = json.dumps({"object": "chat.completion", "choices": [{"text": "x" * 900}]}).encode()
CHAT_ANSWER = (
    b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n" % len(CHAT)
) + CHAT

EVENT = b"data: %s\n\n" % json.dumps({"choices": [{"delta": {"content": "x" * 100}}]}).encode()
PIECE = EVENT * (EVENTS // WRITES)
STREAM_HEAD = (
    b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
)
STREAM_PIECE = b"%x\r\n%s\r\n" % (len(PIECE), PIECE)


@asynccontextmanager
async def upstream() -> AsyncIterator[str]:
    """Serves `/chat` (1 KB of JSON) and `/stream` (200 events in 20 writes); yields its URL."""
    serving: set[asyncio.Task[None]] = set()

    def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        serving.add(asyncio.create_task(serve(reader, writer)))

    async with await asyncio.start_server(accept, "127.0.0.1", 0) as server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        await asyncio.gather(*serving)  # each ends with its client, which is gone by now


async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while head := await reader.readuntil(b"\r\n\r\n"):
            length = head.lower().partition(b"content-length:")[2].partition(b"\r\n")[0]
            await reader.readexactly(int(length))
            if head.startswith(b"POST /stream"):
                await stream(writer)
            else:
                writer.write(CHAT_ANSWER)
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    finally:
        writer.close()


async def stream(writer: asyncio.StreamWriter) -> None:
    writer.write(STREAM_HEAD)
    for _ in range(WRITES):
        writer.write(STREAM_PIECE)
        await asyncio.sleep(0.002)  # so that each write is one read of the pass-through
    writer.write(b"0\r\n\r\n")
