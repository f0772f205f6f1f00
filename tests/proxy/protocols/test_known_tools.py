"""Arrays of tools that came before: found in any place, handed out as one, given up in time."""

from __future__ import annotations

import json as stdlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolwire.proxy.protocols import json
from toolwire.proxy.protocols.known_tools import KnownTools
from toolwire.proxy.protocols.parts import Loss, Losses


def tools(count: int = 6, text: str = "What it does, in some words. " * 8) -> list[dict[str, Any]]:
    schema = {"type": "object", "properties": {"b": {"type": "string"}, "a": {"const": 1.5}}}
    return [
        {"name": f"tool_{number}", "description": text, "parameters": schema}
        for number in range(count)
    ]


def body(**more: Any) -> bytes:
    return stdlib.dumps({"model": "m", "messages": [], **more}).encode()


def known(*bodies: bytes) -> KnownTools:
    """What has seen these requests often enough to know their tools."""
    memory = KnownTools()
    for data in bodies * 2:
        memory.decode(data)
    return memory


def test_they_are_one_list_from_the_third_request_on() -> None:
    memory = KnownTools()
    first, second, third, fourth = (memory.decode(body(tools=tools())) for _ in range(4))
    assert first == second == third == fourth == json.decode(body(tools=tools()))
    assert first["tools"] is not second["tools"]
    assert second["tools"] is third["tools"] is fourth["tools"]


@pytest.mark.parametrize(
    "data",
    [
        body(tools=tools(), stream=True),
        b'{"tools":' + stdlib.dumps(tools()).encode() + b',"model":"other"}',
        b'{ "tools"  : [], "tools": \n' + stdlib.dumps(tools()).encode() + b"}",
        body(messages=[{"input": {"tools": [1]}}], tools=tools()),
        body(tools=tools(), metadata={"tools": "none"}),
        body(messages=[{"content": stdlib.dumps({"tools": tools()})}], tools=tools()),
    ],
)
def test_they_are_found_wherever_they_stand(data: bytes) -> None:
    memory = known(body(tools=tools()))
    document = memory.decode(data)
    assert document == json.decode(data)
    assert document["tools"] is memory.decode(body(tools=tools()))["tools"]


@pytest.mark.parametrize(
    "data",
    [
        body(messages=[{"tools": tools()}]),
        body(tools=[1], messages=[{"tools": tools()}]),
        body(messages=[{"tools": tools()}], tools=[1]),
        body(tools={"tools": tools()}),
        body(tools=[{"tools": tools()}]),
        body(tools=[*tools(), {"name": "one_more"}]),
        b"[" + body(tools=tools()) + b"]",
        b'{"tools": ' + stdlib.dumps(tools()).encode() + b', "tools": 7}',
    ],
)
def test_what_is_not_the_requests_own_is_left_alone(data: bytes) -> None:
    for memory in (known(body(tools=tools())), known(body(tools=tools()), data)):
        assert memory.decode(data) == json.decode(data)


def test_they_are_found_where_they_stood_last_and_elsewhere() -> None:
    memory = known(body(tools=tools()), body(tools=tools(7)))
    longer = body(messages=[{"content": "hello"}], tools=tools())
    bodies = [longer, body(tools=tools(7)), body(tools=tools(), stream=True), longer]
    for data in [*bodies, body(messages=[{"tools": tools()}], metadata="12")]:
        assert memory.decode(data) == json.decode(data)
    same = [memory.decode(data)["tools"] for data in (bodies[0], bodies[2], bodies[3])]
    assert same[0] is same[1] is same[2]


def test_tools_with_arrays_of_tools_inside() -> None:
    group = [{"type": "namespace", "tools": tools()}, {"type": "namespace", "tools": tools(2)}]
    memory = known(body(tools=group))
    assert memory.decode(body(tools=group))["tools"] is memory.decode(body(tools=group))["tools"]


@pytest.mark.parametrize("data", [body(tools=tools())[:-1], body(tools=tools()) + b"}"])
def test_an_error_is_told_as_without(data: bytes) -> None:
    with pytest.raises(ValueError) as expected:
        json.decode(data)
    with pytest.raises(ValueError) as told:
        known(body(tools=tools())).decode(data)
    assert str(told.value) == str(expected.value)


def test_small_and_changing_ones_are_not_kept() -> None:
    memory = KnownTools()
    for number in range(4):
        changing = memory.decode(body(tools=tools(text=f"{number} in some words. " * 20)))["tools"]
        assert memory.encoded(changing) is changing
        small = memory.decode(body(tools=[{"name": "f"}], padding=" " * 2000))["tools"]
        assert memory.encoded(small) is small


Made = tuple[list[str], list[Loss]]


def test_what_is_made_of_them_is_made_once_for_the_same_facts() -> None:
    calls = []

    def make(given: list[dict[str, Any]], strict: bool) -> Made:
        losses = Losses()
        losses.drop("tools[0].x", "why")
        calls.append(strict)
        return [tool["name"] for tool in given], losses.entries

    memory = known(body(tools=tools()))
    for _ in range(3):
        mine = memory.decode(body(tools=tools()))["tools"]
        for strict in (True, False):
            names, losses = memory.derived(mine, make, strict)
            assert names == [f"tool_{number}" for number in range(6)]
            assert [loss.path for loss in losses] == ["tools[0].x"]
    assert calls == [True, False]
    memory.derived(tools(), make, True)
    assert calls == [True, False, True]


def test_a_mistake_in_them_is_told_each_time() -> None:
    def make(given: list[Any]) -> Made:
        raise ValueError("tools[0]")

    memory = known(body(tools=tools()))
    for _ in range(2):
        with pytest.raises(ValueError):
            memory.derived(memory.decode(body(tools=tools()))["tools"], make)


@pytest.mark.parametrize("sort_keys", [False, True])
def test_they_are_encoded_as_without(sort_keys: bool) -> None:
    data = body(tools=[*tools(), {"name": "half \ud83d"}], z=1, a=2)
    memory = known(data)
    for _ in range(2):
        document = memory.decode(data)
        encoded = memory.encode(document, sort_keys=sort_keys)
        assert encoded == json.encode(json.decode(data), sort_keys=sort_keys)


def test_lists_made_of_them_are_encoded_once_too() -> None:
    memory = known(body(tools=tools()))
    mine = memory.decode(body(tools=tools()))["tools"]
    made, _ = memory.derived(mine, lambda given: (given[:2], []))
    assert memory.encode({"tools": made}) == json.encode({"tools": tools(2)})
    assert memory.encoded(made) is memory.encoded(made) is not made


def test_the_oldest_are_given_up() -> None:
    bodies = [body(tools=tools(text=f"{number} in some words. " * 20)) for number in range(20)]
    memory = KnownTools(max_bytes=10 * len(bodies[0]))
    seen = []
    for data in bodies:
        for _ in range(3):
            document = memory.decode(data)
        seen.append(document["tools"])
        memory.derived(document["tools"], lambda given: (list(given), []))
        memory.decode(bodies[0])  # this one is always in use
    assert memory.decode(bodies[0])["tools"] is seen[0]
    assert memory.decode(bodies[-1])["tools"] is seen[-1]
    assert memory.decode(bodies[1])["tools"] is not seen[1]
    assert memory.encoded(seen[1]) is seen[1]
    for data in bodies:
        assert memory.decode(data) == json.decode(data)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=9),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["tools", "a", "b"]), inner, max_size=3)
    ),
    max_leaves=12,
)
LISTS = st.sampled_from([tools(), tools(7), [*tools(2), {"tools": tools()}]])


@given(st.lists(st.dictionaries(st.sampled_from(["tools", "a", "b"]), JSON | LISTS), max_size=8))
def test_any_requests_are_decoded_and_encoded_as_without(documents: list[Any]) -> None:
    memory = KnownTools(max_bytes=40_000)
    for document in documents * 3:
        data = stdlib.dumps(document).encode()
        decoded = memory.decode(data)
        assert decoded == document
        assert memory.encode(decoded, sort_keys=True) == json.encode(document, sort_keys=True)
