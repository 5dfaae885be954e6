"""Who reads is not disturbed: by what is typed, by what comes, by what another tab does."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

pytest.importorskip("playwright.sync_api")
from playwright.sync_api import Route, expect

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


def comes_back(one: Visit) -> None:
    """The window is shown again, and has looked at the server."""
    with (
        one.page.expect_response("**/api/chats*") as chats,
        one.page.expect_response("**/thread?*") as thread,
    ):
        one.page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    for response in (chats.value, thread.value):
        response.finished()
    one.page.evaluate("new Promise((done) => requestAnimationFrame(() => setTimeout(done)))")


def test_the_focus_on_a_source_stays_there_when_the_answer_is_laid_out(visit: Visits) -> None:
    one = visit().open()
    with one.says_and_waits("See [1]"):
        one.ask()
        expect(one.content).to_have_text("See 1")
        one.answer.locator(".source").nth(1).focus()
    expect(one.button("Copy as text")).to_be_visible()
    expect(one.answer.locator(".source").nth(1)).to_be_focused()


def test_coming_back_keeps_the_focus_and_what_is_selected(visit: Visits) -> None:
    one = visit().open()
    one.says("See [1].")
    one.asked()
    one.button("Good answer").click()
    expect(one.button("Good answer")).to_have_attribute("aria-pressed", "true")
    expect(one.answer.get_by_text("Thank you")).to_be_hidden()
    chip = one.content.locator("a.chip")
    one.page.evaluate("getSelection().selectAllChildren(document.querySelector('.content'))")
    comes_back(one)
    assert "See" in one.page.evaluate("String(getSelection())")
    chip.focus()
    comes_back(one)
    expect(chip).to_be_focused()
    link = one.page.locator(".chat-link")
    link.focus()
    comes_back(one)
    expect(link).to_be_focused()


def test_the_focus_in_the_list_of_chats_stays_when_another_tab_asks(visit: Visits) -> None:
    one = visit().open()
    one.says("Yes.")
    one.asked("Focused?")
    link = one.page.get_by_role("link", name="Focused?")
    link.focus()
    other = one.another_tab("/")
    one.says("Yes.")
    other.get_by_label("Your question").fill("Elsewhere?")
    other.keyboard.press("Enter")
    expect(one.page.locator(".chat-link")).to_have_text(["Elsewhere?", "Focused?"])
    expect(link).to_be_focused()


def test_a_list_of_chats_that_was_extended_stays_so(visit: Visits) -> None:
    one = visit().open()
    for number in range(3):
        one.says("Yes.")
        one.open("/").asked(f"Question {number}?")
    one.page.route(re.compile(r"/api/chats(\?cursor=.*)?$"), shortened)
    one.page.reload()
    rows = one.page.locator(".chat-row")
    expect(rows).to_have_count(2)
    one.context.set_offline(True)
    one.button("Show more").click()
    expect(one.page.get_by_text("Your chats cannot be loaded just now.")).to_be_visible()
    expect(rows).to_have_count(2)
    one.context.set_offline(False)
    one.button("Show more").click()
    expect(rows).to_have_count(3)
    expect(rows.last.get_by_role("link")).to_be_focused()
    comes_back(one)
    expect(rows).to_have_count(3)
    expect(rows.last.get_by_role("link")).to_be_focused()


def shortened(route: Route) -> None:
    """Pages of two chats."""
    url = route.request.url
    route.continue_(url=f"{url}{'&' if '?' in url else '?'}limit=2")
