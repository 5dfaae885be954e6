"""The whole way over indexed pages: search, sources, prompt, answer, storage."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.test import Client

from chats import answering
from chats.events import Delta, Event, Sources
from chats.handover import one_by_one
from chats.models import Message
from fastrag_site.owners import Owner
from fastrag_site.threads import in_thread
from tests.chats.corpus import BASE, index_pages

pytestmark = pytest.mark.django_db(transaction=True)
ANN = Owner(session_key="a-session")


@pytest.fixture
def pages(tmp_path: Path) -> None:
    index_pages(tmp_path)


async def ask(question: str, **where: object) -> tuple[list[Event], Sources, str]:
    begun = await in_thread(answering.begin, owner=ANN, question=question, **where)
    events = [event async for event in one_by_one(begun)]
    sources = next(event for event in events if isinstance(event, Sources))
    return events, sources, "".join(event.text for event in events if isinstance(event, Delta))


async def test_an_answer_quotes_the_page_that_holds_the_fact(pages: None) -> None:
    _, sources, text = await ask("How far does a small lamp send its light?")
    first = sources.sources[0]
    assert (first.url, first.title, first.positions) == (
        f"{BASE}lighthouses.html",
        "Lighthouses",
        (1,),
    )
    assert first.site_name is None and first.favicon_url is None and first.fragments
    assert "over thirty kilometres. [1]" in text
    stored = await Message.objects.aget(role="assistant")
    assert stored.content == text and stored.sources == sources.to_dict()["sources"]


async def test_a_page_is_one_source_whatever_of_it_was_found(pages: None) -> None:
    _, sources, _ = await ask("When are tides high, and what are spring tides?")
    urls = [source.url for source in sources.sources]
    assert urls[0] == f"{BASE}tides.html" and len(urls) == len(set(urls))
    assert sources.sources[0].site_name == "Sea"
    assert sources.sources[0].favicon_url == "https://docs.example/icon.png"


async def test_a_follow_up_finds_what_the_question_before_was_about(pages: None) -> None:
    events, _, _ = await ask("Who was Augustin Fresnel?")
    chat_id = events[0].chat_id  # type: ignore[union-attr]
    _, sources, _ = await ask("And what did he do?", chat_id=chat_id)
    assert sources.sources[0].url == f"{BASE}lighthouses.html"


async def test_it_answers_in_the_language_of_the_page(pages: None) -> None:
    _, sources, text = await ask("Wie oft wechseln sich Ebbe und Flut ab?")
    assert sources.sources[0].url == f"{BASE}gezeiten.html"
    assert "Ebbe und Flut wechseln sich zweimal am Tag ab. [1]" in text


@pytest.mark.parametrize(
    "question", ["What is the price of gold in Zurich?", "Was kostet ein Kilo Kartoffeln?"]
)
async def test_it_says_so_where_the_pages_do_not_hold_the_answer(
    pages: None, question: str
) -> None:
    _, _, text = await ask(question)
    assert "[" not in text
    assert text.startswith(("I could not find", "Darauf habe ich"))


def test_the_search_route_shows_hits_with_source_fragments_and_scores(
    pages: None, client: Client
) -> None:
    data = client.get("/api/search", {"q": "the moon and a lens of thin rings", "k": 2}).json()
    assert set(data) == {"query", "hits", "confidence", "latency_ms", "notes"}
    assert len(data["hits"]) == 2
    best = data["hits"][0]
    assert best["source"] == {
        "url": f"{BASE}lighthouses.html",
        "title": "Lighthouses",
        "site_name": None,
        "favicon_url": None,
    }
    assert best["fragments"][0]["start"] and best["section"] == ["Lighthouses"]
    assert "Fresnel" in best["text"] and best["score"] >= data["hits"][1]["score"]
    assert set(best["scores"]) == {"dense", "sparse", "rerank"}
    assert 0 <= best["confidence"] <= 1


@pytest.mark.parametrize("q", ["", "???", '"NOT *^', "C++", "a:b", "用户", "x" * 8_000])
def test_any_text_is_a_safe_search(pages: None, client: Client, q: str) -> None:
    assert client.get("/api/search", {"q": q}).status_code == 200


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("", "q"),
        ("q=a&k=0", "k"),
        ("q=a&k=x", "k"),
        ("q=a&k=101", "k"),
        ("q=a%00b", "q"),
        ("q=" + "x" * 8_001, "q"),
    ],
)
def test_a_search_that_cannot_be_is_refused_by_field(
    client: Client, query: str, field: str
) -> None:
    response = client.get(f"/api/search?{query}")
    assert response.status_code == 400
    assert list(response.json()["error"]["fields"]) == [field]
