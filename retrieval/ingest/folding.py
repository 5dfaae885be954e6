"""Text as the most lenient search within a page compares it. Pure; above: ingest.haystack.

Browsers differ in what they take for equal: case at least, in Chromium also accents, quote marks,
width and invisible characters. What is unlike here is unlike in all of them.
"""

from __future__ import annotations

import unicodedata

_LETTERS = {"æ": "ae", "œ": "oe", "ø": "o", "đ": "d", "ð": "d", "ħ": "h", "ı": "i", "ł": "l"}
_QUOTES = {**dict.fromkeys("‘’‚‛′׳ʼ`´", "'"), **dict.fromkeys("“”„‟″״", '"')}
_DASHES = dict.fromkeys("‐‑‒–—―−", "-")
_ALIKE = {**_LETTERS, **_QUOTES, **_DASHES}
_IGNORED = {"Cc", "Cf", "Me", "Mn", "Zl", "Zp", "Zs"}


class _Folds(dict[int, str]):
    """Code point → what stands for it; filled as characters occur."""

    def __missing__(self, code: int) -> str:
        folded = self[code] = _fold_character(chr(code))
        return folded


def _fold_character(character: str) -> str:
    if character.isspace():
        return " "
    parts = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", character).casefold())
    return "".join(map(_fold_part, parts))


def _fold_part(character: str) -> str:
    if unicodedata.category(character) in _IGNORED:
        return ""
    digit = unicodedata.decimal(character, None)
    return _ALIKE.get(character, character) if digit is None else str(digit)


_FOLDS = _Folds()


def fold(text: str) -> str:
    """White space becomes single spaces; each other character is folded by itself."""
    folded = text.lower() if text.isascii() else text.translate(_FOLDS)
    return " ".join(folded.split())
