"""How well each sentence answers the question, and which to quote. Pure but for `similarity`.

Below: candidates, the index's tokens. Above: extractive.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from chats.generation.base import Passage, Prompt
from chats.generation.candidates import Candidate
from chats.generation.terms import content_terms

# How close each text is to the question, in [-1, 1]; None where no embedder is at hand.
Similarity = Callable[[str, Sequence[str]], Sequence[float] | None]

MAX_SENTENCES = 4
SHORTLIST = 24  # sentences whose similarity is computed

# Shares of a sentence's score. Tuned on questions about the Python documentation.
COVERAGE, CLOSENESS, STANDING = 0.45, 0.40, 0.15
# What a question term is worth where it stands beside the sentence instead of in it.
IN_TERM, IN_NEIGHBOUR, IN_SECTION, IN_TITLE = 0.8, 0.35, 0.5, 0.3
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
    if not candidates:
        return []
    ranked = rank(prompt, candidates, similarity)
    chosen: list[Scored] = []
    for one in ranked:
        if one.score < ENOUGH * ranked[0].score or len(chosen) == MAX_SENTENCES:
            break
        if not any(_says_the_same(one.candidate, other.candidate) for other in chosen):
            chosen.append(one)
    return _in_reading_order([one.candidate for one in chosen])


def rank(prompt: Prompt, candidates: Sequence[Candidate], similarity: Similarity) -> list[Scored]:
    """Best first; ties in reading order."""
    weights = _term_weights(prompt.query, prompt.passages)
    covered = [
        _coverage(candidate, candidates, at, weights) for at, candidate in enumerate(candidates)
    ]
    standing = [1 / (1 + 0.25 * candidate.passage) for candidate in candidates]
    base = [
        COVERAGE * cover + STANDING * stand for cover, stand in zip(covered, standing, strict=True)
    ]
    order = sorted(range(len(candidates)), key=lambda at: (-base[at], at))
    shortlist = order[:SHORTLIST]
    texts = [_in_context(candidates[at]) for at in shortlist]
    close = similarity(prompt.query, texts)
    if close is None:
        scored = [Scored(candidates[at], base[at] / (1 - CLOSENESS)) for at in order]
    else:
        scored = [
            Scored(candidates[at], base[at] + CLOSENESS * max(0.0, near))
            for at, near in zip(shortlist, close, strict=True)
        ]
    return sorted(scored, key=lambda one: -one.score * _fitness(one.candidate))


def _term_weights(question: str, passages: Sequence[Passage]) -> dict[str, float]:
    """How much each term of the question tells: rare ones among the passages tell more."""
    found = Counter(
        term for passage in passages for term in set(content_terms(passage.text, passage.language))
    )
    language = passages[0].language if passages else ""
    weights = {
        term: math.log(1 + (len(passages) + 1) / (found[term] + 0.5))
        for term in content_terms(question, language)
    }
    total = sum(weights.values())
    return {term: weight / total for term, weight in weights.items()} if total else {}


def _coverage(
    candidate: Candidate,
    candidates: Sequence[Candidate],
    at: int,
    weights: Mapping[str, float],
) -> float:
    """The share of the question that a sentence with its surroundings speaks about."""
    neighbours = " ".join(
        other.text
        for other in (*candidates[max(0, at - 1) : at], *candidates[at + 1 : at + 2])
        if (other.passage, other.block) == (candidate.passage, candidate.block)
    )
    places = (
        (1.0, candidate.text),
        (IN_TERM, candidate.term),
        (IN_SECTION, " ".join(candidate.section)),
        (IN_NEIGHBOUR, neighbours),
        (IN_TITLE, candidate.title),
    )
    terms = [(worth, set(content_terms(text, candidate.language))) for worth, text in places]
    return sum(
        weight * max((worth for worth, there in terms if term in there), default=0.0)
        for term, weight in weights.items()
    )


def _fitness(candidate: Candidate) -> float:
    """Less for what reads badly alone: fragments, very long sentences, pointers back."""
    length = len(candidate.text)
    fit = 1.0
    if length < 30:
        fit *= 0.85
    if length > 400:
        fit *= 0.9
    return fit


def _in_context(candidate: Candidate) -> str:
    about = candidate.term or (candidate.section[-1] if candidate.section else candidate.title)
    return f"{about}: {candidate.text}"


def _says_the_same(one: Candidate, other: Candidate) -> bool:
    ours = set(content_terms(one.text, one.language))
    theirs = set(content_terms(other.text, other.language))
    return len(ours & theirs) > SAME * min(len(ours), len(theirs))


def _in_reading_order(chosen: Sequence[Candidate]) -> list[Candidate]:
    """Pages by their best sentence; sentences of one page as they stand there."""
    pages = list(dict.fromkeys(candidate.number for candidate in chosen))
    return sorted(
        chosen,
        key=lambda one: (pages.index(one.number), one.passage, one.block, one.position),
    )
