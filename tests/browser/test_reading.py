"""Who reads is not disturbed: by what is typed, by what comes, by what another tab does."""

from __future__ import annotations

from collections.abc import Callable

import pytest

pytest.importorskip("playwright.sync_api")
from playwright.sync_api import expect

from tests.browser.visits import Visit

Visits = Callable[..., Visit]
LONG = "\n\n".join(f"Paragraph {number} rests on [1]." for number in range(60))
# How far the element with the focus lies above the upper edge of the composer.
CLEARANCE = """() => document.getElementById('composer').getBoundingClientRect().top
  - document.activeElement.getBoundingClientRect().bottom"""


def test_typing_leaves_an_answer_where_its_reader_scrolled_it(visit: Visits) -> None:
    one = visit().open()
    one.says(LONG)
    one.asked()
    expect(one.question).to_be_focused()
    one.page.evaluate("scrollTo({top: 300, behavior: 'instant'})")
    one.page.keyboard.type("And then?")
    expect(one.question).to_have_value("And then?")
    assert one.page.evaluate("scrollY") == 300


def test_what_the_keyboard_reaches_is_not_hidden_under_the_composer(visit: Visits) -> None:
    one = visit().open()
    one.says(LONG)
    one.asked()
    one.page.evaluate("scrollTo({top: 0, behavior: 'instant'})")
    one.answer.locator(".source").last.focus()
    for _ in range(40):
        one.page.keyboard.press("Tab")
        assert one.page.evaluate(CLEARANCE) > 0
    expect(one.content.locator(".chip").nth(39)).to_be_focused()
