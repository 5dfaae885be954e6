"""Which words of a question a text holds, by the index's own analysis. Pure.

Below: retrieval.index.analysis. Above: relevance.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from chats.generation.base import Passage
from retrieval.index.analysis import document_terms, query_terms


class Question:
    """The words of a question, each with its weight; weights add up to 1, unless there are none."""

    def __init__(self, text: str, passages: Sequence[Passage]) -> None:
        languages = {passage.language for passage in passages}
        self._words = [set(term.variants) for term in query_terms(text, languages)]
        self._seen: dict[tuple[str, str], frozenset[int]] = {}
        self.weights = self._weigh(passages)

    def words_in(self, text: str, language: str) -> frozenset[int]:
        """The positions of the question's words that occur in a text."""
        key = (text, language)
        if key not in self._seen:
            terms = terms_of(text, language)
            self._seen[key] = frozenset(
                at for at, variants in enumerate(self._words) if not variants.isdisjoint(terms)
            )
        return self._seen[key]

    def _weigh(self, passages: Sequence[Passage]) -> list[float]:
        """A word that few of the passages hold tells more than one that all of them hold."""
        held = [self.words_in(passage.text, passage.language) for passage in passages]
        raw = [
            math.log(1 + (len(passages) + 1) / (sum(at in words for words in held) + 0.5))
            for at in range(len(self._words))
        ]
        total = sum(raw)
        return [weight / total for weight in raw]


def terms_of(text: str, language: str) -> frozenset[str]:
    counts, _ = document_terms(text, language)
    return frozenset(counts)
