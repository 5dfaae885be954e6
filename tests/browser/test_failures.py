"""When something fails, the page says so in words, offers to try again, and loses nothing typed."""

from __future__ import annotations

from collections.abc import Callable

import pytest

pytest.importorskip("playwright.sync_api")
from playwright.sync_api import Route, expect

from tests.browser.visits import Visit
from tests.browser.wire import Wire
from tests.upstream import HEAD, RESET, error, token

Visits = Callable[..., Visit]


def test_a_failed_answer_says_so_and_is_tried_again(visit: Visits) -> None:
    one = visit().open()
    one.plays(*error(503))
    one.asked()
    expect(one.answer).to_contain_text("The answer failed:")
    one.says("Now it works.")
    one.button("Try again").click()
    expect(one.content).to_have_text("Now it works.")


def test_an_answer_that_breaks_off_keeps_what_was_said(visit: Visits) -> None:
    one = visit().open()
    one.plays(HEAD, token("Half of"), RESET)
    one.asked()
    expect(one.content).to_have_text("Half of")
    expect(one.answer).to_contain_text("The answer failed:")


def test_an_answer_that_is_tried_again_is_seen_although_the_thread_was_shown_anew_meanwhile(
    visit: Visits,
) -> None:
    one = visit(service_workers="block").open()
    one.says("Old.")
    one.asked()
    again = "**/regenerate"
    one.page.route(again, lambda route: refuse(route, 429, "RATE_LIMITED"))
    one.button("Answer again").click()
    expect(one.notice).to_be_visible()
    one.page.unroute(again)
    # As a tab does that follows what is asked elsewhere.
    one.page.evaluate(
        "document.querySelector('article').replaceWith("
        "document.querySelector('article').cloneNode(true))"
    )
    with one.says_and_waits("New"):
        one.button("Try again").click()
        expect(one.content).to_have_text("New")
    expect(one.content).to_have_text("New Done.")
    expect(one.page.locator(".exchange")).to_have_count(1)


def refuse(route: Route, status: int, code: str) -> None:
    route.fulfill(status=status, json={"error": {"code": code, "message": "Not now."}})


def test_a_question_asked_offline_is_kept_and_asked_later(visit: Visits) -> None:
    one = visit().open()
    one.says("Here.")
    one.context.set_offline(True)
    one.ask()
    expect(one.notice).to_contain_text("cannot be reached. Your question is kept.")
    expect(one.question).to_have_value("How do I index a site?")
    one.context.set_offline(False)
    one.button("Try again").click()
    expect(one.content).to_have_text("Here.")
    expect(one.question).to_have_value("")
    expect(one.page.locator(".exchange")).to_have_count(1)


def test_a_question_whose_acceptance_was_lost_is_answered_once(visit: Visits) -> None:
    one = visit(service_workers="block").open()  # routes do not see what a service worker asks
    one.says("Once.")
    api = "**/api/chats"

    def lose(route: object) -> None:
        route.fetch()  # type: ignore[attr-defined]  # the server hears it, the page does not
        route.abort()  # type: ignore[attr-defined]

    one.page.route(api, lambda route: lose(route) if route.request.method == "POST" else None)
    one.ask()
    expect(one.notice).to_contain_text("cannot be reached")
    one.page.unroute(api)
    one.button("Try again").click()
    expect(one.content).to_have_text("Once.")
    assert len(one.model.requests) == 1
    expect(one.page.locator(".chat-row")).to_have_count(1)


def test_too_many_answers_at_once_show_how_long_to_wait(visit: Visits) -> None:
    one = visit().open()
    one.page.clock.install()
    one.says("Warm.")
    one.asked()
    with one.says_and_waits("Busy"):
        one.ask("And now?")
        expect(one.content).to_have_text("Busy")
        other = one.another_tab("/")
        other.clock.install()
        other.get_by_label("Your question").fill("Elsewhere?")
        other.keyboard.press("Enter")
        notice = other.get_by_role("alert")
        expect(notice).to_contain_text("Too many answers are being written for you at once.")
        waiting = notice.get_by_role("button", name="Try again in")
        expect(waiting).to_be_disabled()
        expect(other.get_by_label("Your question")).to_have_value("Elsewhere?")
    expect(one.content).to_have_text("Busy Done.")
    one.says("Here as well.")
    other.clock.fast_forward(6000)
    notice.get_by_role("button", name="Try again", exact=True).click()
    expect(other.locator(".content")).to_have_text("Here as well.")


def test_a_chat_that_is_busy_in_another_tab_shows_that_answer_and_keeps_the_question(
    visit: Visits,
) -> None:
    one = visit().open()
    one.says("First.")
    one.asked()
    other = one.another_tab(one.page.url)
    with one.says_and_waits("Slow"):
        one.ask("Second?")
        expect(one.content).to_have_text("Slow")
        other.get_by_label("Your question").fill("Third?")
        other.keyboard.press("Enter")
        expect(other.get_by_role("alert")).to_contain_text("An answer is still being written")
        expect(other.get_by_label("Your question")).to_have_value("Third?")
        expect(other.locator(".content").last).to_have_text("Slow")
    expect(other.locator(".content").last).to_have_text("Slow Done.")
    expect(other.get_by_role("alert")).to_be_hidden()
    expect(other.get_by_label("Your question")).to_have_value("Third?")


def test_without_service_workers_a_reload_in_mid_answer_shows_what_was_said_and_offers_more(
    visit: Visits,
) -> None:
    one = visit(service_workers="block").open()
    with one.says_and_waits("Half an", " answer"):
        one.ask()
        expect(one.content).to_have_text("Half an answer")
        one.page.reload()
        expect(one.answer).to_contain_text("The answer was interrupted.")
        expect(one.content).to_have_text("Half an answer")
        expect(one.page.locator("[data-question]")).to_have_text("How do I index a site?")
    one.says("A whole answer.")
    one.button("Try again").click()
    expect(one.content).to_have_text("A whole answer.")


def test_a_second_tab_follows_an_answer_and_can_stop_it(visit: Visits) -> None:
    one = visit().open()
    one.says("First.")
    one.asked()
    with one.says_and_waits("Going on"):
        one.ask("More?")
        expect(one.content).to_have_text("Going on")
        other = one.another_tab(one.page.url)
        expect(other.locator("article").last).to_contain_text("This answer is being written…")
        other.get_by_role("button", name="Stop the answer").click()
        expect(one.answer).to_contain_text("The answer was interrupted.")
        expect(other.locator("article").last).to_contain_text("The answer was interrupted.")


@pytest.mark.parametrize("status", [429, 502, 503])
def test_a_tab_that_follows_an_answer_goes_on_after_a_refusal(visit: Visits, status: int) -> None:
    one = visit().open()
    one.page.wait_for_function("() => navigator.serviceWorker.controller !== null")
    one.says("First.")
    one.asked()
    with one.says_and_waits("Going on") as go_on:
        one.ask("More?")
        expect(one.content).to_have_text("Going on")
        other = one.another_tab(one.page.url)
        expect(other.locator(".content").last).to_have_text("Going on")
        refusals: list[Route] = []

        def once(route: Route) -> None:
            if refusals:
                route.fallback()
                return
            refusals.append(route)
            if status == 502:
                route.fulfill(status=502, body="<html>Bad gateway</html>")
            else:
                refuse(route, status, "RATE_LIMITED")

        other.route("**/thread?*", once)
        with other.expect_response(lambda response: response.status == status):
            pass
        one.open("/docs/")  # so that nobody but the server tells that it has ended
        go_on.set()
        expect(other.locator(".content").last).to_have_text("Going on Done.")
    assert refusals
    expect(other.get_by_role("button", name="Ask", exact=True)).to_be_visible()


def test_a_stream_that_broke_and_is_not_found_again_at_once_is_said(
    visit: Visits, wire: Wire
) -> None:
    one = visit(service_workers="block").open(wire.url)
    one.page.route("**/thread?*", lambda route: refuse(route, 503, "SERVICE_UNAVAILABLE"))
    with one.says_and_waits("Before the end"):
        one.ask()
        expect(one.content).to_have_text("Before the end")
        wire.cut()
        wire.mend()
        expect(one.notice).to_contain_text("The connection was lost.")
        one.page.unroute("**/thread?*")
        one.button("Try again").click()
        expect(one.answer).to_contain_text("The answer was interrupted.")
    expect(one.content).to_have_text("Before the end")


def test_a_chat_that_another_chats_tab_deletes_is_said_to_be_gone(visit: Visits) -> None:
    one = visit().open()
    one.says("Mine.")
    one.asked("Who deletes me?")
    other = one.another_tab("/")
    other.locator(".chat-row").hover()
    other.get_by_role("button", name="Delete Who deletes me?").click()
    other.get_by_role("button", name="Delete", exact=True).click()
    expect(one.notice).to_contain_text("This chat is not there any more.")
    expect(one.content).to_have_text("Mine.")
    expect(one.page.locator(".chat-row")).to_have_count(0)


def test_a_chat_that_is_deleted_in_mid_answer_is_said_to_be_gone_in_each_tab(
    visit: Visits,
) -> None:
    one = visit().open()
    with one.says_and_waits("Half"):
        one.ask()
        expect(one.content).to_have_text("Half")
        other = one.another_tab(one.page.url)
        expect(other.locator("article")).to_contain_text("This answer is being written…")
        expect(other.locator(".content")).to_have_text("Half")
        chat = one.page.url.rpartition("/")[2]
        assert one.context.request.delete(f"/api/chats/{chat}").status == 204
        for page in (one.page, other):
            notice = page.get_by_role("alert")
            expect(notice.locator("p")).to_have_text("This chat is not there any more.")
            expect(page.get_by_role("button", name="Ask", exact=True)).to_be_visible()
            expect(page.get_by_text("This answer is being written…")).to_be_hidden()
            expect(page.locator(".content")).to_have_text("Half")


def test_a_connection_lost_in_mid_answer_is_said_and_what_was_said_is_found_again(
    visit: Visits, wire: Wire
) -> None:
    one = visit().open(wire.url)
    with one.says_and_waits("Before the end"):
        one.ask()
        expect(one.content).to_have_text("Before the end")
        wire.cut()
        expect(one.notice).to_contain_text("The connection was lost.")
        expect(one.content).to_have_text("Before the end")
        wire.mend()
        one.button("Try again").click()
        expect(one.answer).to_contain_text("The answer was interrupted.")
    expect(one.content).to_have_text("Before the end")
    expect(one.page.locator(".exchange")).to_have_count(1)


def test_what_could_not_be_laid_out_offline_is_said_until_it_is_shown(visit: Visits) -> None:
    one = visit().open()
    with one.says_and_waits("**Before**") as go_on:
        one.ask()
        expect(one.content).to_have_text("**Before**")
        one.context.set_offline(True)
        go_on.set()
        expect(one.notice).to_contain_text("The answer could not be laid out.")
    one.context.set_offline(False)
    expect(one.content.locator("strong")).to_have_text("Before")
    expect(one.notice).to_be_hidden()


def test_an_answer_stopped_by_a_server_that_has_gone_is_said_to_be_interrupted(
    visit: Visits,
) -> None:
    one = visit().open()
    one.page.route("**/answers/*", lambda route: route.abort())
    with one.says_and_waits("Half"):
        one.ask()
        expect(one.content).to_have_text("Half")
        one.button("Stop the answer").click()
        expect(one.notice).to_contain_text("The answer was interrupted.")


@pytest.mark.parametrize("path", ["/chats/nonsense", "/chats/01a00000-0000-7000-8000-000000000000"])
def test_a_chat_that_is_not_there_is_said_to_be_missing(visit: Visits, path: str) -> None:
    one = visit()
    response = one.page.goto(path)
    assert response is not None and response.status == 404
    expect(one.page.get_by_text("There is no such chat.")).to_be_visible()
    expect(one.page.get_by_role("link", name="Go to the start page")).to_be_visible()


def test_another_visitor_does_not_see_the_chat(visit: Visits) -> None:
    one, other = visit().open(), visit()
    one.says("Mine.")
    one.asked()
    response = other.page.goto(one.page.url)
    assert response is not None and response.status == 404
