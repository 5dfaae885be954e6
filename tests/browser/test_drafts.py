"""What is typed and not yet asked is kept: over reloads, beside other tabs, however long it is."""

from __future__ import annotations

from collections.abc import Callable

import pytest

pytest.importorskip("playwright.sync_api")
from playwright.sync_api import expect

from tests.browser.visits import Visit

Visits = Callable[..., Visit]


def test_a_draft_outlives_a_reload(visit: Visits) -> None:
    one = visit().open()
    one.question.fill("Not yet asked")
    one.page.reload()
    expect(one.question).to_have_value("Not yet asked")


def test_two_tabs_keep_each_its_own_draft(visit: Visits) -> None:
    one = visit().open()
    other = one.another_tab("/")
    other.get_by_label("Your question").fill("Typed in the other tab")
    one.says("Yes.")
    one.asked("Asked in this tab?")
    one.open("/").question.fill("Typed in this tab")
    other.reload()
    expect(other.get_by_label("Your question")).to_have_value("Typed in the other tab")
    one.page.reload()
    expect(one.question).to_have_value("Typed in this tab")


def test_a_draft_outlives_its_tab(visit: Visits) -> None:
    one = visit().open()
    one.question.fill("Not yet asked")
    other = one.another_tab("/docs/")
    one.page.close()
    other.goto("/")
    expect(other.get_by_label("Your question")).to_have_value("Not yet asked")


def test_a_question_that_is_too_long_is_kept_whole_and_said_to_be_so(visit: Visits) -> None:
    one = visit().open()
    long = "word " * 1700 + "the end"
    one.question.focus()
    one.page.keyboard.insert_text(long)  # as pasting does
    expect(one.notice).to_contain_text("A question has at most 8000 characters.")
    expect(one.question).to_have_value(long)
    one.question.press("Enter")
    expect(one.question).to_have_value(long)
    expect(one.page.locator(".exchange")).to_have_count(0)
    one.question.fill("Short")
    expect(one.notice).to_be_hidden()
