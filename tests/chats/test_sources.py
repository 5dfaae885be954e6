"""Hits → sources (CASES.md, Citations): one number a page, one fragment a passage."""

from __future__ import annotations

from chats.prompts import prompt_from
from chats.sources import sources_from
from retrieval.types import Fragment, Hit
from tests.chats.parts import found, hit


def chunk(position: int, *, page: int = 1, section: str = "S", **changes: object) -> Hit:
    return hit(
        page,
        chunk_id=100 * page + position,
        position=position,
        section=(section,),
        fragment=Fragment(start=f"start {position}", end=f"end {position}"),
        **changes,
    )


def test_three_chunks_of_one_page_are_one_source_with_one_number() -> None:
    (source,) = sources_from([chunk(4), chunk(0), chunk(8)])
    assert source.positions == (1,)
    assert [fragment.start for fragment in source.fragments] == ["start 0", "start 4", "start 8"]


def test_pages_are_numbered_in_the_order_of_their_best_passage() -> None:
    sources = sources_from([chunk(0, page=7), chunk(0, page=3), chunk(5, page=7)])
    assert [(source.url[-1], source.positions) for source in sources] == [("7", (1,)), ("3", (2,))]


def test_neighbouring_chunks_of_one_section_are_joined() -> None:
    (source,) = sources_from([chunk(2), chunk(1), chunk(0)])
    assert source.fragments == (Fragment(start="start 0", end="end 2"),)


def test_chunks_of_two_sections_or_with_a_gap_stay_apart() -> None:
    (source,) = sources_from([chunk(0), chunk(1, section="T"), chunk(3, section="T")])
    assert len(source.fragments) == 3


def test_a_short_passage_joins_by_its_only_term() -> None:
    short = hit(1, position=1, section=("S",), fragment=Fragment(start="only"))
    (source,) = sources_from([chunk(0), short])
    assert source.fragments == (Fragment(start="start 0", end="only"),)


def test_a_page_that_the_browser_cannot_search_has_no_fragments() -> None:
    (source,) = sources_from([hit(1, fragment=None), hit(1, fragment=None, position=1)])
    assert source.fragments == ()


def test_a_title_falls_back_to_the_url_and_undeclared_values_are_null() -> None:
    (source,) = sources_from([hit(1, title="", site_name=None, favicon_url=None)])
    data = source.to_dict()
    assert data["title"] == data["url"]
    assert data["site_name"] is None and data["favicon_url"] is None


def test_the_prompt_numbers_passages_as_the_sources_do() -> None:
    hits = [chunk(0, page=7), chunk(0, page=3), chunk(5, page=7)]
    retrieved = found(*hits)
    sources = sources_from(retrieved.hits)
    prompt = prompt_from(
        question="q", query="q", retrieved=retrieved, sources=sources, history=(), max_tokens=9
    )
    assert [(one.url, one.number) for one in prompt.passages] == [
        (hits[0].url, 1),
        (hits[1].url, 2),
        (hits[2].url, 1),
    ]
