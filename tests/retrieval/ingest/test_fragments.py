"""Fragments lead to the cited passage and to no earlier place. One test for each hard case."""

from __future__ import annotations

from urllib.parse import unquote

import pytest
from django.conf import LazySettings

from retrieval.ingest import haystack
from retrieval.ingest.chunk import passages
from retrieval.ingest.fragments import directive, join
from retrieval.types import Fragment
from tests.retrieval.ingest.documents import page, read, words

CHINESE = (
    "用户身份验证的方法有很多种，本页说明如何登录系统。请先阅读安装指南，了解各个选项的含义，"
    "并检查配置文件中的所有设置是否正确。如果出现错误，请查看日志文件。确认无误之后，然后再继续操作。"
)
JAPANESE = (
    "ユーザー認証の方法について説明します。設定ファイルを編集して、すべての項目を確認してください。"
    "問題が発生した場合は、ログファイルを参照してください。変更を反映するには、再起動が必要です。"
)
THAI = (
    "หน้านี้อธิบายการตั้งค่า และวิธีเข้าสู่ระบบ โปรดอ่านคู่มือการติดตั้ง ตรวจสอบแฟ้มกำหนดค่าทั้งหมด "
    "หากพบข้อผิดพลาด ให้ดูบันทึกของระบบ แล้วเริ่มระบบใหม่อีกครั้ง ก่อนดำเนินการต่อ"
)
LONG = (
    "This passage is so long that a single term would not do, and a pair of terms has to stand "
    "for all of its many words."
)


@pytest.fixture(autouse=True)
def small_chunks(settings: LazySettings) -> None:
    settings.FASTRAG = {"CHUNK_TARGET_WORDS": 30, "CHUNK_MAX_WORDS": 36}


def fragments(body: str) -> list[Fragment | None]:
    return [passage.fragment for passage in passages(page(body))]


def fragment(body: str) -> Fragment:
    """Of the last passage of a page."""
    found = fragments(body)[-1]
    assert found is not None
    return found


def test_a_short_passage_is_a_single_term() -> None:
    assert fragment("<main><p>A short passage.</p></main>") == Fragment(start="A short passage.")


def test_a_long_passage_is_a_pair_of_its_first_and_last_words() -> None:
    assert fragment(f"<main><p>{LONG}</p></main>") == Fragment(
        start="This passage is so", end="of its many words."
    )


def test_start_and_end_each_lie_inside_one_block() -> None:
    found = fragment(
        "<main><h2>Setting up</h2><p>First words here.</p><ul><li>An item</li></ul>"
        "<table><tr><td>Left cell</td><td>Right cell</td></tr></table></main>"
    )
    assert found == Fragment(start="First words here.", end="Right cell")


def test_a_term_holds_no_line_break_and_no_run_of_spaces() -> None:
    found = fragment(
        "<main><p>First line of the address<br>second   line\n of it<br>third line at the end"
        "</p></main>"
    )
    assert found == Fragment(start="First line of the", end="line at the end")


def test_terms_of_code_lie_within_a_line_and_its_single_spaces() -> None:
    found = fragment(
        "<main><pre>def f(a,  b):\n    return a + b  # done\nprint(f(1, 2))</pre></main>"
    )
    assert found == Fragment(start="def f(a,", end="print(f(1, 2))")


def test_no_break_spaces_are_spaces_in_terms() -> None:
    assert fragment("<main><p>Figure&nbsp;7 of&nbsp;it</p></main>").start == "Figure 7 of it"


def test_a_double_no_break_space_is_in_no_term() -> None:
    found = fragment("<main><p>one two three&nbsp; four five six seven eight nine</p></main>")
    assert found == Fragment(start="one two three", end="six seven eight nine")


def test_the_pages_own_quotes_and_soft_hyphens_are_kept() -> None:
    text = "“Don’t fold” the Donau\xaddampf\xadschiff"
    assert fragment(f"<main><p>{text}</p></main>").start == text


@pytest.mark.parametrize("mark", ["\u200b", "\ufeff", "\u00ad", "\u2060", "\u200e"])
def test_no_invisible_character_is_at_a_terms_edge(mark: str) -> None:
    body = f"<main><p>{mark}{words(12)}{mark} and more{mark} words to come{mark}</p></main>"
    for found in filter(None, fragments(body)):
        for term in filter(None, (found.start, found.end)):
            assert term.strip(mark) == term


def test_an_image_is_in_no_term() -> None:
    found = fragment("<main><p>Click the <img src=x> button to go on to the next page.</p></main>")
    assert found == Fragment(start="Click the", end="to the next page.")


def test_terms_are_extended_until_the_passage_is_the_first_match() -> None:
    found = fragment(
        f"<main><h2>A</h2><p>The same words stand here. One goes on. {words(25)}</p>"
        f"<h2>B</h2><p>The same words stand here. Two goes on. {words(25, start=50)}</p></main>"
    )
    assert found.start == "The same words stand here. Two"


def test_a_sentence_that_stands_twice_leads_to_the_cited_one() -> None:
    twice = "This sentence stands twice on the page"
    first, second = fragments(
        f"<main><h2>A</h2><p>{twice}, {words(22)}</p>"
        f"<h2>B</h2><p>{twice}; {words(22, start=50)}</p></main>"
    )
    assert first is not None
    assert first.start == "This sentence stands"
    assert second is not None
    assert second.start == f"{twice};"


def test_a_passage_that_only_repeats_an_earlier_one_has_no_fragment() -> None:
    twice = f"<h2>A</h2><p>{words(25)}</p>"
    assert fragments(f"<main>{twice}{twice}</main>")[1] is None


def test_the_end_is_the_first_match_after_the_start() -> None:
    found = fragment(
        "<main><ul><li>Alpha ends here.</li><li>Beta ends here.</li><li>Gamma ends here.</li></ul>"
        "</main>"
    )
    assert found == Fragment(start="Alpha ends here.", end="Gamma ends here.")


def test_menus_count_because_a_browser_searches_them() -> None:
    found = fragment(
        "<nav><p>Getting started with the guide</p></nav>"
        "<main><p>Getting started with the guide is easy, once all of what follows below is read "
        "with some care.</p></main>"
    )
    assert found.start == "Getting started with the guide is"


def test_case_accents_and_quotes_do_not_make_a_place_different() -> None:
    found = fragment(
        "<nav>THE CAFE’S OWN NAIVE PLAN</nav>"
        "<main><p>The café's own naïve plan is set out here in more words than it was ever set "
        "out before.</p></main>"
    )
    assert found.start == "The café's own naïve plan is"


def test_a_word_within_a_word_is_no_earlier_place() -> None:
    assert fragment("<nav>restarting</nav><main><p>start</p></main>") == Fragment(start="start")


def test_a_heading_that_a_menu_repeats_is_left_out_of_the_terms() -> None:
    found = fragment(
        "<nav><a href='#a'>Usage</a> <a href='#b'>Options</a></nav><main><h1>T</h1>"
        "<h2 id='a'>Usage</h2><p>Call it by name.</p><h2 id='b'>Options</h2><p>None.</p></main>"
    )
    assert found.start == "Call it by name."


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        (CHINESE, "用户身份验证的方法有很多种，", "然后再继续操作。"),
        (JAPANESE, "ユーザー認証の方法について説明します。", "再起動が必要です。"),
        (THAI, "หน้านี้อธิบายการตั้งค่า", "ก่อนดำเนินการต่อ"),
        (f"Python的{CHINESE}", "Python的用户身份验证的方法有很多种，", "然后再继续操作。"),
    ],
)
def test_text_without_spaces_is_not_cut_inside_a_segment(
    settings: LazySettings, text: str, start: str, end: str
) -> None:
    settings.FASTRAG = {"CHUNK_TARGET_WORDS": 200, "CHUNK_MAX_WORDS": 240}
    assert fragment(f"<main><p>{text}</p></main>") == Fragment(start=start, end=end)


def test_a_short_text_without_spaces_is_one_term() -> None:
    text = "用户身份验证的方法有很多种，本页说明如何登录系统。"
    assert fragment(f"<main><p>{text}</p></main>") == Fragment(start=text)


@pytest.mark.parametrize("body", ["<p>&ZeroWidthSpace;</p>", "<p>·</p>", "<ul><li>*<li>x</ul>"])
def test_what_is_next_to_nothing_is_no_term(body: str) -> None:
    assert not any(fragments(f"<main>{body}</main>"))


def test_plain_text_has_terms_within_its_lines() -> None:
    document = read(
        "A paragraph of plain text that is\nwrapped over three lines of\na file without markup.",
        media_type="text/plain",
    )
    (passage,) = passages(document)
    assert passage.fragment == Fragment(start="A paragraph of plain", end="file without markup.")


def test_a_piece_of_a_long_block_has_terms_of_its_own() -> None:
    body = f"<main><p>{words(90)}</p></main>"
    found = passages(page(body))
    assert len(found) == 3
    for passage in found:
        first, *_, last = passage.text.split()
        assert passage.fragment is not None
        assert passage.fragment.start.startswith(first)
        assert passage.fragment.end is not None
        assert passage.fragment.end.endswith(last)


def test_a_term_does_not_go_on_in_the_next_piece_of_a_long_block() -> None:
    body = "項目を確認してください。+問題が発生した場合は、参照してください。"
    document = page(f"<main><p>{'設定ファイルを編集します。' * 4}{body * 3}</p></main>")
    for passage in passages(document):
        for term in filter(None, (passage.fragment and passage.fragment.start,)):
            assert passage.text.startswith(term)
        if passage.fragment is not None and passage.fragment.end is not None:
            assert passage.fragment.end in passage.text


def test_a_start_in_the_second_half_of_a_passages_ink_is_none() -> None:
    code = "<pre>a:\n        b:\n            c:\n                d</pre>"
    found = fragments(f"<main><h2>A</h2>{code}<p>x</p><h2>B</h2>{code}<p>then</p></main>")
    assert found[-1] is None


def test_text_in_fields_and_drawings_counts_because_a_browser_searches_it() -> None:
    found = fragment(
        "<textarea>The files event is</textarea><svg><text>The files event is called</text></svg>"
        "<main><p>The files event is called after all of the files were read.</p></main>"
    )
    assert found.start == "The files event is called after all of the files were read."


def test_far_down_a_huge_page_there_are_no_fragments(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(haystack, "MAX_CHARS", 1_000)
    first, *_, last = fragments(f"<main><p>{words(90)}</p><p>{words(90, start=100)}</p></main>")
    assert first is not None
    assert last is None


@pytest.mark.parametrize(
    ("first", "last", "joined"),
    [
        (Fragment(start="a", end="b"), Fragment(start="c", end="d"), Fragment(start="a", end="d")),
        (Fragment(start="a", end="b"), Fragment(start="c"), Fragment(start="a", end="c")),
        (Fragment(start="a"), Fragment(start="c", end="d"), Fragment(start="a", end="d")),
        (Fragment(start="a"), Fragment(start="a"), Fragment(start="a")),
    ],
)
def test_fragments_of_one_section_are_joined(
    first: Fragment, last: Fragment, joined: Fragment
) -> None:
    assert join(first, last) == joined


def test_joined_chunks_of_a_section_end_where_the_last_one_ends() -> None:
    same = "Available since version three."
    text = "".join(f"<p>{words(20, start=100 * n)}</p><p>Number {n}. {same}</p>" for n in range(3))
    first, *_, last = fragments(f"<main><h2>A</h2>{text}</main>")
    assert first is not None
    assert last is not None
    # A shorter end would be found in the first chunk, after the start of the joined one.
    assert join(first, last).end == f"2. {same}"


@pytest.mark.parametrize(
    ("term", "encoded"),
    [
        ("a-b", "a%2Db"),
        ("a, b", "a%2C%20b"),
        ("a & b", "a%20%26%20b"),
        ("100% = #1?", "100%25%20%3D%20%231%3F"),
        ("a/b_c.d~e", "a%2Fb_c.d~e"),
        ("Größe", "Gr%C3%B6%C3%9Fe"),
        ("用户", "%E7%94%A8%E6%88%B7"),
        ("😀", "%F0%9F%98%80"),
    ],
)
def test_everything_that_has_a_meaning_in_a_directive_is_encoded(term: str, encoded: str) -> None:
    assert directive([Fragment(start=term)]) == f":~:text={encoded}"
    assert unquote(encoded) == term


def test_a_directive_holds_several_fragments() -> None:
    found = directive([Fragment(start="a b", end="c-d"), Fragment(start="e")])
    assert found == ":~:text=a%20b,c%2Dd&text=e"
    assert directive([]) == ""
