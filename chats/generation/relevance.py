"""Which sentences to quote. Below: scoring, matching. Above: extractive."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from chats.generation.base import Prompt
from chats.generation.candidates import Candidate, Kind, kind_of
from chats.generation.matching import Question, terms_of
from chats.generation.scoring import Scored, Similarity, rank

MAX_SENTENCES = 4
ENOUGH = 0.8  # of the best sentence's score: as good as this is quoted too
CONTINUES = 1.25  # what it counts for that a sentence stands beside a chosen one
SAME = 0.75  # share of common terms above which two sentences say the same


def choose(
    prompt: Prompt, candidates: Sequence[Candidate], similarity: Similarity
) -> list[Candidate]:
    """One to four sentences to quote: the best page first, in reading order within a page."""
    question = Question(prompt.query, prompt.passages)
    candidates = [_with_fitting_term(question, candidate) for candidate in candidates]
    left = rank(question, prompt, candidates, similarity)
    least = ENOUGH * left[0].score if left else 0.0
    chosen: list[Candidate] = []
    while left and len(chosen) < MAX_SENTENCES:
        best = max(left, key=lambda one: _worth(one, chosen))
        if chosen and _worth(best, chosen) < least:
            break
        chosen.append(best.candidate)
        left = [one for one in left if not _say_the_same(one.candidate, best.candidate)]
    return _in_reading_order(chosen)


def _with_fitting_term(question: Question, candidate: Candidate) -> Candidate:
    """A short line that has nothing to do with the question is no term: "See also", a cell."""
    term = candidate.term
    if not term or kind_of(term) is Kind.TERM or question.words_in(term, candidate.language):
        return candidate
    return replace(candidate, term="")


def _worth(one: Scored, chosen: Sequence[Candidate]) -> float:
    beside = any(_are_neighbours(one.candidate, other) for other in chosen)
    return one.score * CONTINUES if beside else one.score


def _are_neighbours(one: Candidate, other: Candidate) -> bool:
    same_block = (one.passage, one.block) == (other.passage, other.block)
    return same_block and abs(one.position - other.position) == 1


def _say_the_same(one: Candidate, other: Candidate) -> bool:
    if one == other:
        return True
    ours = terms_of(one.text, one.language)
    theirs = terms_of(other.text, other.language)
    return len(ours & theirs) > SAME * min(len(ours), len(theirs))


def _in_reading_order(chosen: Sequence[Candidate]) -> list[Candidate]:
    """Pages by their best sentence; sentences of one page as they stand there."""
    pages = list(dict.fromkeys(candidate.number for candidate in chosen))
    return sorted(
        chosen, key=lambda one: (pages.index(one.number), one.passage, one.block, one.position)
    )
