"""A chip in an answer leads to the passage itself, highlighted, on the project's documentation."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import unquote

import pytest

pytest.importorskip("playwright.sync_api")
from playwright.sync_api import Page, expect

from tests.browser.visits import Visit
from tests.live import Server

Visits = Callable[..., Visit]
# What the browser found and highlights, in the order of the link.
HIGHLIGHTED = """async () => {
  const items = document.fragmentDirective.items;
  const ranges = await Promise.all(items.map((item) => item.getMatchingRange()));
  return ranges.map((range) => range.toString());
}"""
IS_IN_SIGHT = """async () => {
  const range = await document.fragmentDirective.items[0].getMatchingRange();
  const { top, bottom } = range.getClientRects()[0];
  return scrollY > 0 && top >= 0 && bottom <= innerHeight;
}"""


@pytest.mark.parametrize("question", ["What does a sync cost?", "What is refused by the crawler?"])
def test_the_chip_of_an_answer_lands_on_its_passage(visit: Visits, question: str) -> None:
    one = visit(viewport={"width": 1000, "height": 500}).open()
    one.says("See [1].")
    one.asked(question)
    lands(one, one.site)


def test_the_chip_of_an_answer_that_is_being_written_lands_there_too(visit: Visits) -> None:
    one = visit(viewport={"width": 1000, "height": 500}).open()
    with one.says_and_waits("See [1]"):
        one.ask("What does a sync cost?")
        expect(one.content).to_have_text("See 1")
        lands(one, one.site)


def lands(one: Visit, site: Server) -> None:
    chip = one.content.locator("a.chip")
    url, _, directive = (chip.get_attribute("href") or "").partition("#:~:text=")
    with one.context.expect_page() as opened:
        chip.click()
    page: Page = opened.value
    page.wait_for_load_state()
    page.wait_for_function(IS_IN_SIGHT)
    highlighted = page.evaluate(HIGHLIGHTED)
    cited = [[unquote(term) for term in text.split(",")] for text in directive.split("&text=")]
    assert len(highlighted) == len(cited)
    for text, (start, *end) in zip(highlighted, cited, strict=True):
        assert ink(text) in ink(passages(site, url, start, *end))
        assert len(ink(text)) > 40


def passages(site: Server, url: str, start: str, end: str = "") -> str:
    """What is indexed from the passage that `start` begins to the one that `end` closes."""
    rows = site.sql(
        "select text, fragment_start, fragment_end from retrieval_chunk join retrieval_page page"
        f" on page.id = page_id where page.url = '{url}' order by position"
    )
    first = next(at for at, row in enumerate(rows) if row[1] == start)
    last = next(at for at, row in enumerate(rows) if at >= first and (end or start) in row[1:])
    return "\n".join(row[0] for row in rows[first : last + 1])


def ink(text: str) -> str:
    return "".join(text.split())
