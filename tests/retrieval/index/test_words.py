from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.index.words import MAX_FORM, forms


def texts(text: str, *, query: bool = False) -> list[str]:
    return [form.text for form in forms(text, query=query)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("multi-agent", {"multi", "agent", "multiagent"}),
        ("don't", {"dont"}),
        ("don’t", {"dont"}),
        ("O'Reilly", {"oreilly", "reilly"}),
        ("38.101", {"38", "101", "38.101"}),
        ("38.101-1", {"38.101", "38.101-1", "38", "101", "1"}),
        ("3.11.7", {"3.11.7", "3", "11", "7"}),
        ("C++", {"c++"}),
        ("C#", {"c#"}),
        ("C++17", {"c++", "17"}),
        ("notepad++", {"notepad++", "notepad"}),
        ("utf-8", {"utf", "8", "utf8"}),
        ("U.S.A.", {"usa"}),
        ("l'homme", {"lhomme", "homme"}),
        ("asyncio.gather", {"asyncio", "gather", "asyncio.gather"}),
        ("max_length", {"max", "length", "maxlength"}),
        ("getElementById", {"getelementbyid", "get", "element", "by", "id"}),
        ("HTTPServer", {"httpserver", "http", "server"}),
        ("APIs", {"apis"}),
        ("python3", {"python3", "python", "3"}),
        ("__init__", {"init"}),
        ("ＦＵＬＬ ｗｉｄｔｈ", {"full", "width"}),
        ("straße", {"strasse"}),
        ("soft\u00adhyphen", {"softhyphen"}),
    ],
)
def test_a_word_is_found_whole_and_by_its_parts(text: str, expected: set[str]) -> None:
    assert set(texts(text)) == expected


@pytest.mark.parametrize("text", ['"', "*", "^", "(", "\0", "", "  ", "🎉", "\ud800", "...", "--"])
def test_what_is_no_word_has_no_forms(text: str) -> None:
    assert texts(text) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("用户身份", ["用户", "户身", "身份"]),
        ("テスト", ["テス", "スト"]),
        ("한국어", ["한국", "국어"]),
        ("ทดสอบ", ["ทด", "ดส", "สอ", "อบ"]),
        ("库", ["库"]),
    ],
)
def test_scripts_without_spaces_are_pairs_of_characters(text: str, expected: list[str]) -> None:
    assert texts(text, query=True) == expected


def test_a_document_also_keeps_single_ideographs_for_short_queries() -> None:
    assert {"用", "户"} <= set(texts("用户"))
    assert "ท" not in texts("ทดสอบ")


def test_vowel_signs_stay_in_their_word() -> None:
    assert texts("हिन्दी में") == ["हिन्दी", "में"]


def test_parts_do_not_count_for_length() -> None:
    counted = [form.text for form in forms("multi-agent getName 38.101") if form.base]
    assert counted == ["multi", "agent", "getname", "38", "101"]


@given(st.text())
def test_any_text_has_forms_that_fit_the_column(text: str) -> None:
    assert all(0 < len(form.text) <= MAX_FORM for form in forms(text))
