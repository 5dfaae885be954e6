from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from retrieval.index.analysis import (
    MAX_QUERY_TERMS,
    MAX_VARIANTS,
    document_terms,
    query_terms,
    written_language,
)


def variants(text: str, *languages: str) -> list[tuple[str, ...]]:
    return [term.variants for term in query_terms(text, languages or ["en"])]


def test_documents_keep_their_stop_words() -> None:
    counts, length = document_terms("to be or not to be", "en")
    assert counts["to"] == 2
    assert length == 6


def test_a_query_loses_its_stop_words() -> None:
    assert variants("How do I cancel a task?") == [("cancel",), ("task",)]


def test_a_query_of_stop_words_alone_keeps_them() -> None:
    assert variants("to be or not to be") == [("to",), ("be",), ("or",), ("not",)]


@pytest.mark.parametrize(
    ("language", "word", "other"),
    [
        ("en", "configurations", "configure"),
        ("es", "configuración", "configuraciones"),
        ("de", "Häuser", "Hauser"),
        ("fr", "cafés", "café"),
        ("ru", "книги", "книга"),
        ("ar", "الطلاب", "طلاب"),
        ("", "searching", "searched"),
    ],
)
def test_words_of_one_stem_meet(language: str, word: str, other: str) -> None:
    assert document_terms(word, language)[0] == document_terms(other, language)[0]


def test_accents_do_not_matter() -> None:
    assert document_terms("naïve café", "en")[0] == document_terms("naive cafe", "en")[0]


def test_a_query_word_stands_for_its_stem_in_every_indexed_language() -> None:
    assert variants("configuraciones", "en", "es") == [("configuracion", "configur")]


def test_a_word_is_stemmed_in_its_language_however_many_are_indexed() -> None:
    indexed = ("en", "de", "fr", "es", "it", "pt", "nl", "sv", "ru")
    assert variants("пароля", *indexed) == [("пароля", "парол")]


def test_a_word_has_a_bounded_number_of_stems() -> None:
    indexed = ("ar", "ca", "es", "et", "eu", "it", "tr")
    (found,) = variants("abundantemente", *indexed)
    assert len(found) == MAX_VARIANTS


def test_stop_words_are_those_of_the_language_that_is_spoken() -> None:
    assert variants("die Häuser in der Stadt", "de") == [("haus",), ("stadt",)]
    assert ("die",) in variants("can stars die", "en", "de")


def test_repeated_words_are_counted_once_each() -> None:
    (term,) = query_terms("spam spam spam", ["en"])
    assert term.count == 3


def test_a_query_of_any_length_has_a_bounded_number_of_terms() -> None:
    assert len(query_terms(" ".join(f"w{n}" for n in range(5_000)), ["en"])) == MAX_QUERY_TERMS


def test_threads_stem_alike() -> None:
    words = [f"connection{n % 7}s running{n}" for n in range(200)]
    expected = [document_terms(word, "en") for word in words]
    with ThreadPoolExecutor(8) as threads:
        assert list(threads.map(lambda word: document_terms(word, "en"), words)) == expected


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("The server is started with the command that you find in the guide of the site.", "en"),
        ("El servidor se inicia con el comando que se encuentra en la guía de este sitio.", "es"),
        (
            "Der Server wird mit dem Befehl gestartet, der in der Anleitung für diese Seite ist.",
            "de",
        ),
        ("Le serveur est lancé par la commande qui se trouve dans le guide de ce site.", "fr"),
        ("O servidor é iniciado com o comando que está no guia deste site, e não em outro.", "pt"),
        ("def main(): return los(las)", "en"),
        ("", "en"),
    ],
)
def test_a_document_that_declares_no_language_tells_it_by_its_small_words(
    text: str, language: str
) -> None:
    assert written_language(text) == language
