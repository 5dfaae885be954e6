"""How well each sentence answers the question: by its words, and by its meaning where there is an
embedder. Pure but for `similarity`.

Below: candidates, matching. Above: relevance. The shares were chosen on 76 questions about the
Python documentation: of the sentences quoted, one holds the answer for 63 of them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from chats.generation.base import Prompt
from chats.generation.candidates import SENTENCE_END, Candidate
from chats.generation.matching import Question

# How close each text is to the question, in [-1, 1]; None where no embedder is at hand.
Similarity = Callable[[str, Sequence[str]], Sequence[float] | None]

SHORTLIST = 32  # sentences whose meaning is compared

# What a word of the question is worth where it stands beside the sentence instead of in it.
IN_TERM, IN_SECTION, IN_NEIGHBOUR = 1.0, 0.5, 0.2
DEFINES = 0.2  # more for the sentence that says what a term is, where the question is that term
LONG_CHARS, LONG = 400, 0.9
FRAGMENT = 0.9  # begins in lower case
UNENDED = 0.85  # a table cell, an item of a list
POINTS_BACK = 0.93  # needs the sentence before it
NOTE = 0.85  # about versions

_FRAGMENT = re.compile(r"[^\W\d_]+\b(?![.(_])")
_NOTE = re.compile(r"\(?(Changed|New|Added|Deprecated|Removed|Contributed) (in|since|by)\b")
_POINTS_BACK = re.compile(r"(This|These|That|Those|It|They|He|She|Such)\b")


@dataclass(frozen=True, slots=True)
class Scored:
    candidate: Candidate
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Shares:
    """What a sentence's score is made of."""

    words: float  # of the question, in and around the sentence
    standing: float  # of its passage among the others
    code: float  # announces an example
    meaning: float = 0.0  # of the sentence with what it is about
    going_on: float = 0.0  # of the sentence with the one after it
    passage: float = 0.0  # of the passage


BY_WORDS = Shares(words=1.0, standing=0.3, code=0.1)
BY_MEANING = Shares(words=0.3, standing=0.15, code=0.1, meaning=1.0, going_on=0.2, passage=0.4)


def rank(
    question: Question, prompt: Prompt, candidates: Sequence[Candidate], similarity: Similarity
) -> list[Scored]:
    """Best first; ties in reading order. By meaning, only the best by words are ranked."""
    plain = [
        _Plain(
            candidate,
            _coverage(question, candidates, at),
            DEFINES if _defines(question, candidates, at) else 0.0,
        )
        for at, candidate in enumerate(candidates)
    ]
    ranked = sorted(plain, key=lambda one: -one.score(BY_WORDS))
    shortlist = [one.candidate for one in ranked[:SHORTLIST]]
    following = {_place(one): one.text for one in candidates}
    windows = [f"{one.text} {following.get(_place(one, 1), '')}".rstrip() for one in shortlist]
    close = similarity(prompt.query, [*map(_in_context, shortlist), *windows])
    if close is None:
        return [Scored(one.candidate, one.score(BY_WORDS)) for one in ranked]
    scored = []
    for at, one in enumerate(ranked[:SHORTLIST]):
        closeness = prompt.passages[one.candidate.passage].closeness
        meaning = (
            BY_MEANING.meaning * max(0.0, close[at])
            + BY_MEANING.going_on * max(0.0, close[at + len(shortlist)])
            + BY_MEANING.passage * max(0.0, closeness or 0.0)
        )
        scored.append(Scored(one.candidate, one.score(BY_MEANING, meaning)))
    return sorted(scored, key=lambda one: -one.score)


@dataclass(frozen=True, slots=True)
class _Plain:
    """A sentence with what its words alone tell."""

    candidate: Candidate
    coverage: float
    definition: float

    def score(self, shares: Shares, meaning: float = 0.0) -> float:
        standing = 1 / (1 + self.candidate.passage)
        code = shares.code if self.candidate.code else 0.0
        words = shares.words * self.coverage + shares.standing * standing
        total = words + self.definition + code + meaning
        return total * _fitness(self.candidate.text)


def _coverage(question: Question, candidates: Sequence[Candidate], at: int) -> float:
    """The share of the question that a sentence with its surroundings speaks about."""
    candidate = candidates[at]
    beside = (*candidates[max(0, at - 1) : at], *candidates[at + 1 : at + 2])
    places = (
        (IN_NEIGHBOUR, [one.text for one in beside if _block(one) == _block(candidate)]),
        (IN_SECTION, candidate.section),
        (IN_TERM, [candidate.term]),
        (1.0, [candidate.text]),
    )
    worths = [0.0] * len(question.weights)
    for worth, texts in places:
        for text in texts:
            for word in question.words_in(text, candidate.language):
                worths[word] = worth
    return sum(weight * worth for weight, worth in zip(question.weights, worths, strict=True))


def _defines(question: Question, candidates: Sequence[Candidate], at: int) -> bool:
    """Whether this is the first sentence after a term that holds all words of the question."""
    one, before = candidates[at], candidates[at - 1] if at else None
    if not one.term or (before and (before.passage, before.term) == (one.passage, one.term)):
        return False
    return len(question.words_in(one.term, one.language)) == len(question.weights)


def _fitness(text: str) -> float:
    """Less for what reads badly alone."""
    fitness = LONG if len(text) > LONG_CHARS else 1.0
    if text[:1].islower() and _FRAGMENT.match(text):
        fitness *= FRAGMENT
    if not SENTENCE_END.search(text):
        fitness *= UNENDED
    if _POINTS_BACK.match(text):
        fitness *= POINTS_BACK
    if _NOTE.match(text):
        fitness *= NOTE
    return fitness


def _in_context(candidate: Candidate) -> str:
    about = candidate.term or (candidate.section[-1] if candidate.section else candidate.title)
    return f"{about}: {candidate.text}"


def _block(candidate: Candidate) -> tuple[int, int]:
    return candidate.passage, candidate.block


def _place(candidate: Candidate, later: int = 0) -> tuple[int, int, int]:
    return candidate.passage, candidate.block, candidate.position + later
