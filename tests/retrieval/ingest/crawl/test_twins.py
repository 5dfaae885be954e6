from __future__ import annotations

from retrieval.ingest.base import Known
from retrieval.ingest.crawl.twins import Twins


def test_the_same_document_with_and_without_slash_is_repeated() -> None:
    twins = Twins({})
    assert not twins.is_repeated("http://h/a", b"x")
    assert twins.is_repeated("http://h/a/", b"x")
    assert twins.is_repeated("http://h/a/index.html", b"x")
    assert not twins.is_repeated("http://h/a", b"x")  # itself


def test_other_bytes_or_another_page_are_not_repeated() -> None:
    twins = Twins({})
    twins.is_repeated("http://h/a", b"x")
    assert not twins.is_repeated("http://h/a/", b"y")
    assert not twins.is_repeated("http://h/b", b"x")


def test_a_known_twin_is_told_by_its_validators() -> None:
    twins = Twins(
        {
            "http://h/a": Known(etag='"1"', last_modified="Mon"),
            "http://h/b": Known(last_modified="Mon"),
            "http://h/c": Known(),
        }
    )
    assert twins.known_twin("http://h/a/", etag='"1"', last_modified="") == "http://h/a"
    assert twins.known_twin("http://h/a/", etag='"2"', last_modified="Mon") is None
    assert twins.known_twin("http://h/b/", etag="", last_modified="Mon") == "http://h/b"
    assert twins.known_twin("http://h/c/", etag="", last_modified="") is None
    assert twins.known_twin("http://h/a", etag='"1"', last_modified="") is None  # known itself
