"""Passages follow the sections of a document, and hold all of its text."""

from __future__ import annotations

import time

import pytest
from django.conf import LazySettings

from retrieval.ingest.base import BlockKind, Document
from retrieval.ingest.chunk import passages
from retrieval.ingest.words import count_words
from tests.retrieval.ingest.documents import block, page, read, words


@pytest.fixture(autouse=True)
def small_chunks(settings: LazySettings) -> None:
    settings.FASTRAG = {"CHUNK_TARGET_WORDS": 16, "CHUNK_MAX_WORDS": 20}


def paragraphs(*sizes: int) -> str:
    starts = [sum(sizes[:index]) for index in range(len(sizes))]
    return "".join(
        f"<p>{words(size, start=start)}</p>" for size, start in zip(sizes, starts, strict=True)
    )


def sizes(document: Document) -> list[int]:
    return [count_words(passage.text) for passage in passages(document)]


def test_a_short_section_is_one_passage_with_its_heading_path() -> None:
    document = page(f"<main><h1>A</h1><h2 id='b'>B</h2>{paragraphs(7, 7)}</main>")
    (passage,) = passages(document)
    assert passage.section == ("A", "B")
    assert passage.anchor == "b"
    assert passage.text == f"{words(7)}\n{words(7, start=7)}"


def test_a_long_section_becomes_passages_of_about_the_target() -> None:
    assert sizes(page(f"<main>{paragraphs(*[5] * 12)}</main>")) == [15, 15, 15, 15]


def test_no_passage_crosses_a_section_of_some_length() -> None:
    document = page(f"<main><h2>A</h2>{paragraphs(12)}<h2>B</h2>{paragraphs(12)}</main>")
    assert [passage.section for passage in passages(document)] == [("A",), ("B",)]


def test_small_neighbours_under_one_parent_share_a_passage_with_their_headings() -> None:
    document = page("<main><h1>T</h1><h2>A</h2><p>one two</p><h2>B</h2><p>three four</p></main>")
    (passage,) = passages(document)
    assert passage.section == ("T",)
    assert passage.text == "A\none two\nB\nthree four"


def test_an_introduction_shares_a_passage_with_a_small_first_section() -> None:
    document = page("<main><h1>T</h1><p>zero</p><h2>A</h2><p>one two</p></main>")
    (passage,) = passages(document)
    assert passage.section == ("T",)
    assert passage.text == "zero\nA\none two"


def test_small_sections_under_different_parents_stay_apart() -> None:
    document = page(
        "<main><h1>S</h1><h2>A</h2><p>one two</p><h1>T</h1><h2>B</h2><p>three four</p></main>"
    )
    assert [passage.section for passage in passages(document)] == [("S", "A"), ("T", "B")]


def test_a_heading_without_text_of_its_own_is_not_lost() -> None:
    document = page("<main><h1>T</h1><h2>Only a heading</h2><h2>A</h2><p>one</p></main>")
    (passage,) = passages(document)
    assert "Only a heading" in passage.text


def test_a_page_of_headings_has_passages() -> None:
    document = page("<main><h2>One</h2><h2>Two</h2></main>")
    (passage,) = passages(document)
    assert passage.text == "One\nTwo"


def test_what_comes_before_the_title_goes_under_it() -> None:
    document = page("<main><p>std::vec</p><h1>Vec</h1><p>A list.</p></main>")
    (passage,) = passages(document)
    assert passage.section == ("Vec",)


def test_code_stays_whole() -> None:
    code = "\n".join(f"line {n} of code" for n in range(4))
    document = page(f"<main>{paragraphs(8)}<pre>{code}</pre>{paragraphs(8)}</main>")
    assert code in [passage.text for passage in passages(document)]


@pytest.mark.parametrize(
    ("lead", "kind"),
    [
        ("The options are as follows:", BlockKind.PARAGRAPH),
        ("Note", BlockKind.PARAGRAPH),
        ("term", BlockKind.TERM),
    ],
)
def test_what_announces_the_next_block_stays_with_it(lead: str, kind: BlockKind) -> None:
    blocks = (block(words(13)), block(lead, kind=kind), block(words(13, start=50)))
    found = passages(Document(title=None, blocks=blocks))
    assert found[-1].text == f"{lead}\n{words(13, start=50)}"


def test_a_row_stays_in_one_passage() -> None:
    cells = BlockKind.TABLE_CELL
    rows = [block(words(6, start=6 * n), kind=cells, joined=n % 2 == 1, at=None) for n in range(8)]
    for passage in passages(Document(title=None, blocks=tuple(rows))):
        assert len(passage.blocks) % 2 == 0


def test_a_short_definition_stays_in_one_passage() -> None:
    terms = "".join(
        f"<dt id='t{n}'>term{n}</dt><dd>{paragraphs(6)}<p>New in version 3.</p></dd>"
        for n in range(3)
    )
    found = passages(page(f"<main><dl>{terms}</dl></main>"))
    assert [passage.text.split("\n")[0] for passage in found] == ["term0", "term1", "term2"]
    assert [passage.anchor for passage in found] == ["t0", "t1", "t2"]


def test_a_block_above_the_maximum_is_cut_and_its_pieces_know_their_place() -> None:
    document = page(f"<main><p>{words(50)}</p></main>")
    found = passages(document)
    assert max(sizes(document)) <= 20
    assert " ".join(passage.text for passage in found) == words(50)
    inks = [passage.blocks[0].ink for passage in found]
    assert inks == [
        sum(len("".join(passage.text.split())) for passage in found[:index])
        for index in range(len(found))
    ]


def test_pages_of_a_pdf_stay_apart() -> None:
    blocks = [block("a few words", section=(f"page {n}",)) for n in (1, 2)]
    found = passages(Document(title=None, blocks=tuple(blocks)))
    assert [passage.section for passage in found] == [("page 1",), ("page 2",)]


@pytest.mark.parametrize("body", ["", "<main></main>", "<nav>Menu</nav>", "<p>&nbsp;</p>"])
def test_a_page_without_text_has_no_passage(body: str) -> None:
    assert passages(page(body + "<!-- -->")) == []


def test_equal_documents_give_equal_passages() -> None:
    markup = f"<main><h1>A</h1>{paragraphs(3, 30, 5, 8)}<h2>B</h2>{paragraphs(9, 9, 9)}</main>"
    assert passages(read(markup)) == passages(read(markup))


def test_every_block_is_in_exactly_one_passage_in_order() -> None:
    document = page(
        f"<main><p>lead</p><h1>A</h1>{paragraphs(3, 30, 5, 8)}<ul><li>x<li>y</ul>"
        f"<h2>B</h2><h3>C</h3>{paragraphs(9, 9, 9)}<table><tr><td>1<td>2</table></main>"
    )
    text = "".join("".join(passage.text.split()) for passage in passages(document))
    body = "".join(
        "".join(block.text.split())
        for block in document.blocks
        if block.kind is not BlockKind.HEADING
    )
    assert text == body


@pytest.mark.parametrize("text", ["word " * 50_000, "x" * 500_000, "用户，" * 20_000])
def test_a_huge_block_is_cut_in_bounded_time(text: str) -> None:
    start = time.monotonic()
    found = passages(page(f"<main><p>{text}</p></main>"))
    assert time.monotonic() - start < 20  # generous: it takes about one second
    assert "".join(passage.text for passage in found).replace(" ", "") == text.replace(" ", "")


def test_the_cells_of_a_row_stand_in_one_line_of_the_text() -> None:
    html = "<main><p>Codes.<table><tr><th>Code<th>Meaning<tr><td>E12<td>too hot</table></main>"
    (passage,) = passages(page(html))
    assert passage.text == "Codes.\nCode\tMeaning\nE12\ttoo hot"
