"""What to search for: a follow-up that names no topic of its own borrows the questions before it.

"When was he born?" after "Who was Alan Turing?" searches for both. The question itself is stored
and shown as asked. Pure. Below: followup_words. Above: writing.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from chats.followup_words import (
    EMPTY,
    OPENINGS,
    STRONG,
    UNSPACED_BACK,
    UNSPACED_EMPTY,
    UNSPACED_OPENINGS,
    WEAK,
    WEAK_AT_END,
)
from chats.generation.base import Turn

MAX_CHARS = 2_000  # borrowed

_WORD = re.compile(r"[^\W_]+(?:['’.+#-]*[^\W_]+)*[+#]*")
_UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]+")
_UNSPACED_LITTLE = re.compile(
    "|".join(sorted(map(re.escape, UNSPACED_EMPTY), key=len, reverse=True))
)
# The most words of its own with which a question still leans on the one before.
_MOST_AFTER_STRONG = 3
_MOST_AFTER_WEAK = 2
_STEM = 5  # letters by which forms of a word are taken for the same


def query_for(question: str, history: Sequence[Turn]) -> str:
    """The question, with the earlier questions that it needs to be understood."""
    parts = [question] if topic_size(question) else []
    current = question
    for turn in reversed(history):
        if not leans_back(current):
            break
        current = turn.question
        if topic_size(current):
            parts.append(current[:MAX_CHARS])
    return " ".join(parts) or question


def leans_back(question: str) -> bool:
    """Whether a question cannot be understood without the one before."""
    size = topic_size(question)
    if size == 0:
        return True
    words = _words_of(question)
    unspaced = _UNSPACED.findall(question)
    points_back = any(word in STRONG for word in words) or any(
        word in run for run in unspaced for word in UNSPACED_BACK
    )
    goes_on = bool(words and words[0] in OPENINGS) or bool(
        unspaced and unspaced[0].startswith(tuple(UNSPACED_OPENINGS))
    )
    if points_back or goes_on:
        return size <= _MOST_AFTER_STRONG
    may_point_back = any(word in WEAK for word in words) or bool(words and words[-1] in WEAK_AT_END)
    return size <= _MOST_AFTER_WEAK and may_point_back


def topic_size(question: str) -> int:
    """How many words of its own a question has; two characters of Chinese or Japanese are one."""
    spaced = sum(word not in EMPTY for word in _words_of(question))
    characters = sum(len(_UNSPACED_LITTLE.sub("", run)) for run in _UNSPACED.findall(question))
    return spaced + (characters + 1) // 2


def topic_words(text: str) -> frozenset[str]:
    """Its words that say what it is about, by their first letters; single characters where a
    script has no spaces.
    """
    spaced = {word[:_STEM] for word in _words_of(text) if word not in EMPTY}
    runs = (_UNSPACED_LITTLE.sub("", run) for run in _UNSPACED.findall(text))
    return frozenset(spaced.union(*map(set, runs)))


def _words_of(question: str) -> list[str]:
    text = _UNSPACED.sub(" ", question.casefold().replace("’", "'"))
    return [word.removesuffix("'s") for word in _WORD.findall(text)]
