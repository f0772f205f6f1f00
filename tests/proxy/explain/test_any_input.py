"""Whatever is given is explained, or refused with a reason."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given as any_of
from hypothesis import settings as tuned
from hypothesis import strategies as st
from structlog.testing import capture_logs

from tests.proxy.explain.samples import PROTOCOLS, REQUESTS, settings_for
from tests.proxy.explain.streams import STREAMS
from toolwire.config.model import Settings
from toolwire.proxy.explain.document import as_document
from toolwire.proxy.explain.explanation import Explanation, explain
from toolwire.proxy.explain.given import InputError, Source, given
from toolwire.proxy.explain.paint import Paint
from toolwire.proxy.explain.shown import Shown
from toolwire.proxy.explain.text import as_text
from toolwire.proxy.protocols import json as our_json

NAMES = st.sampled_from(
    "model messages input tools role content type text choices delta index message output "
    "tool_calls function arguments stop stream error usage response name id".split()
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.just("m"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=4),
    max_leaves=12,
)
GATEWAYS: dict[str, Settings] = {protocol: settings_for(protocol) for protocol in PROTOCOLS}


@pytest.fixture(autouse=True, scope="module")
def _no_log() -> Iterator[None]:
    """Tracebacks for a terminal take a second each."""
    with capture_logs():
        yield


def told(request: bytes, answer: bytes | None, client: Any, upstream: str) -> Explanation:
    """The explanation, shown in every way."""
    recorded = Source("answer", answer) if answer is not None else None
    what = given(Source("request", request), answer=recorded, protocol=client)
    explanation = asyncio.run(explain(GATEWAYS[upstream], what, upstream="upstream"))
    as_text(explanation, Shown(), Paint(True))
    our_json.decode(our_json.encode(as_document(explanation, Shown())))
    return explanation


@tuned(deadline=None, max_examples=60)
@any_of(st.dictionaries(NAMES, JSON), st.sampled_from([*PROTOCOLS, None]))
def test_any_request_is_explained_or_refused(request: dict[str, Any], client: Any) -> None:
    explanation = told(json.dumps({"model": "m", **request}).encode(), None, client, "chat")
    assert bool(explanation.sent) is (explanation.reply is None)


@tuned(deadline=None, max_examples=60)
@any_of(
    JSON | st.dictionaries(NAMES, JSON),
    st.sampled_from(PROTOCOLS),
    st.sampled_from(PROTOCOLS),
    st.booleans(),
)
def test_any_answer_is_explained(answer: Any, client: str, upstream: str, stream: bool) -> None:
    request = json.dumps({**REQUESTS[client], "stream": stream}).encode()
    explanation = told(request, json.dumps(answer).encode(), client, upstream)
    assert explanation.answer is not None


@tuned(deadline=None, max_examples=60)
@any_of(
    st.sampled_from(PROTOCOLS),
    st.sampled_from(PROTOCOLS),
    st.integers(0, 2000),
    st.binary(max_size=12) | st.sampled_from([b"\n\n", b"\r\n\r\n", b"data: 1\n\n", b": x\n\n"]),
)
def test_any_broken_stream_is_explained(
    client: str, upstream: str, place: int, noise: bytes
) -> None:
    stream = STREAMS[upstream]
    broken = stream[:place] + noise + stream[place + len(noise) :]
    request = json.dumps({**REQUESTS[client], "stream": True}).encode()
    explanation = told(request, broken, client, upstream)
    assert explanation.answer is not None


@any_of(st.binary(max_size=20))
def test_what_is_no_request_is_told(data: bytes) -> None:
    try:
        document = json.loads(data)
    except ValueError:
        document = None
    if not isinstance(document, dict):
        with pytest.raises(InputError, match="request"):
            given(Source("request", data))
