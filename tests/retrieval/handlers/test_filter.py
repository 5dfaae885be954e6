"""Filters: every advertised field with every operator, those of added documents included."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from retrieval import rcp
from retrieval.models import Chunk, Document
from retrieval.pipeline.restrict import FIELDS, OPERATORS, allowed_chunks
from tests.retrieval.handlers.conftest import Engine, Said

f = rcp.filters


def found(engine: Engine, clause: dict[str, Any], query: str = "pressure water steam") -> Said:
    return engine.retrieve(query, k=20, filter=clause)


def pages(engine: Engine, clause: dict[str, Any]) -> set[str]:
    return set(found(engine, clause).pages)


ALL = {"pumps", "valves", "boiler", "notes.md", "de/pumpen"}


@pytest.mark.parametrize(
    ("clause", "expected"),
    [
        (f.eq("url", "https://plant.example/boiler"), {"boiler"}),
        (f.ne("url", "https://plant.example/boiler"), ALL - {"boiler"}),
        (f.contains("url", "/de/"), {"de/pumpen"}),
        (f.eq("title", "Valves"), {"valves"}),
        (f.contains("title", "PUMP"), {"pumps", "de/pumpen"}),
        (f.in_("title", ["Boiler", "Valves"]), {"boiler", "valves"}),
        (f.nin("title", ["Boiler", "Valves"]), ALL - {"boiler", "valves"}),
        (f.eq("site", "https://plant.example/"), ALL),
        (f.eq("siteName", "Plant handbook"), {"pumps"}),
        (f.ne("siteName", "Plant handbook"), ALL - {"pumps"}),
        (f.exists("siteName"), {"pumps"}),
        (f.exists("siteName", False), ALL - {"pumps"}),
        (f.eq("mediaType", "text/markdown"), {"notes.md"}),
        (f.eq("language", "de"), {"de/pumpen"}),
        (~f.eq("language", "de"), ALL - {"de/pumpen"}),
        (f.eq("section", "Pressure"), {"pumps"}),
        (~f.contains("section", "pump"), ALL - {"pumps", "de/pumpen"}),
        (f.ne("section", "Service"), ALL),
        (f.eq("anchor", "service"), {"pumps"}),
        (f.contains("text", "red mark"), {"pumps"}),
        (f.gt("wordCount", 60), {"pumps"}),
        (f.lte("wordCount", 0), set()),
        (f.lt("changedAt", "2026-01-01"), set()),
        (f.eq("title", "Valves") | f.eq("title", "Boiler"), {"valves", "boiler"}),
        (f.eq("language", "en") & f.contains("title", "pump"), {"pumps"}),
        (f.eq("title", "a\0b"), set()),
        (f.ne("title", "a\0b"), ALL),
        (f.contains("title", "100%_"), set()),
        (f.eq("title", "' OR 1=1 --"), set()),
    ],
)
def test_a_filter_leaves_what_it_says(
    engine: Engine, clause: dict[str, Any], expected: set[str]
) -> None:
    if clause.get("field") == "changedAt":
        assert set(found(engine, clause).pages) <= ALL
    else:
        assert pages(engine, clause) == expected


def test_dates_are_compared_as_dates(engine: Engine) -> None:
    hit = found(engine, f.eq("title", "Valves")).hits[0]
    moment = hit["meta"]["changedAt"]
    newer = pages(engine, f.gt("changedAt", moment))
    assert newer == {"pumps", "de/pumpen", "notes.md"}
    assert pages(engine, f.eq("changedAt", moment)) == {"valves"}
    assert pages(engine, f.lt("fetchedAt", moment)) == {"boiler"}


def test_what_is_filtered_out_does_not_take_a_place(engine: Engine) -> None:
    said = engine.retrieve("pump", k=1, candidateK=1, filter=f.eq("title", "Boiler"))
    assert said.pages == ["boiler"]


def test_every_field_takes_every_operator_that_fits_its_type(engine: Engine) -> None:
    values = {"keyword": "x", "text": "x", "int": 3, "date": "2026-01-01T00:00:00Z"}
    for field, kind in FIELDS.items():
        for op in OPERATORS:
            value: Any = values[kind]
            if op == "contains" and kind in {"int", "date"}:
                continue
            if op in {"in", "nin"}:
                value = [value]
            clause = f.where(field, op, True if op == "exists" else value)
            f.validate(clause, fields=FIELDS)
            assert allowed_chunks(clause).ids.dtype == "int64"


@pytest.mark.parametrize(
    ("clause", "code", "data"),
    [
        (f.eq("colour", "red"), -32602, {"field": "colour"}),
        (f.eq("wordCount", "many"), -32602, {"field": "wordCount"}),
        (f.eq("changedAt", "yesterday"), -32602, {"field": "changedAt"}),
        ({"and": []}, -32602, {"field": "filter.and"}),
        ({"field": "title", "op": "like", "value": "x"}, -32602, {"field": "filter.op"}),
    ],
)
def test_a_filter_that_is_wrong_is_refused(
    engine: Engine, clause: dict[str, Any], code: int, data: dict[str, Any]
) -> None:
    error = engine.retrieve(filter=clause).error
    assert (error["code"], error["data"]) == (code, data)


@pytest.mark.parametrize(
    "clause",
    [
        f.eq("wordCount", 2**64 - 1),
        f.in_("wordCount", [-(2**63), 5]),
        f.contains("title", "x" * 60_000),
        f.lt("changedAt", "0001-01-01T00:00:00+14:00"),
        f.gt("changedAt", "9999-12-31T23:59:59-12:00"),
        f.in_("section", [str(number) for number in range(1_000)]),
    ],
    ids=["int", "ints", "text", "first", "last", "many"],
)
def test_extremes_find_nothing_and_break_nothing(engine: Engine, clause: dict[str, Any]) -> None:
    assert engine.retrieve(filter=clause).hits == []
    assert len(engine.retrieve(k=100, filter=~f.Clause(clause)).hits) >= len(ALL)


def test_a_filter_may_hold_so_many_values(engine: Engine) -> None:
    many = f.in_("url", [str(number) for number in range(1_000)])
    error = engine.retrieve(filter=f.or_(many, many, f.eq("url", "x"))).error
    assert (error["code"], error["data"]["field"]) == (-32602, "filter")


STRINGS = st.sampled_from(["Pumps", "Service", "pump", "Plant handbook", "en", "", "%", "Ada"])
CLAUSES = st.one_of(
    st.builds(
        f.where,
        st.sampled_from(["title", "section", "siteName", "language", "url", "anchor", "author"]),
        st.sampled_from(["eq", "ne", "gt", "lte", "contains"]),
        STRINGS,
    ),
    st.builds(
        f.where,
        st.sampled_from(["title", "section", "siteName", "author"]),
        st.sampled_from(["in", "nin"]),
        st.lists(STRINGS, min_size=1, max_size=3),
    ),
    st.builds(f.exists, st.sampled_from(["section", "siteName", "author"]), st.booleans()),
    st.builds(f.where, st.just("wordCount"), st.sampled_from(["gt", "lte"]), st.integers(0, 99)),
)
TREES = st.recursive(
    CLAUSES,
    lambda inner: st.one_of(
        st.builds(f.not_, inner), st.builds(f.and_, inner, inner), st.builds(f.or_, inner, inner)
    ),
    max_leaves=4,
)


@given(tree=TREES)
@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_every_passage_fits_a_filter_or_its_negation(engine: Engine, tree: dict[str, Any]) -> None:
    if not Document.objects.exists():
        engine.add({"id": "a", "text": "A pump book.", "meta": {"author": "Ada"}})
    fits, others = (set(allowed_chunks(one).ids.tolist()) for one in (tree, f.not_(tree)))
    assert fits | others == set(Chunk.objects.values_list("pk", flat=True))
    assert not fits & others


# Fields that documents bring


@pytest.fixture
def library(engine: Engine) -> Engine:
    text = "A book about the turbine and how it is balanced, volume {}."
    for name, meta in {
        "a": {"author": "Ada", "year": 1999, "price": 10, "lent": True, "tags": ["steam", "old"]},
        "b": {"author": "Bob", "year": 2005, "price": 12.5, "lent": False, "tags": ["new"]},
        "c": {"author": "Ada", "year": 2020, "due": "2026-03-01", "nested": {"x": 1}, "none": None},
    }.items():
        engine.add({"id": name, "text": text.format(name), "meta": meta})
    return engine


@pytest.mark.parametrize(
    ("clause", "expected"),
    [
        (f.eq("author", "Ada"), "ac"),
        (f.ne("author", "Ada"), "b"),
        (f.contains("author", "O"), "b"),
        (f.gt("year", 2000), "bc"),
        (f.in_("year", [1999, 2020]), "ac"),
        (f.lt("price", 12), "a"),
        (f.eq("price", 12.5), "b"),
        (f.eq("lent", True), "a"),
        (f.eq("tags", "steam"), "a"),
        (f.nin("tags", ["old", "new"]), "c"),
        (f.exists("tags"), "ab"),
        (f.exists("tags", False), "c"),
        (f.gte("due", "2026-02-28T23:00:00-05:00"), ""),
        (f.lte("due", "2026-03-01"), "c"),
        (f.eq("author", "Ada") & ~f.gt("year", 2000), "a"),
    ],
)
def test_documents_are_found_by_their_meta(
    library: Engine, clause: dict[str, Any], expected: str
) -> None:
    books = f.eq("site", "rcp:documents")
    said = library.retrieve("turbine book", k=20, filter=books & clause)
    assert {hit["chunk"]["docId"] for hit in said.hits} == set(expected)


def test_their_fields_are_advertised_with_their_types(library: Engine) -> None:
    fields = library.ask("info").result["capabilities"]["filter"]["fields"]
    assert {name: kind for name, kind in fields.items() if name not in FIELDS} == {
        "author": "keyword",
        "year": "int",
        "price": "float",
        "lent": "bool",
        "tags": "keyword",
        "due": "date",
    }


def test_a_type_widens_when_values_differ(library: Engine) -> None:
    library.add({"id": "d", "text": "Another turbine book.", "meta": {"year": "unknown"}})
    fields = library.server.capabilities["filter"]["fields"]
    assert fields["year"] == "keyword"
    said = library.retrieve("turbine book", filter=f.in_("year", ["unknown", "2005"]))
    assert {hit["chunk"]["docId"] for hit in said.hits} == {"b", "d"}


def test_a_page_has_none_of_their_fields(library: Engine) -> None:
    assert set(library.retrieve("pressure", k=20, filter=f.exists("author", False)).pages) == ALL


def test_a_documents_own_address_is_its_url(engine: Engine) -> None:
    url = "https://books.example/turbine"
    engine.add({"id": "t", "text": "The turbine book.", "meta": {"url": url}})
    said = engine.retrieve("turbine", filter=f.eq("url", url))
    assert [hit["chunk"]["docId"] for hit in said.hits] == ["t"]
    said = engine.retrieve("turbine", k=20, filter=f.ne("url", url))
    assert "t" not in {hit["chunk"]["docId"] for hit in said.hits}
