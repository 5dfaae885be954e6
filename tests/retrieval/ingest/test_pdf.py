"""PDFs: read by a child process within its time, or skipped with a reason."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from django.conf import LazySettings

from retrieval.ingest import pdf as pdf_module
from retrieval.ingest.base import BlockKind, Document
from retrieval.ingest.chunk import passages
from tests.retrieval.ingest.documents import read, refused, texts
from tests.retrieval.ingest.pdf_files import pdf, scanned_pdf

PDF = "application/pdf"
LINES = [
    "The first paragraph of this document is set in lines of about the same",
    "length, and the last of them is short.",
    "The second paragraph begins below, and its last line is not full either,",
    "as usual.",
]


def read_pdf(body: bytes) -> Document:
    return read(body, media_type=PDF)


def put_child(monkeypatch: pytest.MonkeyPatch, folder: Path, code: str) -> None:
    child = folder / "child.py"
    child.write_text(code)
    monkeypatch.setattr(pdf_module, "CHILD", child)


def test_lines_become_paragraphs_with_their_page_as_section() -> None:
    document = read_pdf(pdf(LINES, ["More on the next page."]))
    assert [(block.section, block.text) for block in document.blocks] == [
        (("page 1",), " ".join(LINES[:2])),
        (("page 1",), " ".join(LINES[2:])),
        (("page 2",), "More on the next page."),
    ]


def test_the_title_is_the_metadatas_else_none() -> None:
    assert read_pdf(pdf(LINES, title="  Über  Größen ")).title == "Über Größen"
    assert read_pdf(pdf(LINES)).title is None


def test_there_are_no_fragments_in_what_a_browser_cannot_search() -> None:
    document = read_pdf(pdf(LINES))
    assert document.visible is None
    assert [passage.fragment for passage in passages(document)] == [None]


def test_headings_come_from_the_outline() -> None:
    document = read_pdf(
        pdf(
            ["1.2 Setting up", *LINES[:2]],
            ["Going on", *LINES[2:]],
            outline=[("Setting up", 0), ("Going on", 1)],
        )
    )
    headings = [block for block in document.blocks if block.kind is BlockKind.HEADING]
    assert [block.text for block in headings] == ["1.2 Setting up", "Going on"]
    assert document.blocks[1].section == ("Setting up", "page 1")
    assert document.blocks[-1].section == ("Going on", "page 2")


def test_words_broken_at_a_line_end_are_whole_again() -> None:
    document = read_pdf(
        pdf(
            [
                "A long line that ends with a word which the typesetter had to hyphen-",
                "ate, and another line that ends with a compound such as well-",
                "known, which the text also spells well-known elsewhere in its lines.",
            ]
        )
    )
    (text,) = texts(document)
    assert "hyphenate" in text
    assert text.count("well-known") == 2


def test_running_heads_and_page_numbers_are_left_out() -> None:
    pages = [["The Manual", f"Page {n} says something of its own here.", str(n)] for n in (1, 2, 3)]
    assert texts(read_pdf(pdf(*pages))) == [
        f"Page {n} says something of its own here." for n in (1, 2, 3)
    ]


def test_lists_are_apart() -> None:
    lines = ["There are several options:", "• the first one", "• the second one"]
    kinds = [block.kind for block in read_pdf(pdf(lines)).blocks]
    assert kinds == [BlockKind.PARAGRAPH, BlockKind.LIST_ITEM, BlockKind.LIST_ITEM]


def test_a_pdf_that_needs_a_password_is_skipped_with_the_reason() -> None:
    body = pdf(LINES, title="Secret", user_password="secret", owner_password="owner")
    assert refused(body, media_type=PDF) == "PDF needs a password"


def test_a_pdf_with_print_restrictions_alone_is_read() -> None:
    document = read_pdf(pdf(LINES, title="Open", owner_password="owner"))
    assert document.title == "Open"
    assert texts(document)[0] == " ".join(LINES[:2])


@pytest.mark.parametrize("body", [scanned_pdf(), pdf([]), pdf([" "], [""])])
def test_a_pdf_of_images_alone_is_skipped_with_the_reason(body: bytes) -> None:
    assert refused(body, media_type=PDF) == "PDF holds no text, only images"


@pytest.mark.parametrize("body", [b"%PDF-1.7\nbroken", b"no pdf", pdf(LINES)[:200]])
def test_a_broken_pdf_is_skipped_with_the_reason(body: bytes) -> None:
    assert refused(body, media_type=PDF) == "PDF cannot be read"


def test_pages_beyond_the_cap_are_not_read(settings: LazySettings) -> None:
    settings.FASTRAG = {"PDF_MAX_PAGES": 2}
    document = read_pdf(pdf(["One."], ["Two."], ["Three."]))
    assert texts(document) == ["One.", "Two."]


def test_a_reader_that_takes_too_long_is_killed(
    settings: LazySettings, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    settings.FASTRAG = {"PDF_SECONDS": 1.0}
    mark = tmp_path / "pid"
    code = f"import os, time; open({str(mark)!r}, 'w').write(str(os.getpid())); time.sleep(60)"
    put_child(monkeypatch, tmp_path, code)
    assert refused(pdf(LINES), media_type=PDF) == "PDF took too long to read"
    with pytest.raises(ProcessLookupError):
        os.kill(int(mark.read_text()), 0)


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("import os; os.abort()", "PDF cannot be read"),
        ("print('no json')", "PDF cannot be read"),
        ("print('[]')", "PDF cannot be read"),
        ("""print('{"error": "memory"}')""", "PDF needs too much memory to read"),
    ],
)
def test_a_reader_that_dies_or_gives_up_is_no_error_of_ours(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, code: str, reason: str
) -> None:
    put_child(monkeypatch, tmp_path, code)
    assert refused(pdf(LINES), media_type=PDF) == reason


def test_nul_in_metadata_and_text_is_removed() -> None:
    document = read_pdf(pdf(["before\x00after"], title="a\x00b"))
    assert "\x00" not in f"{document.title}{texts(document)}"
