"""The page in Spanish: what the server renders, what the scripts say, what fails."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

pytest.importorskip("playwright.sync_api")
from playwright.sync_api import expect

from tests.browser.test_access import PHONE
from tests.browser.visits import Visit
from tests.upstream import error

Visits = Callable[..., Visit]


@pytest.fixture
def spanish(visit: Visits) -> Visit:
    return visit(locale="es-ES")


def ask(one: Visit, text: str = "How do I index a site?") -> None:
    one.page.get_by_label("Tu pregunta").fill(text)
    one.page.keyboard.press("Enter")


def test_what_happens_is_told_in_spanish(spanish: Visit) -> None:
    one = spanish.open()
    expect(one.page.locator("html")).to_have_attribute("lang", "es")
    with one.says_and_waits("Uno [1]") as go_on:
        ask(one)
        status = one.answer.locator("[data-status]")
        expect(status).to_have_text("Respondiendo…")
        expect(one.content.locator("a.chip")).to_have_attribute(
            "aria-label", re.compile("^Fuente 1:")
        )
        expect(one.button("Detener la respuesta")).to_be_visible()
        go_on.set()
    expect(one.page.get_by_role("status")).to_have_text("La respuesta está lista.")
    expect(one.content.locator("a.chip")).to_have_attribute("aria-label", re.compile("^Fuente 1:"))
    one.button("Mala respuesta").click()
    expect(one.page.get_by_label("¿Qué debería mejorar?")).to_be_focused()


def test_how_many_pages_are_read_is_told_in_spanish(spanish: Visit) -> None:
    one = spanish.open()
    with one.says_and_waits():
        ask(one)
        reading = re.compile(r"Leyendo (1 página|\d+ páginas)…")
        expect(one.answer.locator("[data-status]")).to_have_text(reading)


def test_failures_and_refusals_are_told_in_spanish(spanish: Visit) -> None:
    one = spanish.open()
    one.plays(*error(503))
    ask(one)
    expect(one.answer).to_contain_text("La respuesta ha fallado: El modelo no está disponible;")
    expect(one.button("Reintentar")).to_be_visible()
    with one.says_and_waits("Espera"):
        ask(one)
        expect(one.content).to_have_text("Espera")
        other = one.another_tab("/")
        other.get_by_label("Tu pregunta").fill("Elsewhere?")
        other.keyboard.press("Enter")
        notice = other.get_by_role("alert")
        expect(notice).to_contain_text(
            "Se están escribiendo demasiadas respuestas para ti a la vez. Tu pregunta se conserva."
        )
        expect(notice.get_by_role("button", name="Reintentar en")).to_be_disabled()


def test_the_language_is_chosen_in_the_list_of_chats_and_stays_chosen(visit: Visits) -> None:
    one = visit(locale="en-GB").open()
    one.page.get_by_role("link", name="Español").click()
    expect(one.page.get_by_label("Tu pregunta")).to_be_visible()
    expect(one.page).to_have_url(f"{one.site.url}/")
    one.page.reload()
    expect(one.page.locator("html")).to_have_attribute("lang", "es")
    one.page.get_by_role("link", name="English").click()
    expect(one.page.get_by_label("Your question")).to_be_visible()


def test_without_the_catalog_the_page_still_works_in_english(visit: Visits) -> None:
    one = visit()
    one.page.route("**/catalog.js*", lambda route: route.abort())
    one.open()
    one.says("Yes.")
    one.asked()
    expect(one.page.get_by_role("status")).to_have_text("The answer is ready.")


def test_on_a_phone_the_name_of_the_site_is_whole_in_spanish(visit: Visits) -> None:
    one = visit(locale="es-ES", **PHONE).open()
    ask(one)
    expect(one.page.locator("#exports")).to_be_visible()
    cut_off = "element => element.scrollWidth > element.clientWidth"
    assert not one.page.locator(".brand span").evaluate(cut_off)
