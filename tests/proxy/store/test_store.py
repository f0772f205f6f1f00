"""What every store does: in memory, in SQLite and in PostgreSQL."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable

import pytest

from toolwire.config.model import ResponsesStore
from toolwire.config.secret import Secret
from toolwire.proxy.store import MemoryStore, Store, StoredResponse, database, open_store

LARGE = b'{"text":"' + bytes(range(97, 123)) * 8000 + b'"}'


def response(
    name: str, *, owner: str = "ada", text: bytes = b"{}", **items: bytes
) -> StoredResponse:
    return StoredResponse(owner, name, text, b'[{"role":"user","content":"hi"}]', items)


def settings(url: str = "", **more: float) -> ResponsesStore:
    return ResponsesStore(url=Secret(url), **more)  # type: ignore[arg-type]


Make = Callable[..., Store]


@pytest.fixture(params=["memory", "sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)])
async def make(request: pytest.FixtureRequest) -> AsyncIterator[Make]:
    """Opens stores on one database, with the settings given."""
    kind = {"memory": "", "sqlite": "sqlite_url", "postgresql": "postgres_url"}[request.param]
    url = request.getfixturevalue(kind) if kind else "sqlite://"
    stores: list[Store] = []

    def open_one(**more: float) -> Store:
        stores.append(open_store(settings(url, **more)))
        return stores[-1]

    yield open_one
    for store in stores:
        await store.aclose()


async def test_what_was_saved_is_found(make: Make) -> None:
    store = make()
    assert await store.find("ada", "resp_1") is None
    await store.save(response("resp_1", text=b'{"id":"resp_1"}'))
    found = await store.find("ada", "resp_1")
    assert found is not None
    assert (found.response, found.input) == (
        b'{"id":"resp_1"}',
        b'[{"role":"user","content":"hi"}]',
    )


@pytest.mark.parametrize("text", [b'{"a":"\\ud83d\\u0000 \xc3\xa9 1e400"}', b"{}", LARGE])
async def test_every_byte_comes_back(make: Make, text: bytes) -> None:
    store = make()
    await store.save(response("resp_1", text=text, msg_1=text))
    found = await store.find("ada", "resp_1")
    assert found is not None
    assert found.response == text
    assert await store.items("ada", ["msg_1"]) == {"msg_1": text}


async def test_one_client_does_not_find_what_is_anothers(make: Make) -> None:
    store = make()
    await store.save(response("resp_1", msg_1=b"{}"))
    assert await store.find("eve", "resp_1") is None
    assert await store.items("eve", ["msg_1"]) == {}
    assert not await store.delete("eve", "resp_1")
    await store.save(response("resp_1", owner="eve", text=b'{"of":"eve"}'))
    mine = await store.find("ada", "resp_1")
    assert mine is not None
    assert mine.response == b"{}"


async def test_the_same_id_again_takes_the_place_of_the_first(make: Make) -> None:
    store = make()
    await store.save(response("resp_1", text=b'{"n":1}', msg_1=b'{"n":1}'))
    await store.save(response("resp_1", text=b'{"n":2}', msg_1=b'{"n":2}'))
    found = await store.find("ada", "resp_1")
    assert found is not None
    assert found.response == b'{"n":2}'
    assert await store.items("ada", ["msg_1"]) == {"msg_1": b'{"n":2}'}


async def test_items_are_found_by_their_ids(make: Make) -> None:
    store = make()
    names = [f"msg_{number}" for number in range(1200)]
    await store.save(response("resp_1", **{name: b'"%b"' % name.encode() for name in names}))
    found = await store.items("ada", [*names, "msg_of_nobody"])
    assert found == {name: b'"%b"' % name.encode() for name in names}


async def test_deleting_forgets_the_response_and_its_items(make: Make) -> None:
    store = make()
    await store.save(response("resp_1", msg_1=b"{}"))
    await store.save(response("resp_2", msg_2=b"{}"))
    assert await store.delete("ada", "resp_1")
    assert not await store.delete("ada", "resp_1")
    assert await store.find("ada", "resp_1") is None
    assert await store.items("ada", ["msg_1", "msg_2"]) == {"msg_2": b"{}"}


@pytest.mark.parametrize("name", ["", "x" * 201, "resp_\0", "resp_\ud83d", "resp_\u00e9", "a b"])
async def test_ids_that_nothing_can_have_are_not_found(make: Make, name: str) -> None:
    store = make()
    assert await store.find("ada", name) is None
    assert await store.items("ada", [name]) == {}
    assert not await store.delete("ada", name)


async def test_what_has_expired_is_gone(make: Make) -> None:
    store = make(max_age_seconds=0.001)
    await store.save(response("resp_1", msg_1=b"{}"))
    await asyncio.sleep(0.01)
    assert await store.find("ada", "resp_1") is None
    assert await store.items("ada", ["msg_1"]) == {}
    assert not await store.delete("ada", "resp_1")


@pytest.mark.parametrize("limit", [{"max_entries": 3}, {"max_bytes": 3 * response("a").size}])
async def test_the_oldest_goes_first(
    make: Make, limit: dict[str, float], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "PURGE_SECONDS", 0.0)
    store = make(**limit)
    for number in range(8):
        await store.save(response(f"resp_{number}"))
        await settled(store)
    kept = [n for n in range(8) if await store.find("ada", f"resp_{n}") is not None]
    assert kept == [5, 6, 7]


async def test_purging_takes_as_many_turns_as_it_needs(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = make()
    await asyncio.gather(*(store.save(response(f"resp_{number}")) for number in range(1200)))
    monkeypatch.setattr(database, "PURGE_SECONDS", 0.0)
    small = make(max_entries=1)
    await small.save(response("resp_last"))
    await settled(small)
    found = [n for n in range(1200) if await small.find("ada", f"resp_{n}") is not None]
    assert found == []
    assert await small.find("ada", "resp_last") is not None


async def test_of_answers_saved_at_once_the_last_is_kept(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "PURGE_SECONDS", 0.0)
    store = make(max_entries=2)
    await store.save(response("resp_first"))  # opens it, so that the others go in one transaction
    await asyncio.gather(*(store.save(response(f"resp_{number}")) for number in range(5)))
    await settled(store)
    await store.save(response("resp_last"))
    await settled(store)
    kept = [n for n in [*range(5), "last"] if await store.find("ada", f"resp_{n}") is not None]
    assert kept == [4, "last"]


async def settled(store: Store) -> None:
    """Waits for the purge that the last save began."""
    if isinstance(store, database.DatabaseStore) and store._purging is not None:
        await store._purging


async def test_saving_much_at_once_loses_nothing(make: Make) -> None:
    store, other = make(), make()
    many = [response(f"resp_{number}", text=b"%d" % number) for number in range(300)]
    await asyncio.gather(*(store.save(entry) for entry in many))
    if isinstance(store, MemoryStore):
        other = store
    for entry in many:
        found = await other.find("ada", entry.id)
        assert found is not None
        assert found.response == entry.response


async def test_a_save_that_is_abandoned_does_not_take_others_with_it(make: Make) -> None:
    store = make()
    await store.save(response("resp_first"))
    saves = [asyncio.create_task(store.save(response(f"resp_{number}"))) for number in range(20)]
    await asyncio.sleep(0)
    for number in (0, 7):
        saves[number].cancel()
    await asyncio.gather(*saves, return_exceptions=True)
    others = [number for number in range(20) if number not in (0, 7)]
    assert [n for n in others if await store.find("ada", f"resp_{n}") is None] == []


async def test_a_store_that_was_closed_opens_again(make: Make) -> None:
    store = make()
    await store.save(response("resp_1"))
    await store.aclose()
    await store.save(response("resp_2"))
    assert await store.find("ada", "resp_2") is not None
    await store.aclose()
    await store.aclose()
