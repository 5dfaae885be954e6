"""Cursors: all hits in order, none twice, whatever happens in between."""

from __future__ import annotations

from typing import Any

import pytest

from tests.retrieval.handlers.conftest import Engine, Said


def paged(engine: Engine, k: int, **params: Any) -> list[Said]:
    found = [engine.retrieve(k=k, **params)]
    while cursor := found[-1].result.get("nextCursor"):
        found.append(engine.retrieve(k=k, cursor=cursor, **params))
        assert len(found) < 20
    return found


def joined(pages: list[Said]) -> list[str]:
    return [id_ for page in pages for id_ in page.ids]


@pytest.mark.parametrize("unit", ["chunk", "document"])
@pytest.mark.parametrize("mode", ["hybrid", "sparse"])
def test_pages_in_turn_are_the_whole_in_order(engine: Engine, unit: str, mode: str) -> None:
    whole = engine.retrieve(k=100, unit=unit, mode=mode)
    pages = paged(engine, 2, unit=unit, mode=mode)
    assert joined(pages) == whole.ids
    scores = [hit["score"] for page in pages for hit in page.hits]
    assert scores == [hit["score"] for hit in whole.hits]


def test_the_last_page_has_no_cursor(engine: Engine) -> None:
    assert "nextCursor" not in engine.retrieve(k=100).result


def test_a_cursor_may_be_used_with_another_k(engine: Engine) -> None:
    whole = engine.retrieve(k=100).ids
    cursor = engine.retrieve(k=1).result["nextCursor"]
    assert engine.retrieve(k=100, cursor=cursor).ids == whole[1:]


def test_varied_pages_repeat_nothing_and_lose_nothing(engine: Engine) -> None:
    pages = paged(engine, 2, mmr={"lambda": 0.3})
    assert sorted(joined(pages)) == sorted(engine.retrieve(k=100).ids)


def test_what_is_added_in_between_does_not_repeat_a_hit(engine: Engine) -> None:
    first = engine.retrieve(k=3)
    engine.add({"id": "new", "text": "Pump pressure, pump pressure, pump pressure."})
    second = engine.retrieve(k=100, cursor=first.result["nextCursor"])
    assert not set(first.ids) & set(second.ids)
    assert second.hits[0]["chunk"]["docId"] == "new"


def test_paging_stops_above_the_least_score(engine: Engine) -> None:
    scores = [hit["score"] for hit in engine.retrieve(k=100).hits]
    pages = paged(engine, 2, minScore=scores[4])
    assert len(joined(pages)) == 5


def test_a_passage_that_fits_no_budget_does_not_page_for_ever(engine: Engine) -> None:
    assert all(page.hits for page in paged(engine, 2, tokenBudget=60)[:-1])


def test_a_cursor_goes_on_with_its_own_query_alone(engine: Engine) -> None:
    cursor = engine.retrieve(k=2).result["nextCursor"]
    for changed in ({"query": "valve"}, {"mode": "sparse"}, {"unit": "document"}):
        error = engine.retrieve(cursor=cursor, **changed).error
        assert (error["code"], error["data"]["field"]) == (-32602, "cursor")


def test_a_cursor_of_the_callers_own_making_is_refused(engine: Engine) -> None:
    cursor = engine.retrieve(k=2).result["nextCursor"]
    for forged in ("", "x", "1:2:3", cursor[:-1] + ("a" if cursor[-1] != "a" else "b")):
        error = engine.retrieve(cursor=forged).error
        assert (error["code"], error["data"]["field"]) == (-32602, "cursor")
