"""What can be quoted: sentences, not headings and not code by itself."""

from __future__ import annotations

import pytest

from chats.generation.candidates import Kind, candidates_from, kind_of
from tests.chats.generation.samples import passage


@pytest.mark.parametrize(
    "line",
    [
        "Return a datetime corresponding to date_string, parsed according to format.",
        "Most calls will use the description= keyword argument to say what the program does.",
        "For reading lines from a file, you can loop over the file object:",
        "print the help message and exit with the status that was given",
        "用户身份验证是通过令牌完成的。",
        "هذا النص يشرح كيفية الفهرسة.",
        "ภาษาไพทอนเป็นภาษาโปรแกรมที่อ่านง่ายและเรียนรู้ได้",
        "C++ has no garbage collector.",
    ],
)
def test_prose_is_told_from_code(line: str) -> None:
    assert kind_of(line) is Kind.PROSE


@pytest.mark.parametrize(
    "line",
    [
        ">>> datetime.now()",
        "$ python3 -m venv /path/to/new/virtual/environment",
        "import os, sys",
        "from pathlib import Path",
        "def add(self, x):",
        "for line in f:",
        "    print(line, end='')",
        "x = compute(1, 2, 3)",
        "self.data[0] += 1",
        "return x",
        "}",
        "@property",
        "# A comment in a program that is long enough to be one.",
        "// Another comment in a program that goes on for long.",
        "--depth N",
        "python3 -m venv tutorial-env",
        "git log --oneline main",
        "stmt_list   ::=  simple_stmt (';' simple_stmt)*",
        "<div class='x'>",
        "classmethod datetime.strptime(date_string, format)",
        "asyncio.gather",
        "Data Structures",
        "See also",
        "1.2.3",
        "",
    ],
)
def test_code_names_and_headings_are_not_quoted(line: str) -> None:
    assert kind_of(line) is not Kind.PROSE


def test_a_heading_is_never_a_sentence_even_if_it_reads_like_one() -> None:
    heading = "How do I convert a string to a number in this language?"
    found = candidates_from(
        [passage(f"{heading}\nUse int() for that purpose.", section=(heading,))]
    )
    assert [one.text for one in found] == ["Use int() for that purpose."]


def test_a_sentence_knows_where_it_stands_and_what_it_defines() -> None:
    text = (
        "str.strip([chars])\n"
        "Return a copy with the ends removed. The chars argument says which.\n"
        "os.getcwd()\n"
        "Return a string with the current folder."
    )
    found = candidates_from([passage(text, number=3)])
    assert [(one.term, one.block, one.position, one.number) for one in found] == [
        ("str.strip([chars])", 1, 0, 3),
        ("str.strip([chars])", 1, 1, 3),
        ("os.getcwd()", 3, 0, 3),
    ]


def test_a_glossary_term_is_what_the_lines_after_it_define() -> None:
    text = (
        "generator\nA function that returns an iterator. It uses yield.\nGIL\nSee the lock below."
    )
    assert [one.term for one in candidates_from([passage(text)])] == ["generator"] * 2 + ["GIL"]


def test_the_last_heading_names_what_is_defined_where_it_is_a_signature() -> None:
    section = ("Functions", "math.sqrt(x)")
    (found,) = candidates_from([passage("Return the square root of x.", section=section)])
    assert found.term == "math.sqrt(x)"


def test_a_sentence_brings_the_code_that_it_announces() -> None:
    text = "You can loop over the file:\nfor line in f:\n    print(line)\nIt is fast and simple."
    first, second = candidates_from([passage(text)])
    assert first.code == "for line in f:\n    print(line)"
    assert second.code == ""


def test_announced_code_is_cut_to_a_few_lines() -> None:
    code = "\n".join(f"x{n} = {n}" for n in range(50))
    (found,) = candidates_from([passage(f"Assign many names like this:\n{code}")])
    assert len(found.code.splitlines()) == 12


def test_a_sentence_that_stands_in_two_passages_is_listed_once() -> None:
    text = "The same sentence stands here."
    found = candidates_from([passage(text), passage(text, number=2)])
    assert [one.number for one in found] == [1]


ROWS = ("Code\tMeaning\tWhat to do", "E01\ttank is empty\tfill the tank", "E12\tpump\twait")
TABLE = "\n".join(("These codes exist.", *ROWS))


def test_a_row_of_a_table_is_quoted_whole() -> None:
    texts = [one.text for one in candidates_from([passage(TABLE)])]
    assert texts[1:] == ["E01 – tank is empty – fill the tank", "E12 – pump – wait"]


def test_a_passage_that_begins_in_the_middle_of_a_table_has_no_row_of_names() -> None:
    (first, _) = candidates_from([passage("E01\ttank is empty\nE12\tpump is too hot")])
    assert first.text == "E01 – tank is empty"


def test_cells_that_hold_paragraphs_are_read_as_such() -> None:
    long = "The warranty lasts for two years. " * 12
    texts = [one.text for one in candidates_from([passage(f"Warranty\t{long}")])]
    assert "The warranty lasts for two years." in texts
