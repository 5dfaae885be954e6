"""The crawl's decisions, without a network."""

from __future__ import annotations

from typing import Any

import pytest

from retrieval.ingest.base import CrawlRequest, Fetched, Known, Skipped
from retrieval.ingest.crawl.frontier import Target
from retrieval.ingest.crawl.replies import Refusal, Reply
from retrieval.ingest.crawl.session import DOWN_AFTER, Item, Session

HTML = {"content-type": ("text/html",)}


def html(*hrefs: str, **headers: str) -> Reply:
    body = "".join(f'<a href="{href}"></a>' for href in hrefs).encode()
    return Reply(status=200, headers=HTML | {k: (v,) for k, v in headers.items()}, body=body)


def status(code: int, **headers: str) -> Reply:
    return Reply(status=code, headers={name: (value,) for name, value in headers.items()})


class Crawl:
    """A session that is answered from a table; every address it asks for is noted."""

    def __init__(
        self, answers: dict[str, Reply | Refusal], location: str = "http://h/", **request: Any
    ) -> None:
        values = {"kind": "site", "depth": 10, "max_pages": 100} | request
        self.session = Session(
            CrawlRequest(location=location, **values), robot="FastragSite", window=1
        )
        self.asked: list[str] = []
        self.items: list[Item] = []
        while targets := list(self.session.targets()):
            for target in targets:
                self.items += self._answer(target, answers)
        self.end = self.session.end()

    def _answer(self, target: Target, answers: dict[str, Reply | Refusal]) -> list[Item]:
        self.asked.append(target.address)
        answer = answers.get(target.address, status(404))
        if isinstance(answer, Refusal):
            return self.session.refused(target, answer)
        return self.session.replied(target, answer)

    @property
    def pages(self) -> list[str]:
        return [item.url for item in self.items if isinstance(item, Fetched)]

    @property
    def reasons(self) -> dict[str, str]:
        return {item.url: item.reason for item in self.items if isinstance(item, Skipped)}


def test_pages_are_visited_breadth_first_to_the_depth() -> None:
    answers: dict[str, Reply | Refusal] = {
        "http://h/": html("/a", "/b"),
        "http://h/a": html("/a1"),
        "http://h/b": html("/b1"),
        "http://h/a1": html("/a2"),
        "http://h/b1": html(),
    }
    crawl = Crawl(answers, depth=2)
    assert crawl.pages == ["http://h/", "http://h/a", "http://h/b", "http://h/a1", "http://h/b1"]
    assert crawl.end.complete  # what is too deep is not reachable, by the operator's choice
    assert Crawl(answers, depth=0).pages == ["http://h/"]


def test_a_page_knows_the_page_that_led_to_it() -> None:
    crawl = Crawl(
        {
            "http://h/": html("/old", "/b"),
            "http://h/old": status(301, location="/new"),
            "http://h/new": html(),
            "http://h/b": html("/new"),
        }
    )
    (new,) = [item for item in crawl.items if item.url == "http://h/new"]
    assert isinstance(new, Fetched)
    assert (new.linked_from, new.requested_url, new.depth) == ("http://h/", "http://h/old", 1)


def test_reaching_max_pages_with_more_to_do_is_incomplete() -> None:
    answers: dict[str, Reply | Refusal] = {"http://h/": html("/a"), "http://h/a": html()}
    assert not Crawl(answers, max_pages=1).end.complete
    assert Crawl(answers, max_pages=2).end.complete
    assert Crawl(answers, max_pages=1).end.failure is None


def test_a_redirect_leads_to_one_page_under_its_final_address() -> None:
    crawl = Crawl(
        {
            "http://h/": html("/a", "/a/"),
            "http://h/a": status(301, location="/a/"),
            "http://h/a/": html(),
        }
    )
    assert crawl.pages == ["http://h/", "http://h/a/"]
    assert crawl.reasons == {}


def test_a_server_that_insists_on_another_spelling_gets_it_once() -> None:
    crawl = Crawl(
        {
            "http://h/": html("/~u", "/loop"),
            "http://h/~u": status(302, location="/%7Eu"),
            "http://h/%7Eu": html(),
            "http://h/loop": status(302, location="/loo%70"),
            "http://h/loo%70": status(302, location="/loop"),
        }
    )
    assert crawl.pages == ["http://h/", "http://h/~u"]
    assert crawl.reasons == {"http://h/loop": "redirects without end"}


def test_redirects_in_a_circle_and_without_end_are_given_up() -> None:
    answers: dict[str, Reply | Refusal] = {
        "http://h/": html("/a", "/n0"),
        "http://h/a": status(302, location="/b"),
        "http://h/b": status(302, location="/a"),
    }
    answers |= {f"http://h/n{n}": status(302, location=f"/n{n + 1}") for n in range(50)}
    crawl = Crawl(answers)
    assert set(crawl.reasons.values()) == {"redirects without end"}
    assert len(crawl.asked) < 20


@pytest.mark.parametrize(
    ("location", "reason"),
    [
        ("http://other/", "redirects to another site"),
        ("http://169.254.169.254/latest", "redirects to another site"),
        ("ftp://h/", "redirects to an address that cannot be fetched"),
        ("http://[bad/", "redirects to an address that cannot be fetched"),
    ],
)
def test_a_redirect_away_from_the_site_is_not_followed(location: str, reason: str) -> None:
    crawl = Crawl({"http://h/": html("/a"), "http://h/a": status(302, location=location)})
    assert crawl.reasons == {"http://h/a": reason}
    assert crawl.asked == ["http://h/", "http://h/a"]
    assert crawl.end.complete


def test_the_start_page_may_move_to_https_and_www() -> None:
    crawl = Crawl(
        {
            "http://h/": status(301, location="https://www.h/"),
            "https://www.h/": html("http://h/a", "https://www.h/b", "http://o/"),
            "https://www.h/a": html(),
            "https://www.h/b": html(),
        }
    )
    assert crawl.pages == ["https://www.h/", "https://www.h/a", "https://www.h/b"]
    assert "http://o/" not in crawl.asked


def test_a_start_page_that_moves_elsewhere_fails_and_says_where() -> None:
    away = Crawl({"http://h/": status(302, location="http://other/x")})
    assert away.end.failure == (
        "http://h/: redirects to another site, to http://other/x (name that address instead)"
    )
    out = Crawl({"http://h/docs/": status(302, location="/login")}, "http://h/docs/")
    assert out.end.failure is not None
    assert "outside its path, to http://h/login" in out.end.failure
    assert not away.end.complete
    assert not out.end.complete


@pytest.mark.parametrize(
    ("answer", "gone", "transient"),
    [
        (status(404), True, False),
        (status(410), True, False),
        (status(403), False, False),
        (status(204), False, False),
        (status(304), False, False),
        (status(500), False, True),
        (status(429), False, True),
        (Refusal(reason="timed out", transient=True), False, True),
    ],
)
def test_what_an_answer_means_for_an_earlier_copy(
    answer: Reply | Refusal, gone: bool, transient: bool
) -> None:
    crawl = Crawl({"http://h/": html("/a"), "http://h/a": answer})
    (item,) = [item for item in crawl.items if isinstance(item, Skipped)]
    assert (item.gone, item.transient) == (gone, transient)
    assert crawl.end.complete


def test_a_page_that_cannot_answer_now_still_leads_to_the_pages_it_is_known_to_link() -> None:
    known = {"http://h/hub": Known(links=("http://h/leaf", "http://o/"))}
    answers: dict[str, Reply | Refusal] = {
        "http://h/": html("/hub"),
        "http://h/hub": status(503),
        "http://h/leaf": html(),
    }
    crawl = Crawl(answers, known=known)
    assert crawl.pages == ["http://h/", "http://h/leaf"]


def test_an_unchanged_page_is_followed_by_its_known_links() -> None:
    known = {"http://h/": Known(etag='"1"', links=("http://h/a",))}
    crawl = Crawl({"http://h/": status(304), "http://h/a": html()}, known=known)
    assert crawl.pages == ["http://h/", "http://h/a"]
    first = crawl.items[0]
    assert isinstance(first, Fetched)
    assert (first.not_modified, first.body, first.etag, first.links) == (
        True,
        b"",
        '"1"',
        ("http://h/a",),
    )


def test_an_unchanged_page_may_newly_ask_not_to_be_indexed() -> None:
    known = {"http://h/": Known(etag='"1"')}
    crawl = Crawl({"http://h/": status(304, **{"x-robots-tag": "noindex"})}, known=known)
    assert isinstance(crawl.items[0], Fetched)
    assert crawl.items[0].noindex


def test_a_header_may_ask_not_to_index_and_not_to_follow() -> None:
    crawl = Crawl({"http://h/": html("/a", **{"x-robots-tag": "noindex, nofollow"})})
    assert isinstance(crawl.items[0], Fetched)
    assert crawl.items[0].noindex
    assert crawl.asked == ["http://h/"]


def test_slash_and_index_twins_with_one_content_are_one_page() -> None:
    crawl = Crawl(
        {
            "http://h/": html("/a", "/a/", "/index.html", "/b", "/b/"),
            "http://h/index.html": html("/a", "/a/", "/index.html", "/b", "/b/"),
            "http://h/a": html("/x"),
            "http://h/a/": html("/x"),
            "http://h/b": html("/y"),
            "http://h/b/": html("/z"),
        }
    )
    assert crawl.pages == ["http://h/", "http://h/a", "http://h/b", "http://h/b/"]
    assert crawl.reasons["http://h/a/"] == crawl.reasons["http://h/index.html"]
    assert crawl.reasons["http://h/a/"] == "same as another page"


def test_a_known_twin_is_preferred_whichever_is_met_first() -> None:
    known = {"http://h/a": Known(etag='"1"')}
    answers: dict[str, Reply | Refusal] = {
        "http://h/": html("/a/"),
        "http://h/a/": html(etag='"1"'),
        "http://h/a": status(304),
    }
    crawl = Crawl(answers, known=known)
    assert crawl.pages == ["http://h/", "http://h/a"]
    assert crawl.reasons == {"http://h/a/": "same as another page"}


def test_a_meta_refresh_is_followed_even_at_the_greatest_depth() -> None:
    stub = Reply(status=200, headers=HTML, body=b'<meta http-equiv="refresh" content="0; url=en/">')
    crawl = Crawl({"http://h/": stub, "http://h/en/": html()}, depth=0)
    assert crawl.pages == ["http://h/", "http://h/en/"]


def test_files_that_are_no_documents_are_skipped_by_name_without_a_request() -> None:
    crawl = Crawl({"http://h/": html("/i.png", "/i.png", "/a.zip", "http://o/x.png")})
    assert crawl.asked == ["http://h/"]
    assert crawl.reasons == dict.fromkeys(
        ("http://h/i.png", "http://h/a.zip"), "unsupported file type"
    )


def test_links_reported_for_a_page_are_those_of_its_host() -> None:
    crawl = Crawl({"http://h/d/": html("/d/a", "/other", "http://o/x")}, "http://h/d/")
    assert isinstance(crawl.items[0], Fetched)
    assert crawl.items[0].links == ("http://h/d/a", "http://h/other")


def test_a_single_page_leads_nowhere() -> None:
    crawl = Crawl({"http://h/p": html("/a")}, "http://h/p", kind="url")
    assert crawl.asked == ["http://h/p"]
    assert crawl.end.complete


def test_a_single_page_that_is_gone_is_told_as_gone_and_as_failed() -> None:
    crawl = Crawl({}, "http://h/p", kind="url")
    assert crawl.items == [Skipped(url="http://h/p", reason="answered 404", gone=True)]
    assert crawl.end.failure == "http://h/p: answered 404"


def test_a_missing_start_page_of_a_site_prunes_nothing() -> None:
    crawl = Crawl({})
    assert crawl.items == [Skipped(url="http://h/", reason="answered 404")]
    assert (crawl.end.complete, crawl.end.failure) == (False, "http://h/: answered 404")


def test_a_fatal_refusal_ends_the_crawl() -> None:
    refusal = Refusal(reason="robots.txt answered 503", transient=True, fatal=True)
    crawl = Crawl({"http://h/": html("/a", "/b"), "http://h/a": refusal})
    assert crawl.asked == ["http://h/", "http://h/a"]
    assert crawl.end.failure == "robots.txt answered 503"


@pytest.mark.parametrize("answer", [Refusal(reason="timed out", down=True), status(503)])
def test_a_site_that_stops_answering_ends_the_crawl(answer: Reply | Refusal) -> None:
    answers = {f"http://h/{n}": answer for n in range(100)}
    crawl = Crawl(answers | {"http://h/": html(*(f"/{n}" for n in range(100)))})
    assert crawl.end.failure == "the site stopped answering"
    assert len(crawl.asked) == 1 + DOWN_AFTER


def test_a_broken_section_does_not_end_the_crawl() -> None:
    answers: dict[str, Reply | Refusal] = {f"http://h/{n}": status(500) for n in range(50)}
    crawl = Crawl(answers | {"http://h/": html(*(f"/{n}" for n in range(50)))})
    assert crawl.end.failure is None


def test_an_address_without_an_outcome_makes_the_crawl_fail() -> None:
    session = Session(
        CrawlRequest(kind="site", location="http://h/", depth=1, max_pages=9),
        robot="r",
        window=1,
    )
    assert session.end(finished=False).failure is not None
    list(session.targets())
    assert session.end().failure is not None
