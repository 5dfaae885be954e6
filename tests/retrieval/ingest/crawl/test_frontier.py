from __future__ import annotations

from retrieval.ingest.crawl.frontier import SEEN_LEAST, Frontier, Target


def frontier(*urls: str, max_pages: int = 100, window: int = 100) -> Frontier:
    made = Frontier(max_pages=max_pages, window=window)
    for url in urls:
        made.offer(Target(url=url))
    return made


def taken(made: Frontier) -> list[str]:
    urls = []
    while target := made.take():
        urls.append(target.url)
    return urls


def test_addresses_come_out_in_the_order_they_were_offered() -> None:
    assert taken(frontier("a", "b", "c")) == ["a", "b", "c"]


def test_an_address_is_handed_out_once() -> None:
    made = frontier("a", "a")
    assert taken(made) == ["a"]
    assert made.offer(Target(url="a")) is False


def test_an_urgent_address_goes_first() -> None:
    made = frontier("a", "b")
    made.offer(Target(url="c"), first=True)
    assert taken(made) == ["c", "a", "b"]


def test_no_more_are_in_flight_than_the_window_allows() -> None:
    made = frontier("a", "b", "c", window=2)
    assert taken(made) == ["a", "b"]
    made.settle(page=True)
    assert taken(made) == ["c"]


def test_pages_and_pages_in_flight_never_exceed_max_pages() -> None:
    made = frontier("a", "b", "c", max_pages=2)
    assert taken(made) == ["a", "b"]
    made.settle(page=True)
    made.settle(page=True)
    assert taken(made) == []
    assert made.idle
    assert not made.exhausted


def test_what_is_no_page_gives_its_place_back() -> None:
    made = frontier("a", "b", "c", max_pages=1)
    assert taken(made) == ["a"]
    made.settle(page=False)
    assert taken(made) == ["b"]


def test_remembered_addresses_are_bounded_and_the_loss_is_told() -> None:
    made = Frontier(max_pages=1, window=1)
    assert all(made.note(str(number)) for number in range(SEEN_LEAST))
    assert made.exhausted
    assert not made.note("one more")
    assert not made.exhausted


def test_a_chain_of_redirects_remembers_where_it_began() -> None:
    target = Target(url="a", depth=3, linked_from="z").redirected("b").redirected("c")
    assert (target.url, target.requested_url, target.depth, target.linked_from) == (
        "c",
        "a",
        3,
        "z",
    )
    assert Target(url="a").requested_url == "a"
