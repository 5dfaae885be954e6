from __future__ import annotations

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from retrieval.index import sparse_index
from tests.factories import ChunkFactory, PageFactory

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def indexed() -> None:
    page = PageFactory.create(title="Guide", url="https://docs.example/guide")
    texts = ("How to brew coffee slowly", "How to brew tea", "用户身份验证" * 80)
    chunks = [
        ChunkFactory.create(page=page, text=text, section=["Kitchen"], anchor="kitchen")
        for text in texts
    ]
    sparse_index().add(chunks, languages=["en", "en", "zh"])


def run(*arguments: str) -> str:
    out = StringIO()
    call_command("search", *arguments, stdout=out, stderr=StringIO())
    return out.getvalue()


def test_hits_are_shown_with_page_address_and_scores() -> None:
    out = run("brew", "coffee")
    assert "1. Guide › Kitchen" in out
    assert "https://docs.example/guide#kitchen" in out
    assert "How to brew coffee slowly" in out
    assert "confidence" in out
    assert out.index("coffee") < out.index("tea")


def test_k_bounds_the_hits() -> None:
    assert "tea" not in run("brew coffee", "-k", "1")


def test_text_without_spaces_is_shown_too() -> None:
    assert "用户身份验证用户" in run("身份")


def test_json_is_the_whole_result() -> None:
    found = json.loads(run("brew coffee", "--json"))
    assert found["hits"][0]["text"] == "How to brew coffee slowly"
    assert set(found) >= {"hits", "confidence", "candidates", "latency_ms", "notes"}


def test_nothing_is_found_for_nothing() -> None:
    assert "0 of 0 candidates" in run("zebra crossing")


@pytest.mark.parametrize("k", ["0", "-1", "100000"])
def test_an_impossible_k_is_refused(k: str) -> None:
    with pytest.raises(CommandError, match="between 1 and"):
        run("brew", "-k", k)
