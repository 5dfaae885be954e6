"""Bytes become text whatever was declared, as long as they can."""

from __future__ import annotations

import codecs

import pytest

from retrieval.ingest.charset import decode
from tests.retrieval.ingest.documents import read, texts

JAPANESE = "これは日本語の文書です。ユーザー認証の方法について説明します。"
CHINESE = "用户身份验证的方法。本页说明如何登录。"
RUSSIAN = "Как проиндексировать сайт? Эта страница объясняет настройку."
GERMAN = "Die Größe der Änderung überprüfen – “so” geht’s."
SAMPLES = [
    (JAPANESE, "shift_jis"),
    (JAPANESE, "euc-jp"),
    (CHINESE, "gbk"),
    ("使用者身份驗證的方法。本頁說明如何登入。", "big5"),
    ("사용자 인증 방법을 설명합니다. 이 페이지는", "euc-kr"),
    (RUSSIAN, "windows-1251"),
    (RUSSIAN, "koi8-r"),
    ("Αυτή η σελίδα εξηγεί τη ρύθμιση", "windows-1253"),
    ("هذه الصفحة تشرح الإعداد", "windows-1256"),
    (GERMAN, "utf-8"),
]


def markup(text: str, head: str = "") -> str:
    return f"<html><head>{head}<title>x</title></head><body><p>{text}</p></body></html>"


@pytest.mark.parametrize(("text", "encoding"), SAMPLES)
def test_undeclared_pages_are_decoded_right(text: str, encoding: str) -> None:
    assert texts(read(markup(text).encode(encoding))) == [text]


@pytest.mark.parametrize(("text", "encoding"), SAMPLES)
def test_a_meta_element_declares_the_charset(text: str, encoding: str) -> None:
    body = markup(text, f'<meta charset="{encoding}">').encode(encoding)
    assert texts(read(body)) == [text]


@pytest.mark.parametrize(("text", "encoding"), SAMPLES)
def test_the_header_declares_the_charset(text: str, encoding: str) -> None:
    assert texts(read(markup(text).encode(encoding), charset=encoding)) == [text]


@pytest.mark.parametrize(
    ("text", "encoding", "header"),
    [
        (RUSSIAN, "windows-1251", "utf-8"),
        (JAPANESE, "shift_jis", "utf-8"),
        (CHINESE, "gbk", "utf-8"),
        (GERMAN, "utf-8", "iso-8859-1"),
        (CHINESE, "utf-8", "gb2312"),
        (JAPANESE, "utf-8", "shift_jis"),
        (RUSSIAN, "utf-8", "no-such-charset"),
        (GERMAN, "utf-8", "rot13"),
        (GERMAN, "utf-8", "undefined"),
        (GERMAN, "utf-8", "unicode-escape"),
    ],
)
def test_a_header_that_cannot_be_true_is_overruled(text: str, encoding: str, header: str) -> None:
    assert texts(read(markup(text).encode(encoding), charset=header)) == [text]


def test_a_wrong_header_yields_to_the_meta_element() -> None:
    body = markup(RUSSIAN, '<meta charset="koi8-r">').encode("koi8-r")
    assert texts(read(body, charset="utf-8")) == [RUSSIAN]


@pytest.mark.parametrize(
    ("mark", "encoding"),
    [
        (codecs.BOM_UTF8, "utf-8"),
        (codecs.BOM_UTF16_LE, "utf-16-le"),
        (codecs.BOM_UTF16_BE, "utf-16-be"),
    ],
)
def test_a_byte_order_mark_wins_and_is_no_text(mark: bytes, encoding: str) -> None:
    assert decode(mark + RUSSIAN.encode(encoding), "windows-1251") == RUSSIAN


def test_labels_mean_what_browsers_take_them_for() -> None:
    assert decode("“Größe”".encode("cp1252"), "iso-8859-1") == "“Größe”"
    assert decode("①".encode("cp932"), "shift_jis") == "①"


def test_a_character_that_a_size_limit_cut_is_left_out() -> None:
    assert decode(RUSSIAN.encode()[:-2], "utf-8") == RUSSIAN[:-2]


def test_a_few_damaged_bytes_do_not_change_the_encoding() -> None:
    body = (RUSSIAN * 20).encode() + b"\xff " + RUSSIAN.encode()
    text = decode(body, "utf-8")
    assert text.count("\ufffd") == 1
    assert text.endswith(RUSSIAN)


@pytest.mark.parametrize(
    ("language", "text", "encoding"),
    [("pl", "Zażółć gęślą jaźń", "cp1250"), ("tr", "Şifre değiştirme", "cp1254"),
     ("fr", "Les élèves français", "cp1252")],
)  # fmt: skip
def test_the_language_tells_latin_encodings_apart(language: str, text: str, encoding: str) -> None:
    body = f'<html lang="{language}"><p>{text}</p>'.encode(encoding)
    assert texts(read(body)) == [text]
