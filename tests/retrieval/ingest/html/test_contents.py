"""A page's table of its own contents is no content; other lists of links are."""

from __future__ import annotations

from tests.retrieval.ingest.documents import page, texts

HEADINGS = "<h2>One</h2><p>First.</p><h2>Two</h2><p>Second.</p><h2>Three</h2><p>Third.</p>"


def links(*names: str) -> str:
    return "".join(f"<li><a href=#{name}>{name}</a></li>" for name in names)


def test_links_that_list_the_headings_below_are_no_content() -> None:
    document = page(f"<main><ul>{links('One', 'TWO', 'Three')}</ul>{HEADINGS}</main>")
    assert texts(document) == ["One", "First.", "Two", "Second.", "Three", "Third."]
    assert document.visible is not None
    assert document.visible[:3] == ("One", "TWO", "Three")


def test_links_to_other_things_are_content() -> None:
    document = page(f"<main><ul>{links('abs', 'all', 'any')}</ul>{HEADINGS}</main>")
    assert texts(document)[:3] == ["abs", "all", "any"]


def test_two_links_to_headings_are_content() -> None:
    document = page(f"<main><ul>{links('One', 'Two')}</ul>{HEADINGS}</main>")
    assert texts(document)[:2] == ["One", "Two"]


def test_links_back_to_headings_above_are_content() -> None:
    document = page(f"<main>{HEADINGS}<ul>{links('One', 'Two', 'Three')}</ul></main>")
    assert texts(document)[-3:] == ["One", "Two", "Three"]
