"""Text → word forms, in order: words, their parts, and bigrams of scripts without spaces. Pure.

Above: analysis. A form is case folded and not yet stemmed. "multi-agent" gives multi, agent and
multiagent; "asyncio.gather" its parts and itself; "getElementById" and "max_length" their parts and
the joined word; "C++" itself.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

import regex

MAX_FORM = 64  # characters; longer ones are cut, as the database column is
MAX_JOINED = 6  # parts of a compound that is also kept whole; more is a path or a slug

_UNSPACED = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}々ー"
_PART = rf"[[\p{{L}}\p{{N}}\p{{M}}]--[{_UNSPACED}]]+"
_RUN = regex.compile(
    rf"(?P<unspaced>[{_UNSPACED}]+)"
    rf"|(?P<word>{_PART}(?:[-._']{_PART})*)(?P<sign>\+\+|\#(?!\w))?",
    regex.VERSION1,
)
_SYLLABIC = regex.compile(r"[\p{Han}\p{Hangul}]")  # one character may be a word
_CAMEL = regex.compile(
    r"\p{Lu}+(?=\p{Lu}\p{Ll})|\p{Lu}?[\p{Ll}\p{M}]+|\p{Lu}+|\p{N}+|[\p{L}\p{M}]+"
)
_PLURAL_ACRONYM = regex.compile(r"\p{Lu}{2,}s")
_ELIDED = frozenset(("qu", "dell", "nell", "sull", "dall", "all", "quell", "un"))  # dell'arte
_TYPOGRAPHIC = str.maketrans(
    {"’": "'", "ʼ": "'", "‘": "'", "＇": "'", "‐": "-", "‑": "-", "\u00ad": None, "\u200d": None}
)


class Form(NamedTuple):
    """`base` forms count for length; the others are a second reading of the same characters."""

    text: str
    stems: bool = True
    base: bool = True


def forms(text: str, *, query: bool = False) -> Iterator[Form]:
    """All forms of a text, in order of appearance. Never fails, whatever the text."""
    for unspaced, word, sign in _runs(text):
        if unspaced:
            yield from _unspaced_forms(unspaced, query)
        else:
            yield from _compound_forms(word, sign)


def counted_forms(text: str) -> Iterator[tuple[Form, int]]:
    """The forms of a document with how often they occur, each word taken apart once."""
    for (unspaced, word, sign), count in Counter(_runs(text)).items():
        for form in _unspaced_forms(unspaced, False) if unspaced else _compound_forms(word, sign):
            yield form, count


def _runs(text: str) -> list[tuple[str, str, str]]:
    """Of scripts without spaces, or a word and its sign: what is missing is empty."""
    found: list[tuple[str, str, str]] = _RUN.findall(
        unicodedata.normalize("NFKC", text).translate(_TYPOGRAPHIC)
    )
    return found


def _unspaced_forms(run: str, query: bool) -> Iterator[Form]:
    for start in range(len(run) - 1):
        yield Form(run[start : start + 2], stems=False)
    if len(run) == 1:
        yield Form(run, stems=False)
    elif not query:  # for queries of one character
        for character in run:
            if _SYLLABIC.match(character):
                yield Form(character, stems=False, base=False)


@lru_cache(maxsize=100_000)
def _compound_forms(word: str, sign: str) -> tuple[Form, ...]:
    found: list[Form] = []
    pieces = regex.split(r"[-_]", word)
    for piece in pieces:
        _dotted_forms(piece, found)
    if sign:
        found = found if len(word) > 1 else []
        found.append(_form(word + sign, stems=False, base=len(word) == 1))
    if 1 < len(pieces) <= MAX_JOINED:
        found.append(_joined_form(pieces))
    return tuple(dict.fromkeys(found))


def _joined_form(pieces: list[str]) -> Form:
    """utf-8 is utf8, but 38.101-1 is not 38.1011."""
    joined = pieces[0]
    for before, after in pairwise(pieces):
        joined += ("-" if before[-1].isdigit() and after[0].isdigit() else "") + after
    return _form(joined.replace("'", ""), stems=joined.isalpha(), base=False)


def _dotted_forms(piece: str, found: list[Form]) -> None:
    """Versions, qualified names, abbreviations."""
    parts = piece.split(".")
    if len(parts) > 1 and all(len(part) == 1 and part.isalpha() for part in parts):
        found.append(_form("".join(parts)))  # U.S.A
        return
    for part in parts:
        _word_forms(part, found)
    if 1 < len(parts) <= MAX_JOINED:
        found.append(_form(piece, stems=False, base=False))


def _word_forms(part: str, found: list[Form]) -> None:
    whole = part.replace("'", "")
    found.append(_form(whole))
    head, _, tail = part.partition("'")
    if len(tail) > 2 and (len(head) <= 2 or head.casefold() in _ELIDED):
        found.append(_form(tail, base=False))
    if whole.islower() and whole.isalpha():
        return
    inner = [] if _PLURAL_ACRONYM.fullmatch(whole) else _CAMEL.findall(whole)
    if 1 < len(inner) <= MAX_JOINED:
        least = 2 if whole.isalpha() else 3  # 17th is no "th"
        telling = (part for part in inner if len(part) >= least or part.isdigit())
        found.extend(_form(part, base=False) for part in telling)


def _form(text: str, *, stems: bool = True, base: bool = True) -> Form:
    return Form(text.casefold()[:MAX_FORM], stems, base)
