"""A request as people mean it; ``spoken_…`` is how each protocol says it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from hypothesis import strategies as st

Json = dict[str, Any]
ERROR = "Error: "
"""How chat and responses, which have no field for it, say that a tool failed."""


@dataclass
class Call:
    id: str
    name: str
    arguments: Json


@dataclass
class Result:
    call_id: str
    text: str
    failed: bool = False


@dataclass
class Turn:
    """What one side says: the user text, images and results, the assistant text and calls."""

    speaker: str
    text: str = ""
    images: list[str] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)
    results: list[Result] = field(default_factory=list)


@dataclass
class Tool:
    name: str
    description: str
    schema: Json


@dataclass
class Conversation:
    """``choice``: auto, none, required, or the name of a tool with a colon before it."""

    turns: list[Turn]
    system: str = ""
    tools: list[Tool] = field(default_factory=list)
    choice: str = "auto"
    parallel: bool = True
    max_tokens: int = 100
    temperature: float | None = None
    stop: list[str] = field(default_factory=list)
    schema: Json | None = None
    stream: bool = False


def without_none(**fields: Any) -> Json:
    return {name: value for name, value in fields.items() if value is not None}


def turn_of(said: Conversation, speaker: str) -> Turn:
    """The turn of this speaker that is under way, or a new one."""
    if not said.turns or said.turns[-1].speaker != speaker:
        said.turns.append(Turn(speaker))
    return said.turns[-1]


def blocks_of(content: Any) -> list[Json]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def text_of(content: Any) -> str:
    return "".join(block["text"] for block in blocks_of(content) if "text" in block)


def marked_result(call_id: str, text: str) -> Result:
    return Result(call_id, text.removeprefix(ERROR), text.startswith(ERROR))


_WORDS = st.text("ab\u00e9\U0001f600 .\n", max_size=6).map(lambda text: f"w{text}w")
_IDS = st.from_regex(r"call_[a-zA-Z0-9_-]{1,9}", fullmatch=True)
_NAMES = st.from_regex(r"[a-zA-Z][a-zA-Z0-9_-]{0,9}", fullmatch=True)
_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4) | st.just(1.5),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=5,
)
_OBJECTS = st.dictionaries(st.text(max_size=3), _VALUES, max_size=3)
_SCHEMAS = st.dictionaries(_NAMES, st.sampled_from([{"type": "string"}, {"enum": [1, "a"]}]))
_IMAGES = st.sampled_from(["https://a.example/b.png", "data:image/png;base64,iVBORw0KGgo="])


@st.composite
def conversations(draw: st.DrawFn) -> Conversation:
    """A conversation that each of the three protocols can hold: it begins and ends with the user,
    and every call is answered."""
    names = draw(st.lists(_NAMES, max_size=3, unique=True))
    tools = [
        Tool(name, draw(_WORDS), {"type": "object", "properties": draw(_SCHEMAS)}) for name in names
    ]
    ids = draw(st.lists(_IDS, min_size=6, max_size=6, unique=True))
    turns = [Turn("user", draw(_WORDS), draw(st.lists(_IMAGES, max_size=2)))]
    for _ in range(draw(st.integers(0, 2))):
        count = draw(st.integers(0, 3)) if names else 0
        calls = [
            Call(ids.pop(), draw(st.sampled_from(names)), draw(_OBJECTS)) for _ in range(count)
        ]
        turns.append(Turn("assistant", "" if calls and draw(st.booleans()) else draw(_WORDS)))
        turns[-1].calls = calls
        results = [Result(call.id, draw(_WORDS), draw(st.booleans())) for call in calls]
        text = "" if results and draw(st.booleans()) else draw(_WORDS)
        turns.append(Turn("user", text, results=results))
    # Messages wants it closed, and has no word on parallel calls where there are none
    schema = {"type": "object", "properties": draw(_SCHEMAS), "additionalProperties": False}
    choices = ["auto", "none", "required", *(f":{name}" for name in names)]
    choice = draw(st.sampled_from(choices)) if tools else "auto"
    return Conversation(
        turns,
        system=draw(st.just("") | _WORDS),
        tools=tools,
        choice=choice,
        parallel=draw(st.booleans()) or not tools or choice == "none",
        max_tokens=draw(st.integers(1, 10_000)),
        temperature=draw(st.sampled_from([None, 0, 0.5, 1])),
        stop=draw(st.lists(_WORDS, max_size=3)),
        schema=schema if draw(st.booleans()) else None,
        stream=draw(st.booleans()),
    )


def without(said: Conversation, *names: str) -> Conversation:
    """``said`` as a protocol holds it that has no such field."""
    unsaid = Conversation([])
    return replace(said, **{name: getattr(unsaid, name) for name in names})
