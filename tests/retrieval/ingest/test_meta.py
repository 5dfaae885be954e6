"""What of documents' meta can be filtered on, and as what."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from retrieval.ingest import meta
from retrieval.ingest.documents import documents_add
from retrieval.ingest.drafts import NewDocument
from retrieval.ingest.meta import values_of, wider
from retrieval.models import MetaField, MetaValue

Kind = MetaField.Kind


def kinds(value: Any) -> list[str]:
    return [one.kind for one in values_of({"x": value})]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("word", [Kind.KEYWORD]),
        (3, [Kind.INT]),
        (3.0, [Kind.FLOAT]),
        (True, [Kind.BOOL]),
        ("2026-02-03", [Kind.DATE]),
        ("2026-02-03T04:05:06Z", [Kind.DATE]),
        ("2026-02-33", [Kind.KEYWORD]),
        ("20260203", [Kind.KEYWORD]),
        (["a", 1, "a", None, [2]], [Kind.KEYWORD, Kind.INT]),
        (None, []),
        ({"a": 1}, []),
        ("x" * 501, []),
        (float("nan"), []),
    ],
)
def test_the_type_of_a_value(value: Any, expected: list[str]) -> None:
    assert kinds(value) == expected


@pytest.mark.parametrize("name", ["", "a b", "a.b", "x" * 101, "a\nb"])
def test_a_name_that_no_filter_could_say_is_left_out(name: str) -> None:
    assert values_of({name: 1}) == []


def test_a_date_without_a_zone_is_utc() -> None:
    (value,) = values_of({"x": "2026-02-03"})
    assert value.moment == datetime(2026, 2, 3, tzinfo=UTC)


def test_a_document_has_a_bounded_number_of_values() -> None:
    assert len(values_of({"x": list(range(1_000))})) == meta.MAX_VALUES


@pytest.mark.parametrize(
    ("one", "other", "both"),
    [
        (Kind.INT, Kind.INT, Kind.INT),
        (Kind.INT, Kind.FLOAT, Kind.FLOAT),
        (Kind.FLOAT, Kind.INT, Kind.FLOAT),
        (Kind.DATE, Kind.KEYWORD, Kind.KEYWORD),
        (Kind.INT, Kind.BOOL, Kind.KEYWORD),
        (Kind.KEYWORD, Kind.FLOAT, Kind.KEYWORD),
    ],
)
def test_a_type_widens_to_what_is_true_of_both(one: str, other: str, both: str) -> None:
    assert wider(one, other) == both


@pytest.mark.django_db
def test_there_is_a_bounded_number_of_names(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(meta, "MAX_NAMES", 2)
    documents_add([NewDocument(text="One.", name="1", meta={"a": 1, "b": 2, "c": 3})])
    documents_add([NewDocument(text="Two.", name="2", meta={"d": 1, "a": "x"})])
    assert dict(MetaField.objects.values_list("name", "kind")) == {
        "a": Kind.KEYWORD,
        "b": Kind.INT,
    }
    assert set(MetaValue.objects.values_list("name", "text")) == {
        ("a", "1"),
        ("b", "2"),
        ("a", "x"),
    }


@pytest.mark.django_db
def test_values_go_with_their_document() -> None:
    documents_add([NewDocument(text="One.", name="1", meta={"a": 1})])
    documents_add([NewDocument(text="One.", name="1", meta={"b": 1})])
    assert list(MetaValue.objects.values_list("name", flat=True)) == ["b"]
