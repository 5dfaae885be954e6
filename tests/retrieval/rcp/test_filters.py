from __future__ import annotations

from typing import Any

import pytest

from retrieval.rcp import InvalidParams, OptionUnsupported, filters

FIELDS = {
    "lang": "keyword",
    "title": "text",
    "year": "int",
    "rank": "float",
    "draft": "bool",
    "day": "date",
}


def check(tree: Any, *, operators: Any = None) -> None:
    filters.validate(tree, fields=FIELDS, operators=operators)


def test_clauses_are_plain_json_objects() -> None:
    assert filters.eq("lang", "en") == {"field": "lang", "op": "eq", "value": "en"}
    assert filters.in_("year", (2023, 2024)) == {
        "field": "year",
        "op": "in",
        "value": [2023, 2024],
    }


def test_clauses_combine_with_operators() -> None:
    tree = filters.eq("lang", "en") & ~filters.exists("draft") | filters.gte("year", 2024)
    assert tree == {
        "or": [
            {
                "and": [
                    {"field": "lang", "op": "eq", "value": "en"},
                    {"not": {"field": "draft", "op": "exists", "value": True}},
                ]
            },
            {"field": "year", "op": "gte", "value": 2024},
        ]
    }
    check(tree)


@pytest.mark.parametrize(
    "tree",
    [
        filters.eq("lang", "en"),
        filters.ne("title", ""),
        filters.gt("year", -1),
        filters.gte("rank", 1),
        filters.lt("rank", 0.5),
        filters.lte("day", "2024-02-29"),
        filters.eq("day", "2024-02-29T12:00:00+01:00"),
        filters.in_("lang", ["en", "de"]),
        filters.nin("year", [1, 2]),
        filters.contains("title", "tower"),
        filters.exists("draft"),
        filters.exists("draft", False),
        {"field": "draft", "op": "exists"},
        filters.eq("draft", False),
        filters.not_(filters.or_(filters.eq("lang", "en"))),
    ],
)
def test_a_well_typed_tree_passes(tree: Any) -> None:
    check(tree)


@pytest.mark.parametrize(
    "leaf",
    [
        filters.eq("lang", 7),
        filters.eq("lang", None),
        filters.eq("year", 1.5),
        filters.eq("year", True),
        filters.eq("year", "2024"),
        filters.eq("rank", float("nan")),
        filters.eq("rank", True),
        filters.eq("draft", 1),
        filters.gt("draft", True),
        filters.eq("day", "yesterday"),
        filters.eq("day", 20240229),
        filters.in_("lang", []),
        filters.in_("lang", ["en", 7]),
        {"field": "lang", "op": "in", "value": "en"},
        filters.in_("lang", ["x"] * 1_001),
        filters.contains("year", 2),
        filters.exists("draft", "yes"),  # type: ignore[arg-type]
        filters.eq("author", "x"),
    ],
)
def test_a_value_of_the_wrong_type_or_an_unknown_field_is_named(leaf: Any) -> None:
    with pytest.raises(InvalidParams) as caught:
        check(filters.and_(filters.eq("lang", "en"), leaf))
    assert caught.value.data == {"field": leaf["field"]}


@pytest.mark.parametrize(
    ("tree", "path"),
    [
        (None, "filter"),
        ([], "filter"),
        ({}, "filter"),
        ({"xor": []}, "filter"),
        ({"and": [], "or": []}, "filter"),
        ({"and": []}, "filter.and"),
        ({"or": {}}, "filter.or"),
        ({"or": [{"and": [7]}]}, "filter.or[0].and[0]"),
        ({"not": None}, "filter.not"),
        ({"field": 7, "op": "eq", "value": 1}, "filter.field"),
        ({"field": "lang", "op": "EQ", "value": "en"}, "filter.op"),
        ({"field": "lang", "value": "en"}, "filter.op"),
        ({"field": "lang", "op": ["eq"], "value": "en"}, "filter.op"),
    ],
)
def test_a_malformed_tree_is_refused_with_its_place(tree: Any, path: str) -> None:
    with pytest.raises(InvalidParams) as caught:
        check(tree)
    assert caught.value.data == {"field": path}


def test_an_operator_that_is_not_advertised_is_an_option_that_is_unsupported() -> None:
    with pytest.raises(OptionUnsupported) as caught:
        check(filters.contains("title", "x"), operators=["eq", "in"])
    assert caught.value.data == {"option": "contains"}


def test_depth_and_size_are_bounded() -> None:
    deep: Any = filters.eq("lang", "en")
    for _ in range(10_000):
        deep = {"not": deep}
    wide = filters.and_(*[filters.eq("lang", "en")] * 300)
    for tree in (deep, wide):
        with pytest.raises(InvalidParams):
            check(tree)


def test_fields_may_be_advertised_without_types() -> None:
    filters.validate(filters.eq("lang", "en"), fields=["lang"])
    filters.validate(filters.eq("lang", 7), fields=["lang"])
    with pytest.raises(InvalidParams):
        filters.validate(filters.eq("year", 7), fields=["lang"])
    with pytest.raises(InvalidParams):
        filters.validate(filters.eq("lang", {}), fields=["lang"])
