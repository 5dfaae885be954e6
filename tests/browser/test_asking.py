"""The life of a chat on the page: ask, watch, read on, find again, rename, delete."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

pytest.importorskip("playwright.sync_api")
from playwright.sync_api import Route, expect

from tests.browser.visits import Visit

Visits = Callable[..., Visit]


def test_sources_show_first_and_the_text_as_it_comes(visit: Visits) -> None:
    one = visit().open()
    with one.says_and_waits("Run sync [1]", " and") as go_on:
        one.ask()
        expect(one.content).to_have_text("Run sync 1 and")
        expect(one.answer.locator(".source-title").first).to_have_text("Indexing")
        expect(one.answer.locator("[data-status]")).to_have_text("Answering…")
        expect(one.answer).to_have_attribute("aria-busy", "true")
        go_on.set()
        expect(one.content).to_have_text("Run sync 1 and Done.")
    expect(one.answer).not_to_have_attribute("aria-busy", "true")
    expect(one.page.get_by_role("status")).to_have_text("The answer is ready.")


def test_it_says_how_many_pages_it_reads_while_the_model_is_silent(visit: Visits) -> None:
    one = visit().open()
    with one.says_and_waits():
        one.ask()
        expect(one.answer.locator("[data-status]")).to_have_text(re.compile(r"Reading \d pages?…"))


def test_a_question_typed_meanwhile_stays(visit: Visits) -> None:
    one = visit().open()
    with one.says_and_waits("Wait"):
        one.ask()
        expect(one.content).to_have_text("Wait")
        one.ask("And then?")
        expect(one.notice).to_contain_text("still being written")
        expect(one.question).to_have_value("And then?")
    expect(one.notice).to_be_hidden()
    expect(one.question).to_have_value("And then?")


def test_a_follow_up_goes_on_in_the_same_chat_under_its_own_address(visit: Visits) -> None:
    one = visit().open()
    one.says("First.")
    one.asked()
    address = one.page.url
    assert re.search(r"/chats/[0-9a-f-]{36}$", address)
    one.says("Second.")
    one.asked("And how often?")
    assert one.page.url == address
    one.page.reload()
    expect(one.page.locator("[data-question]")).to_have_text(
        ["How do I index a site?", "And how often?"]
    )
    expect(one.page.locator(".content")).to_have_text(["First.", "Second."])


def test_the_rendered_answer_has_lists_tables_and_code_with_a_copy_button(visit: Visits) -> None:
    one = visit(permissions=["clipboard-read", "clipboard-write"]).open()
    one.says("- one\n- two\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```\npip install x\n```\n")
    one.asked()
    expect(one.content.locator("li")).to_have_text(["one", "two"])
    expect(one.content.locator("td")).to_have_text(["1", "2"])
    one.content.get_by_role("button", name="Copy").click()
    expect(one.content.get_by_role("button", name="Copied")).to_be_visible()
    assert one.page.evaluate("navigator.clipboard.readText()").strip() == "pip install x"


def test_known_numbers_become_chips_and_others_stay_text(visit: Visits) -> None:
    one = visit().open()
    one.says("Known [1], unknown [99], code `[1]`, escaped \\[1\\].")
    one.asked()
    expect(one.content).to_have_text("Known 1, unknown [99], code [1], escaped [1].")
    expect(one.content.locator(".chip")).to_have_count(1)


def test_a_chip_opens_the_cited_passage_in_a_new_tab(visit: Visits) -> None:
    one = visit().open()
    one.says("See [1].")
    one.asked()
    chip = one.content.locator("a.chip")
    address = chip.get_attribute("href") or ""
    assert re.search(r"/docs/indexing/#:~:text=[^-]+$", address)
    with one.context.expect_page() as opened:
        chip.click()
    opened.value.wait_for_load_state()
    expect(opened.value.locator("h1")).to_have_text("Indexing")
    assert opened.value.evaluate("window.opener") is None


@pytest.mark.parametrize("how", ["hover", "focus"])
def test_a_chip_shows_the_passage_on_hover_and_focus(visit: Visits, how: str) -> None:
    one = visit().open()
    one.says("See [1].")
    one.asked()
    getattr(one.content.locator("a.chip"), how)()
    expect(one.page.get_by_role("tooltip")).to_contain_text("Indexing")
    # More than the ends, which the link holds.
    expect(one.page.get_by_role("tooltip")).to_contain_text("Every source is remembered as a site")
    one.page.keyboard.press("Escape")
    expect(one.page.get_by_role("tooltip")).to_be_hidden()


def test_an_answer_is_copied_as_text_and_as_markdown_with_links(visit: Visits) -> None:
    one = visit(permissions=["clipboard-read", "clipboard-write"]).open()
    one.says("See **here** [1].")
    one.asked()
    one.button("Copy as text").click()
    expect(one.answer.get_by_text("Copied")).to_be_visible()
    assert one.page.evaluate("navigator.clipboard.readText()") == "See here [1]."
    one.button("Copy as Markdown with links").click()
    one.page.wait_for_function("navigator.clipboard.readText().then(t => t.includes('**'))")
    copied = one.page.evaluate("navigator.clipboard.readText()")
    assert copied.startswith(f"See **here** [\\[1\\]]({one.site.url}/docs/indexing/#:~:text=")


def test_an_answer_that_was_cut_short_in_code_is_copied_with_its_sources_below(
    visit: Visits,
) -> None:
    one = visit(permissions=["clipboard-read", "clipboard-write"]).open()
    with one.says_and_waits("Run [1]:\n\n```\nx = 1\n"):
        one.ask()
        expect(one.content).to_contain_text("x = 1")
        one.button("Stop the answer").click()
        expect(one.answer).to_contain_text("The answer was interrupted.")
    one.button("Copy as Markdown with links").click()
    expect(one.answer.get_by_text("Copied")).to_be_visible()
    copied = one.page.evaluate("navigator.clipboard.readText()")
    assert "```\nx = 1\n\n```\n\n- [" in copied


def test_stop_ends_the_answer_and_keeps_what_was_said(visit: Visits) -> None:
    one = visit().open()
    with one.says_and_waits("So far"):
        one.ask()
        expect(one.content).to_have_text("So far")
        one.button("Stop the answer").click()
        expect(one.answer).to_contain_text("The answer was interrupted.")
    expect(one.content).to_have_text("So far")
    expect(one.button("Ask")).to_be_visible()


def test_stop_before_a_follow_up_is_accepted_stops_its_answer(visit: Visits) -> None:
    one = visit(service_workers="block").open()
    one.says("First.")
    one.asked()
    held: list[Route] = []
    one.page.route("**/messages", lambda route: held.append(route))
    with one.says_and_waits("Unwanted"):
        with one.page.expect_request("**/messages"):
            one.ask("And then?")
        one.button("Stop the answer").click()
        held[0].continue_()
        expect(one.page.locator("article")).to_have_count(2)
        expect(one.answer).to_contain_text("The answer was interrupted.")
    expect(one.page.locator("[data-question]").last).to_have_text("And then?")
    expect(one.button("Ask")).to_be_visible()


def test_an_answer_is_given_again_and_the_earlier_one_stays_below(visit: Visits) -> None:
    one = visit().open()
    one.says("Old.")
    one.asked()
    one.says("New.")
    one.button("Answer again").click()
    expect(one.content).to_have_text("New.")
    expect(one.page.locator(".exchange")).to_have_count(1)
    one.page.get_by_text("1 earlier answer").click()
    expect(one.answer.locator(".earlier-answer .content")).to_have_text("Old.")


def test_feedback_is_kept_with_its_comment_and_can_be_taken_back(visit: Visits) -> None:
    one = visit().open()
    one.says("Hm.")
    one.asked()
    one.button("Bad answer").click()
    one.page.get_by_label("What should be better?").fill("More detail")
    one.button("Send").click()
    expect(one.answer.get_by_text("Thank you")).to_be_visible()
    one.page.reload()
    expect(one.button("Bad answer")).to_have_attribute("aria-pressed", "true")
    written = one.site.sql("select comment from chats_feedback where comment <> ''")
    assert written == [("More detail",)]
    one.button("Bad answer").click()
    expect(one.button("Bad answer")).to_have_attribute("aria-pressed", "false")


def test_a_chat_is_found_renamed_exported_and_deleted(visit: Visits) -> None:
    one = visit().open()
    one.says("Yes.")
    one.asked("Is the aardvark indexed?")
    one.open("/").asked("What of the badger?")
    rows = one.page.locator(".chat-row")
    expect(rows).to_have_count(2)
    one.page.get_by_label("Search your chats").fill("aardvark")
    expect(rows).to_have_count(1)
    rows.first.hover()
    one.button("Rename Is the aardvark indexed?").click()
    one.page.get_by_label("New title").fill("Aardvarks")
    one.page.keyboard.press("Enter")
    expect(rows.first.get_by_role("link")).to_have_text("Aardvarks")
    rows.first.get_by_role("link").click()
    expect(one.page).to_have_title("Aardvarks · Fastrag Site")
    one.page.get_by_text("Export").click()
    with one.page.expect_download() as download:
        one.page.get_by_role("link", name="Markdown").click()
    assert download.value.suggested_filename == "aardvarks.md"
    rows.filter(has_text="Aardvarks").hover()
    one.button("Delete Aardvarks").click()
    one.button("Delete").click()
    expect(one.page).to_have_url(f"{one.site.url}/")
    expect(rows.get_by_role("link")).to_have_text(["What of the badger?"])


def test_deleting_asks_first(visit: Visits) -> None:
    one = visit().open()
    one.says("Yes.")
    one.asked("Keep me?")
    one.page.locator(".chat-row").hover()
    one.button("Delete Keep me?").click()
    one.button("Keep it").click()
    one.page.reload()
    expect(one.content).to_have_text("Yes.")


def test_two_tabs_agree_on_titles_and_answers(visit: Visits) -> None:
    one = visit().open()
    one.says("First.")
    one.asked("Is it the same here?")
    other = one.another_tab(one.page.url)
    row = other.locator(".chat-row")
    row.hover()
    other.get_by_role("button", name="Rename Is it the same here?").click()
    other.get_by_label("New title").fill("Agreed")
    other.keyboard.press("Enter")
    expect(one.page.locator(".chat-link")).to_have_text("Agreed")
    one.says("Second.")
    one.asked("And now?")
    expect(other.locator(".content")).to_have_text(["First.", "Second."])


def test_what_is_typed_before_the_scripts_have_come_is_kept(visit: Visits) -> None:
    one = visit()
    held: list[Route] = []
    one.page.route("**/page.js", lambda route: held.append(route))
    one.page.goto("/", wait_until="commit")
    one.question.fill("Early")
    expect(one.button("Ask")).to_be_disabled()
    expect(one.page.locator("#open-chats")).to_be_disabled()
    held[0].continue_()
    one.says("Late.")
    one.button("Ask").click()
    expect(one.content).to_have_text("Late.")
    expect(one.page.locator("[data-question]")).to_have_text("Early")
