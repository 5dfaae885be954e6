"""First step: any text → a query that is safe to search for, with its language.

Below: index.analysis, embedding, conf. Above: run.
"""

from __future__ import annotations

from collections.abc import Sequence

from fastrag_site.conf import conf
from retrieval.embedding import embedder
from retrieval.embedding.base import Embedder, cosine_range
from retrieval.index.analysis import DEFAULT_LANGUAGE, query_terms, spoken_language
from retrieval.index.words import forms
from retrieval.ingest.language import guess
from retrieval.pipeline.base import Prepared
from retrieval.types import Mode, Query

# Languages whose script says who they are; among the others stop words decide.
_BY_SCRIPT = frozenset(
    ("ar", "bn", "el", "fa", "he", "hi", "hy", "ja", "ka", "km", "ko", "lo", "my", "ru", "ta")
).union(("te", "th", "uk", "zh"))


def transform(query: Query, *, indexed: Sequence[str]) -> Prepared | None:
    """None where there is nothing to look for. `indexed`: languages, most frequent first."""
    text = " ".join(query.text[: conf().query_max_chars].replace("\0", " ").split())
    text = text.encode("utf-8", "ignore").decode()
    if not query_terms(text, indexed):
        return None
    language = query_language(text, indexed)
    model = None if query.mode is Mode.SPARSE else embedder()
    k = max(1, min(query.k, conf().search_max_k))
    return Prepared(
        query=query,
        text=text,
        language=language,
        alpha=_alpha(query, model, language),
        candidate_k=max(k + len(query.exclude), query.candidate_k or conf().candidate_k),
        cosine_range=cosine_range(model) if model and model.weight(language) else None,
    )


def query_language(text: str, indexed: Sequence[str]) -> str:
    """By script, else by stop words among the indexed languages, else the most frequent one."""
    if by_script := guess([text]):
        return by_script
    spelled = [language for language in indexed if language not in _BY_SCRIPT]
    candidates = dict.fromkeys([*spelled, DEFAULT_LANGUAGE])
    return spoken_language(forms(text, query=True), list(candidates))


def _alpha(query: Query, model: Embedder | None, language: str) -> float:
    if query.mode is Mode.DENSE:
        return 1.0
    if model is None:
        return 0.0
    if query.fusion.alpha is not None:
        return query.fusion.alpha
    return conf().fusion_alpha * model.weight(language)
