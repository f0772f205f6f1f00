"""What Chat Completions and Responses write alike."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import msgspec
import pytest

from toolwire.config.profile import Profile
from toolwire.proxy.protocols.neutral import (
    Image,
    Losses,
    Part,
    Refusal,
    Request,
    Source,
    Structured,
    Text,
)
from toolwire.proxy.protocols.openai import (
    is_data_url,
    marked_as_failed,
    output_format,
    parameters,
    source_of_url,
    temperature_for,
)


@pytest.mark.parametrize(
    ("url", "source"),
    [
        ("data:image/PNG;base64,QUJD", Source(data="QUJD", media_type="image/png")),
        ("DATA:;BASE64,QUJD", Source(data="QUJD")),
        ("data:text/plain;charset=utf-8;base64,QUJD", Source(data="QUJD", media_type="text/plain")),
        ("data:text/plain,abc", Source(url="data:text/plain,abc")),
        ("https://example.com/a;base64,b", Source(url="https://example.com/a;base64,b")),
    ],
)
def test_data_urls_are_taken_apart(url: str, source: Source) -> None:
    assert source_of_url(url) == source
    assert is_data_url(url) is url.lower().startswith("data:")


@pytest.mark.parametrize(
    ("schema", "written"),
    [
        (None, {"type": "object", "properties": {}}),
        ({}, {"type": "object", "properties": {}}),
        ({"type": "object"}, {"type": "object", "properties": {}}),
        ({"type": "string"}, {"type": "string"}),
        ({"properties": {"a": {}}}, {"type": "object", "properties": {"a": {}}}),
    ],
)
def test_the_schema_of_an_object_says_so(schema: Any, written: Any) -> None:
    assert parameters(schema) == written


IMAGE = Image(Source(url="https://example.com"))


@pytest.mark.parametrize(
    ("parts", "marked"),
    [
        ([Text("no such file")], [Text("Error: no such file")]),
        ([Text("error 404")], [Text("error 404")]),
        ([IMAGE, Refusal("no"), Text("b")], [IMAGE, Refusal("Error: no"), Text("b")]),
        ([IMAGE], [Text("Error"), IMAGE]),
        ([], [Text("Error")]),
    ],
)
def test_a_failed_result_says_so_once(parts: list[Part], marked: list[Part]) -> None:
    assert marked_as_failed(parts) == marked


def test_structured_output_as_far_as_it_is_known() -> None:
    wish = Structured({"type": "object"}, description="d", strict=True, at="at")
    losses = Losses()
    assert output_format(None, Profile(), losses) is None
    assert output_format(wish, Profile(), losses) == {
        "type": "json_schema",
        "name": "output",
        "schema": {"type": "object"},
        "description": "d",
        "strict": True,
    }
    assert output_format(Structured(), Profile(), losses) == {"type": "json_object"}
    assert losses.entries == []
    no_schema = Profile(structured_output="json_object")
    assert output_format(wish, no_schema, losses) == {"type": "json_object"}
    assert output_format(wish, Profile(structured_output="none"), losses) is None
    assert "strict" not in (output_format(wish, Profile(strict=False), losses) or {})
    assert [(loss.kind, loss.path) for loss in losses.entries] == [
        ("coerced", "at"),
        ("dropped", "at"),
        ("dropped", "at.strict"),
    ]


OUTSIZED = msgspec.Raw(b"1e99999999999999999999")


@pytest.mark.parametrize(
    ("asked", "highest", "written"),
    [
        (Decimal("1.5"), 1, 1),
        (2, 1.5, 1.5),
        (1, 1.0, 1),
        (Decimal("1.5"), None, Decimal("1.5")),
        (OUTSIZED, 1.0, OUTSIZED),
    ],
)
def test_the_temperature_has_an_upper_bound(asked: Any, highest: Any, written: Any) -> None:
    losses = Losses()
    request = Request("m", [], "messages", temperature=asked)
    assert temperature_for(request, Profile(temperature_max=highest), losses) == written
    assert bool(losses.entries) is (written != asked)
