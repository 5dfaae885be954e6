"""The language of a page: declared, else told from its script. Pure; above: parsers.

Only scripts that stand for a language are told apart. Latin letters do not: "" is unknown.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import chain

SAMPLE_CHARS = 4_000
SHARE = 0.3  # of the letters, in a script that decides

# Most characters of a page are letters, so fewer cannot be a share that decides.
FEW_BEYOND = 0.1
_BEYOND_LATIN = re.compile(r"[^\W\d_\x00-\u024f]")
_SCRIPTS = {
    "ja": re.compile(r"[\u3041-\u3096\u30a1-\u30fa]"),
    "zh": re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\U00020000-\U0003fffd]"),
    "ko": re.compile(r"[\uac00-\ud7a3\u1100-\u11ff]"),
    "th": re.compile(r"[\u0e01-\u0e4e]"),
    "lo": re.compile(r"[\u0e81-\u0edf]"),
    "km": re.compile(r"[\u1780-\u17d3]"),
    "my": re.compile(r"[\u1000-\u109f]"),
    "ar": re.compile(r"[\u0620-\u06d3\u06fa-\u06ff]"),
    "he": re.compile(r"[\u05d0-\u05ea]"),
    "ru": re.compile(r"[\u0400-\u04ff]"),
    "el": re.compile(r"[\u0370-\u03ff]"),
    "hi": re.compile(r"[\u0904-\u0939\u093e-\u094d]"),
    "bn": re.compile(r"[\u0985-\u09b9]"),
    "ta": re.compile(r"[\u0b85-\u0bb9]"),
    "te": re.compile(r"[\u0c05-\u0c39]"),
    "ka": re.compile(r"[\u10d0-\u10ff]"),
    "hy": re.compile(r"[\u0531-\u0587]"),
}
# Letters that only one language of a script has.
_TELLING = (
    ("ru", "uk", re.compile("[іїєґ]", re.IGNORECASE)),
    ("ar", "fa", re.compile("[پچژگ]")),
)
_TELLING_SHARE = 0.01
_KANA_SHARE = 0.1  # of Japanese text; Chinese quotes less
# Not languages: what templates write where nobody filled in a language.
_UNDECLARED = {"", "und", "mul", "zxx"}


def page_language(declared: str, texts: Iterable[str]) -> str:
    """A BCP 47 primary subtag, or "".

    A declared "en" does not stand against the script: templates ship with it.
    """
    subtag = re.split(r"[-_,;\s]", declared.strip().lower(), maxsplit=1)[0]
    if not re.fullmatch(r"[a-z]{2,8}", subtag) or subtag in _UNDECLARED:
        return guess(texts)
    return (guess(texts) or subtag) if subtag == "en" else subtag


def guess(texts: Iterable[str]) -> str:
    sample = "".join(_until(SAMPLE_CHARS, texts))
    beyond = len(_BEYOND_LATIN.findall(sample))
    if not beyond or beyond < FEW_BEYOND * len(sample):
        return ""
    letters = sum(map(str.isalpha, sample))
    counts = {language: len(script.findall(sample)) for language, script in _SCRIPTS.items()}
    kana, han = counts["ja"], counts["zh"]
    if kana and kana >= _KANA_SHARE * (kana + han):
        counts["ja"] += han
    found = max(counts, key=lambda language: counts[language])
    if counts[found] < SHARE * letters:
        return ""
    for language, other, telling in _TELLING:
        if found == language and len(telling.findall(sample)) > _TELLING_SHARE * letters:
            return other
    return found


def _until(limit: int, texts: Iterable[str]) -> Iterable[str]:
    taken = 0
    for text in chain(texts):
        yield text[: limit - taken]
        taken += len(text)
        if taken >= limit:
            return
