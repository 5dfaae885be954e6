"""BERT's WordPiece: text → token ids, as its reference does it. Pure; above: bert."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from functools import lru_cache

MAX_WORD = 100  # characters; a longer word is unknown
_IDEOGRAPHS = (
    (0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFAFF), (0x20000, 0x2A6DF),
    (0x2A700, 0x2B73F), (0x2B740, 0x2B81F), (0x2B820, 0x2CEAF), (0x2F800, 0x2FA1F),
)  # fmt: skip


class WordPiece:
    def __init__(self, vocabulary: Sequence[str], *, max_tokens: int, lower: bool = True) -> None:
        self._ids = {piece: id_ for id_, piece in enumerate(vocabulary)}
        self._unknown, self._first, self._last = (
            self._ids[piece] for piece in ("[UNK]", "[CLS]", "[SEP]")
        )
        self._max_tokens = max_tokens
        self._lower = lower
        self._pieces = lru_cache(maxsize=50_000)(self._split)

    def encode(self, text: str) -> list[int]:
        """With the marks of beginning and end, cut to `max_tokens`."""
        ids = [self._first]
        for word in words(text, lower=self._lower):
            ids.extend(self._pieces(word))
            if len(ids) >= self._max_tokens:
                break
        del ids[self._max_tokens - 1 :]
        ids.append(self._last)
        return ids

    def _split(self, word: str) -> tuple[int, ...]:
        """The longest known piece first, again and again."""
        if len(word) > MAX_WORD:
            return (self._unknown,)
        found: list[int] = []
        start = 0
        while start < len(word):
            prefix = "##" if start else ""
            for end in range(len(word), start, -1):
                if (id_ := self._ids.get(prefix + word[start:end])) is not None:
                    found.append(id_)
                    start = end
                    break
            else:
                return (self._unknown,)
        return tuple(found)


def words(text: str, *, lower: bool = True) -> Iterator[str]:
    """Words, punctuation marks and ideographs."""
    cleaned = "".join(map(_cleaned, text))
    if lower:
        marked = unicodedata.normalize("NFD", cleaned)
        cleaned = "".join(c for c in marked if unicodedata.category(c) != "Mn").lower()
    for word in cleaned.split():
        if word.isalnum():
            yield word
        else:
            yield from "".join(f" {c} " if _is_punctuation(c) else c for c in word).split()


@lru_cache(maxsize=10_000)
def _cleaned(character: str) -> str:
    if character in "\t\n\r":
        return " "
    category, code = unicodedata.category(character), ord(character)
    if category in {"Cc", "Cf", "Cn", "Co", "Cs"} or code == 0xFFFD:
        return ""
    if any(first <= code <= last for first, last in _IDEOGRAPHS):
        return f" {character} "
    return " " if character.isspace() else character


@lru_cache(maxsize=10_000)
def _is_punctuation(character: str) -> bool:
    """All of ASCII that is neither letter nor digit, and what Unicode calls punctuation."""
    if character.isascii():
        return not character.isalnum()
    return unicodedata.category(character).startswith("P")
