"""An answer goes on when its page is reloaded, left for another chat, or closed."""

from __future__ import annotations

from collections.abc import Callable

import pytest

pytest.importorskip("playwright.sync_api")
from playwright.sync_api import expect

from tests.browser.visits import Visit
from tests.live import until

Visits = Callable[..., Visit]
CONTROLLED = """() => navigator.serviceWorker.controller !== null"""


@pytest.fixture
def one(visit: Visits) -> Visit:
    one = visit().open()
    one.page.wait_for_function(CONTROLLED)
    return one


def test_a_reload_in_mid_answer_shows_it_going_on_to_its_end(one: Visit) -> None:
    with one.says_and_waits("Half an", " answer") as go_on:
        one.ask()
        expect(one.content).to_have_text("Half an answer")
        one.page.reload()
        expect(one.answer).to_contain_text("This answer is being written…")
        expect(one.content).to_have_text("Half an answer")
        expect(one.page.locator("[data-question]")).to_have_text("How do I index a site?")
        go_on.set()
        expect(one.content).to_have_text("Half an answer Done.")
    expect(one.answer).not_to_contain_text("interrupted")


def test_an_answer_ends_while_another_chat_is_looked_at(one: Visit) -> None:
    one.says("First.")
    one.asked("Which chat is the first?")
    one.open("/")
    with one.says_and_waits("Slow") as go_on:
        one.ask("Which chat is the second?")
        expect(one.content).to_have_text("Slow")
        second = one.page.url
        one.page.get_by_role("link", name="Which chat is the first?").click()
        expect(one.content).to_have_text("First.")
        go_on.set()
        one.open(second)
        expect(one.content).to_have_text("Slow Done.")
    expect(one.answer).not_to_contain_text("interrupted")


def test_a_new_chat_that_was_left_in_mid_answer_is_listed_once_it_is_stored(one: Visit) -> None:
    with one.says_and_waits("Slow") as go_on:
        one.ask("Will it be listed?")
        expect(one.content).to_have_text("Slow")
        one.page.get_by_role("link", name="New chat").click()
        expect(one.page).to_have_url(f"{one.site.url}/")
        expect(one.page.locator("#chat-list-note")).to_have_text("Your chats appear here.")
        go_on.set()
        expect(one.page.get_by_role("link", name="Will it be listed?")).to_be_visible()


def test_an_answer_can_be_stopped_after_a_reload(one: Visit) -> None:
    with one.says_and_waits("So far"):
        one.ask()
        expect(one.content).to_have_text("So far")
        one.page.reload()
        expect(one.answer).to_contain_text("This answer is being written…")
        one.button("Stop the answer").click()
        expect(one.answer).to_contain_text("The answer was interrupted.")
    expect(one.content).to_have_text("So far")


def test_two_tabs_agree_on_an_answer_whose_page_was_reloaded(one: Visit) -> None:
    with one.says_and_waits("Half") as go_on:
        one.ask()
        expect(one.content).to_have_text("Half")
        other = one.another_tab(one.page.url)
        expect(other.locator("article")).to_contain_text("This answer is being written…")
        one.page.reload()
        go_on.set()
        for page in (one.page, other):
            expect(page.locator(".content")).to_have_text("Half Done.")


def test_an_answer_whose_page_was_closed_is_stored_whole(one: Visit) -> None:
    with one.says_and_waits("Half") as go_on:
        one.ask("Who will read this?")
        expect(one.content).to_have_text("Half")
        one.another_tab("/docs/")
        one.page.close()
        go_on.set()
        query = "select finish_reason from chats_message where content = 'Half Done.'"
        until(lambda: one.site.sql(query), 10, "stored answer")
        assert one.site.sql(query)[-1] == ("stop",)
