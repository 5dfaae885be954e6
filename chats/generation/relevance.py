"""How well each sentence answers the question, and which to quote. Pure but for `similarity`.

Below: candidates, matching. Above: extractive.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from chats.generation.base import Prompt
from chats.generation.candidates import Candidate, Kind, kind_of
from chats.generation.matching import Question, terms_of

# How close each text is to the question, in [-1, 1]; None where no embedder is at hand.
Similarity = Callable[[str, Sequence[str]], Sequence[float] | None]

MAX_SENTENCES = 4
SHORTLIST = 24  # sentences whose similarity is computed

# Shares of a sentence's score. Tuned on questions about the Python documentation.
COVERAGE, CLOSENESS, STANDING = 0.45, 0.40, 0.15
# What a word of the question is worth where it stands beside the sentence instead of in it.
IN_TERM, IN_SECTION, IN_NEIGHBOUR, IN_TITLE = 0.8, 0.5, 0.35, 0.3
DEFINES = 0.2  # more for the sentence that says what a term is, where the question is that term
STANDING_FALL = 0.25  # from one passage to the next
ENOUGH = 0.72  # of the best sentence's score: as good as this is quoted too
SAME = 0.6  # share of common terms above which two sentences say the same


@dataclass(frozen=True, slots=True)
class Scored:
    candidate: Candidate
    score: float


def choose(
    prompt: Prompt, candidates: Sequence[Candidate], similarity: Similarity
) -> list[Candidate]:
    """One to four sentences to quote: the best page first, in reading order within a page."""
    question = Question(prompt.query, prompt.passages)
    candidates = [_with_fitting_term(question, candidate) for candidate in candidates]
    ranked = rank(prompt, candidates, similarity)
    chosen: list[Candidate] = []
    for one in ranked:
        if one.score < ENOUGH * ranked[0].score or len(chosen) == MAX_SENTENCES:
            break
        if not any(_says_the_same(one.candidate, other) for other in chosen):
            chosen.append(one.candidate)
    return _in_reading_order(chosen)


def rank(prompt: Prompt, candidates: Sequence[Candidate], similarity: Similarity) -> list[Scored]:
    """The sentences of the shortlist, best first; ties in reading order."""
    question = Question(prompt.query, prompt.passages)
    plain = [
        COVERAGE * _coverage(question, candidates, at)
        + STANDING * _standing(candidate)
        + DEFINES * _defines(question, candidates, at)
        for at, candidate in enumerate(candidates)
    ]
    order = sorted(range(len(candidates)), key=lambda at: (-plain[at], at))[:SHORTLIST]
    close = similarity(prompt.query, [_in_context(candidates[at]) for at in order])
    scored = []
    for rank, at in enumerate(order):
        score = plain[at] + CLOSENESS * max(0.0, close[rank]) if close else plain[at]
        scored.append(Scored(candidates[at], score * _fitness(candidates[at])))
    return sorted(scored, key=lambda one: -one.score)


def _with_fitting_term(question: Question, candidate: Candidate) -> Candidate:
    """A short line that has nothing to do with the question is no term: "See also", a cell."""
    term = candidate.term
    if not term or kind_of(term) is Kind.TERM or question.words_in(term, candidate.language):
        return candidate
    return replace(candidate, term="")


def _coverage(question: Question, candidates: Sequence[Candidate], at: int) -> float:
    """The share of the question that a sentence with its surroundings speaks about."""
    candidate = candidates[at]
    beside = [
        other.text
        for other in (*candidates[max(0, at - 1) : at], *candidates[at + 1 : at + 2])
        if (other.passage, other.block) == (candidate.passage, candidate.block)
    ]
    places = (
        (1.0, [candidate.text]),
        (IN_TERM, [candidate.term]),
        (IN_SECTION, candidate.section),
        (IN_NEIGHBOUR, beside),
        (IN_TITLE, [candidate.title]),
    )
    worths = [0.0] * len(question.weights)
    for worth, texts in reversed(places):
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


def _standing(candidate: Candidate) -> float:
    return 1 / (1 + STANDING_FALL * candidate.passage)


def _fitness(candidate: Candidate) -> float:
    """Less for what reads badly alone."""
    length = len(candidate.text)
    return 0.85 if length < 30 else 0.9 if length > 400 else 1.0


def _in_context(candidate: Candidate) -> str:
    about = candidate.term or (candidate.section[-1] if candidate.section else candidate.title)
    return f"{about}: {candidate.text}"


def _says_the_same(one: Candidate, other: Candidate) -> bool:
    ours = terms_of(one.text, one.language)
    theirs = terms_of(other.text, other.language)
    return len(ours & theirs) > SAME * min(len(ours), len(theirs))


def _in_reading_order(chosen: Sequence[Candidate]) -> list[Candidate]:
    """Pages by their best sentence; sentences of one page as they stand there."""
    pages = list(dict.fromkeys(candidate.number for candidate in chosen))
    return sorted(
        chosen, key=lambda one: (pages.index(one.number), one.passage, one.block, one.position)
    )
