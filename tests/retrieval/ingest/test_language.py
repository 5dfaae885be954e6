"""The language of a page: declared, else told from its script."""

from __future__ import annotations

import pytest

from retrieval.ingest.language import guess, page_language
from tests.retrieval.ingest.documents import page


@pytest.mark.parametrize(
    ("declared", "language"),
    [("en", "en"), ("de-AT", "de"), ("PT_br", "pt"), ("zh-Hans-CN", "zh"), ("", ""), ("und", "")],
)
def test_a_declared_language_is_its_primary_subtag(declared: str, language: str) -> None:
    assert page_language(declared, ["Plain text"]) == language


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("用户身份验证的方法", "zh"),
        ("ユーザー認証の方法について説明します", "ja"),
        ("사용자 인증 방법을 설명합니다", "ko"),
        ("หน้านี้อธิบายการตั้งค่า", "th"),
        ("هذه الصفحة تشرح الإعداد", "ar"),
        ("این صفحه پیکربندی را توضیح می‌دهد؛ چگونه", "fa"),
        ("Эта страница объясняет настройку", "ru"),
        ("Ця сторінка пояснює їхні налаштування", "uk"),
        ("Αυτή η σελίδα εξηγεί τη ρύθμιση", "el"),
        ("דף זה מסביר את ההגדרות", "he"),
        ("यह पृष्ठ सेटिंग समझाता है", "hi"),
        ("Die Größe der Änderung", ""),
        ("Plain text with 用户 in it", ""),
        ("12345 !?", ""),
        ("", ""),
    ],
)
def test_scripts_that_stand_for_a_language_are_told_apart(text: str, language: str) -> None:
    assert guess([text]) == language


def test_a_templates_english_does_not_stand_against_the_script() -> None:
    assert page_language("en", ["用户身份验证的方法"]) == "zh"
    assert page_language("de", ["用户身份验证的方法"]) == "de"


def test_a_page_declares_its_language_on_the_root_element() -> None:
    document = page('</body></html><html lang="fr-CA">', head="<title>x</title>")
    assert document.language == "fr"
