"""Documents are read ahead in a child process, in order, and its death is survived."""

from __future__ import annotations

import multiprocessing
from collections.abc import Iterator

import pytest

from retrieval.ingest import reading
from retrieval.ingest.base import CrawlEnd, Fetched, Skipped
from retrieval.ingest.reading import AHEAD, ALONE, UNEXPECTED, Reading, read_ahead
from tests.retrieval.ingest.sync_support import SITE, html

ENOUGH = ALONE + 3 * AHEAD


def page(number: int) -> Fetched:
    url = f"{SITE}{number}"
    body = html(f"Page {number}", f"Apples of page {number} are sweet.").encode()
    return Fetched(url=url, requested_url=url, media_type="text/html", charset=None, body=body)


def pages(count: int = ENOUGH) -> Iterator[Fetched | Skipped | CrawlEnd]:
    yield Skipped(url=SITE, reason="answered 404")
    yield from map(page, range(count))
    yield CrawlEnd(complete=True)


def test_items_keep_their_order_and_bring_what_they_say() -> None:
    found = list(read_ahead(pages(), needed=lambda fetched: True))
    assert [item for item, _ in found] == list(pages())
    assert (found[0][1], found[-1][1]) == (None, None)
    for number, (_, read) in enumerate(found[1:-1]):
        assert isinstance(read, Reading)
        assert read.document.title == f"Page {number}"
        assert f"Apples of page {number} are sweet." in read.passages[0].text
    assert multiprocessing.active_children() == []


def test_what_needs_no_reading_is_passed_on_and_starts_no_child() -> None:
    for _, read in read_ahead(pages(), needed=lambda fetched: False):
        assert read is None
        assert multiprocessing.active_children() == []


def test_a_few_documents_are_read_without_a_child() -> None:
    for item, read in read_ahead(pages(ALONE), needed=lambda fetched: True):
        assert isinstance(read, Reading) or not isinstance(item, Fetched)
        assert multiprocessing.active_children() == []


def test_no_more_is_fetched_ahead_than_the_bound() -> None:
    taken = 0

    def counted() -> Iterator[Fetched | Skipped | CrawlEnd]:
        nonlocal taken
        for item in pages():
            taken += 1
            yield item

    for given, _ in enumerate(read_ahead(counted(), needed=lambda fetched: True), 1):
        assert taken <= given + AHEAD


def test_a_child_that_dies_costs_what_it_was_reading_and_not_the_rest() -> None:
    readings = read_ahead(pages(), needed=lambda fetched: True)
    outcomes = []
    killed = False
    for item, read in readings:
        outcomes.append(read)
        if not killed and (children := multiprocessing.active_children()):
            children[0].kill()
            killed = True
        assert isinstance(item, CrawlEnd) or read is not None or item.url == SITE
    lost = [read for read in outcomes if isinstance(read, Skipped)]
    assert killed
    assert len(lost) <= AHEAD + 1
    assert {(read.reason, read.transient) for read in lost} <= {(UNEXPECTED, True)}
    assert isinstance(outcomes[-2], Reading), "a new child reads what comes after"


def test_leaving_early_ends_the_child() -> None:
    readings = read_ahead(pages(), needed=lambda fetched: True)
    for _ in readings:
        if multiprocessing.active_children():
            break
    readings.close()
    assert multiprocessing.active_children() == []


def test_a_document_that_cannot_be_read_is_skipped_until_the_next_sync(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(reading, "parse", None)
    (_, read), _ = read_ahead([page(1), CrawlEnd(complete=True)], needed=lambda fetched: True)
    assert read == Skipped(url=f"{SITE}1", reason=UNEXPECTED, transient=True)
