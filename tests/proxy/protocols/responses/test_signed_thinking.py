from __future__ import annotations

import pytest

from toolwire.proxy.protocols import json
from toolwire.proxy.protocols.neutral import (
    Answer,
    Losses,
    Stop,
    Thinking,
)
from toolwire.proxy.protocols.responses import CODEC


class TestSignedThinking:
    @pytest.mark.parametrize(
        "thinking",
        [
            Thinking("Let me see\ud83d", signature="sig", origin="messages", vendor="anthropic"),
            Thinking(redacted="gAAA", origin="messages", vendor="anthropic"),
            Thinking("", signature="sig", origin="messages"),
        ],
        ids=["signed", "redacted", "withheld"],
    )
    def test_it_comes_back_in_the_next_request(self, thinking: Thinking) -> None:
        request = CODEC.read_request({"model": "m", "input": "hi"})
        answer = CODEC.write_answer(Answer("x", "m", [thinking], Stop.DONE), request, Losses())
        sent_back = json.decode(json.encode(answer["output"]))

        (turn,) = CODEC.read_request({"model": "m", "input": sent_back}).turns

        thinking.at = "input[0]"
        assert turn.parts == [thinking]

    @pytest.mark.parametrize(
        "letter",
        ["toolwire:", "toolwire:%%%", "toolwire:e30=", "toolwire:bnVsbA=="],
        ids=["empty", "no base64", "an empty object", "null"],
    )
    def test_an_envelope_that_was_tampered_with_counts_for_nothing(self, letter: str) -> None:
        summary = [{"type": "summary_text", "text": "Hm."}]
        item = {"type": "reasoning", "id": "rs_1", "summary": summary, "encrypted_content": letter}

        (turn,) = CODEC.read_request({"model": "m", "input": [item]}).turns

        assert turn.parts == [Thinking("Hm.", id="rs_1", summary=True, at="input[0]")]
