"""Text → index terms: forms, stemmed by language, accents folded. Below: words, stop words.

Above: postings, the pipeline. A query's terms are groups: one word as every indexed language would
have stemmed it, so that a query needs no language of its own to be found.
"""

from __future__ import annotations

import threading
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice

import regex
import Stemmer

from retrieval.index.lightwords import light_words
from retrieval.index.stopwords import LOOKALIKES, TOLD_BY_WORDS, stop_words
from retrieval.index.words import MAX_FORM, Form, counted_forms, forms

DEFAULT_LANGUAGE = "en"  # of text that does not say, nor show by its small words
SAMPLE_FORMS = 1_000  # that are looked at to tell a language
TELLING_WORDS = 4  # fewer stop words tell nothing
MAX_QUERY_FORMS = 1_000  # that are read of it
MAX_QUERY_TERMS = 200  # that are looked for
LIGHT = 0.25  # what a word that only asks counts in coverage
MAX_VARIANTS = 6  # of a word of a query: its stems in the languages of the documents

_ALGORITHMS = {
    "ar": "arabic", "ca": "catalan", "cs": "czech", "da": "danish", "de": "german", "el": "greek",
    "en": "english", "es": "spanish", "et": "estonian", "eu": "basque", "fa": "persian",
    "fi": "finnish", "fr": "french", "ga": "irish", "hi": "hindi", "hu": "hungarian",
    "hy": "armenian", "id": "indonesian", "it": "italian", "lt": "lithuanian", "nb": "norwegian",
    "ne": "nepali", "nl": "dutch", "nn": "norwegian", "no": "norwegian", "pl": "polish",
    "pt": "portuguese", "ro": "romanian", "ru": "russian", "sr": "serbian", "sv": "swedish",
    "ta": "tamil", "tr": "turkish", "yi": "yiddish",
}  # fmt: skip
_FOLDED = regex.compile(r"[\p{Latin}\p{Greek}\p{Hebrew}\p{Arabic}\p{Cyrillic}]")
_stemming = threading.Lock()  # a Snowball stemmer is not re-entrant


@dataclass(frozen=True, slots=True)
class QueryTerm:
    """One word of a query: the terms that stand for it, and how often it was said.

    `weight`: what it counts in coverage, 0 (a stop word) to 1.
    """

    variants: tuple[str, ...]
    count: int = 1
    weight: float = 1.0


def document_terms(text: str, language: str) -> tuple[Counter[str], int]:
    """How often each term occurs, and the length in words."""
    language = language or DEFAULT_LANGUAGE
    counts: Counter[str] = Counter()
    length = 0
    for form, count in counted_forms(text):
        counts[term(form, language)] += count
        length += count * form.base
    return counts, length


def query_terms(text: str, languages: Iterable[str]) -> list[QueryTerm]:
    """The words to look for, without stop words unless there is nothing else.

    `languages`: those of the documents, most frequent first.
    """
    said = list(islice(forms(text, query=True), MAX_QUERY_FORMS))
    known = list(dict.fromkeys(language or DEFAULT_LANGUAGE for language in languages))
    known = known or [DEFAULT_LANGUAGE]
    spoken = spoken_language(said, known)
    stops, light = stop_words(spoken), light_words(spoken)
    telling = [form for form in said if form.text not in stops]
    counts: Counter[tuple[str, ...]] = Counter()
    weights: dict[tuple[str, ...], float] = {}
    for form in telling or said:
        variants = tuple(dict.fromkeys(term(form, language) for language in known))[:MAX_VARIANTS]
        if variants in counts or len(counts) < MAX_QUERY_TERMS:
            counts[variants] += 1
            weight = LIGHT if form.text in light else 1.0 if telling else 0.0
            weights[variants] = max(weight, weights.get(variants, 0.0))
    return [QueryTerm(words, count, weights[words]) for words, count in counts.items()]


def spoken_language(said: Iterable[Form], languages: Sequence[str]) -> str:
    """Which of these languages a text most likely is in, by its stop words; else the first.

    A single one tells only if English has none that looks like it.
    """
    words = {form.text for form in said}
    votes = {language: words & stop_words(language) for language in languages}
    best = max(languages, key=lambda language: len(votes[language]))
    clear = len(votes[best]) > 1 or any(map(_foreign, votes[best]))
    return best if clear else languages[0]


def _foreign(word: str) -> bool:
    return not word.isascii() or (len(word) > 2 and word not in LOOKALIKES)


def written_language(text: str) -> str:
    """The language of a document that declares none: by its stop words, if they are clear."""
    said = [form.text for form in islice(forms(text), SAMPLE_FORMS)]
    votes = {name: sum(word in stop_words(name) for word in said) for name in TOLD_BY_WORDS}
    best = max(votes, key=lambda name: votes[name])
    clear = votes[best] >= max(TELLING_WORDS, 1.2 * votes[DEFAULT_LANGUAGE])
    return best if clear else DEFAULT_LANGUAGE


@lru_cache(maxsize=200_000)
def term(form: Form, language: str) -> str:
    """The index term of a form: its stem in the language, without accents."""
    text = form.text
    if form.stems and (stemmer := _stemmer(language)) is not None:
        with _stemming:
            text = stemmer.stemWord(text)
    if not text.isascii() and _FOLDED.match(text):
        marked = unicodedata.normalize("NFD", text)
        text = "".join(c for c in marked if unicodedata.category(c) != "Mn") or text
    return text[:MAX_FORM]


@lru_cache(maxsize=64)
def _stemmer(language: str) -> Stemmer.Stemmer | None:
    algorithm = _ALGORITHMS.get(language)
    return None if algorithm is None else Stemmer.Stemmer(algorithm)
