"""On any page: what is visible is what was put there, and every fragment lands on its passage.

The pages are written of few words, so that almost everything stands in several places. The matcher
is written anew from the specification, over the blocks that the page was made of.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from itertools import chain

import pytest
from django.conf import settings as django_settings
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fastrag_site.conf import conf
from retrieval.ingest.base import Passage
from retrieval.ingest.chunk import passages
from tests.retrieval.ingest.documents import page

VOCABULARY = ["the", "The", "cat", "cats", "catalog", "sat", "don't", "x-ray", "C++", "café", "a,b",
              "(mat)", "用户", "认证。", "soft\u00adhyphen", "“so”", "os.path", "3.11"]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Piece:
    """One rendered block and the markup that renders it."""

    text: str
    markup: str


def ink(text: str) -> int:
    return len("".join(text.split()))


@st.composite
def sentence(draw: st.DrawFn, *, least: int = 1, most: int = 14) -> tuple[str, str]:
    """Rendered text and its markup, with white space and inline elements put in."""
    chosen = draw(st.lists(st.sampled_from(VOCABULARY), min_size=least, max_size=most))
    markup = []
    for word in chosen:
        tag = draw(st.sampled_from(["", "", "", "b", "code", "a href='/x'"]))
        split = draw(st.integers(0, len(word)))
        inner = escape(word[split:])
        wrapped = f"<{tag}>{inner}</{tag.split()[0]}>" if tag else inner
        markup.append(escape(word[:split]) + wrapped)
    # Between Chinese characters a line break is no space, see the walker's tests.
    spaces = [" ", "  \t"] if set("用户认证") & set("".join(chosen)) else [" ", "  \t", "\n"]
    space = draw(st.sampled_from(spaces))
    return " ".join(chosen), space.join(markup)


@st.composite
def piece(draw: st.DrawFn) -> list[Piece]:
    kind = draw(st.sampled_from(["p", "h2", "h3", "li", "row", "pre", "nav", "br", "hidden"]))
    text, markup = draw(sentence(most=40 if kind == "p" else 8))
    if kind == "row":
        other, more = draw(sentence(most=4))
        row = f"<table><tr><td>{markup}</td>"
        return [Piece(text, row), Piece(other, f"<td>{more}</td></tr></table>")]
    if kind == "pre":
        lines = "\n".join(text.split(" "))
        return [Piece(lines, f"<pre>{escape(lines)}</pre>")]
    if kind == "br":
        return [Piece(f"{text}\n{text}", f"<p>{markup}<br>{markup}</p>")]
    if kind == "hidden":
        return [Piece(text, f"<div hidden>{markup}</div><p>{markup}<script>x</script></p>")]
    shell = {"li": "<ul><li>{}</li></ul>", "nav": "<nav><p>{}</p></nav>"}
    return [Piece(text, shell.get(kind, f"<{kind}>{{}}</{kind}>").format(markup))]


pages = st.lists(piece(), min_size=1, max_size=14).map(
    lambda groups: list(chain.from_iterable(groups))
)


@dataclass(frozen=True, slots=True, order=True)
class Place:
    block: int
    offset: int


def find(blocks: list[str], term: str, since: Place) -> tuple[Place, Place] | None:
    """The first match of a term: in one block, at word boundaries, without regard to case."""
    before = r"(?<![^\W_])" if term[0].isalnum() and term[0].isascii() else ""
    after = r"(?![^\W_])" if term[-1].isalnum() and term[-1].isascii() else ""
    pattern = re.compile(before + re.escape(term) + after, re.IGNORECASE)
    for index in range(since.block, len(blocks)):
        start = since.offset if index == since.block else 0
        if match := pattern.search(blocks[index], start):
            return Place(index, match.start()), Place(index, match.end())
    return None


def is_within(passage: Passage, blocks: list[str], place: Place) -> bool:
    at = ink(blocks[place.block][: place.offset])
    return any(
        block.visible_at == place.block and block.ink <= at <= block.ink + ink(block.text)
        for block in passage.blocks
    )


@pytest.fixture(autouse=True, scope="module")
def small_chunks() -> Iterator[None]:
    sizes = {"CHUNK_TARGET_WORDS": 12, "CHUNK_MAX_WORDS": 16}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(django_settings, "FASTRAG", sizes)
        conf.cache_clear()
        yield
    conf.cache_clear()


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(pages)
def test_every_fragment_lands_on_its_passage_and_on_no_earlier_place(pieces: list[Piece]) -> None:
    blocks = [one.text for one in pieces]
    document = page(f"<main>{''.join(one.markup for one in pieces)}</main>")
    assert document.visible == tuple(blocks)
    for passage in passages(document):
        fragment = passage.fragment
        if fragment is None:
            continue
        for term in filter(None, (fragment.start, fragment.end)):
            assert term == " ".join(term.split())
            assert term == term.strip("\u00ad")
        found = find(blocks, fragment.start, Place(0, 0))
        assert found is not None
        assert is_within(passage, blocks, found[0])
        assert is_within(passage, blocks, found[1])
        if fragment.end is not None:
            end = find(blocks, fragment.end, found[1])
            assert end is not None
            assert is_within(passage, blocks, end[0])
            assert is_within(passage, blocks, end[1])


def test_the_matcher_knows_its_trade() -> None:
    blocks = ["The catalog", "a cat sat", "The CAT"]
    assert find(blocks, "cat", Place(0, 0)) == (Place(1, 2), Place(1, 5))
    assert find(blocks, "cat", Place(1, 5)) == (Place(2, 4), Place(2, 7))
    assert find(blocks, "dog", Place(0, 0)) is None
