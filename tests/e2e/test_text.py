"""Text in, text out, on every pair of client and upstream protocol."""

from __future__ import annotations

from tests.e2e.conftest import Pair
from tests.e2e.conversation import Finish

SAID = "✓ You said: “%s”\nThis is the demo upstream: no model was asked."


def test_plain(pair: Pair, stream: bool) -> None:
    reply = pair.ask("Grüße, 世界 🌍", stream=stream)
    assert reply.text == SAID % "Grüße, 世界 🌍"
    assert (reply.calls, reply.thinking, reply.finish) == ([], "", Finish.DONE)
    assert reply.input_tokens > 0 and reply.output_tokens > 0
    assert ("".join(reply.pieces) == reply.text and len(reply.pieces) > 5) is stream
