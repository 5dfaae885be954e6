from __future__ import annotations

import pytest

from retrieval.pipeline.base import Candidate, Prepared, Recalled
from retrieval.pipeline.fuse import fuse
from retrieval.types import Fusion, FusionMethod, Query, Unit

X, A, B, C, Y = 1, 2, 3, 4, 5


def prepared(query: Query) -> Prepared:
    return Prepared(query=query, text="q", language="en", alpha=0.5, candidate_k=10)


def recalled(
    dense: dict[int, float], sparse: dict[int, float], *, top: int = 99, alpha: float = 0.5
) -> Recalled:
    """Both legs' scores, of which each leg brings its `top` best."""
    ids = dense.keys() | sparse.keys()
    return Recalled(
        dense=tuple(sorted(dense.items(), key=lambda pair: -pair[1])[:top]),
        sparse=tuple(sorted(sparse.items(), key=lambda pair: -pair[1])[:top]),
        candidates={
            id_: Candidate(
                chunk_id=id_, page_id=id_ // 2, dense=dense.get(id_), sparse=sparse.get(id_)
            )
            for id_ in sorted(ids)
        },
        alpha=alpha,
    )


def order(query: Query, found: Recalled) -> list[int]:
    return [candidate.chunk_id for candidate in fuse(prepared(query), found)]


def test_rrf_favours_what_both_legs_found() -> None:
    found = recalled({X: 0.9, A: 0.8, Y: 0.7}, {B: 9.0, C: 8.0, Y: 7.0})
    query = Query(text="q", fusion=Fusion(method=FusionMethod.RRF))
    assert order(query, found)[0] == Y
    assert order(query, found) == order(query, found)


def test_convex_knows_the_scores_beyond_a_legs_best() -> None:
    found = recalled({X: 0.9, Y: 0.8}, {X: 0.0, Y: 9.0}, top=1)
    assert order(Query(text="q"), found) == [Y, X]


def test_a_single_leg_keeps_its_order() -> None:
    found = recalled({}, {A: 3.0, B: 9.0, C: 5.0}, alpha=0.0)
    for method in FusionMethod:
        query = Query(text="q", fusion=Fusion(method=method))
        assert order(query, found) == [B, C, A]


def test_weights_are_for_the_legs() -> None:
    found = recalled({X: 0.9, Y: 0.1}, {Y: 9.0, X: 1.0})
    fusion = Fusion(method=FusionMethod.WEIGHTED, weights={"dense": 0.1, "sparse": 1.0})
    assert order(Query(text="q", fusion=fusion), found) == [Y, X]


def test_unit_document_keeps_the_best_of_each_page() -> None:
    found = recalled({A: 0.9, B: 0.8, C: 0.7}, {})
    assert order(Query(text="q", unit=Unit.DOCUMENT), found) == [A, C]


@pytest.mark.parametrize("method", list(FusionMethod))
def test_nothing_recalled_is_nothing_fused(method: FusionMethod) -> None:
    assert order(Query(text="q", fusion=Fusion(method=method)), recalled({}, {})) == []
