from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retrieval.rcp.fusion import (
    convex_fuse,
    rank_convex,
    rank_rrf,
    rank_weighted,
    rrf_fuse,
    weighted_fuse,
)

rankings = st.fixed_dictionaries(
    {
        leg: st.lists(
            st.tuples(st.integers(0, 20), st.floats(-1, 30)), unique_by=lambda pair: pair[0]
        ).map(lambda pairs: sorted(pairs, key=lambda pair: -pair[1]))
        for leg in ("dense", "sparse")
    }
)
every_method = pytest.mark.parametrize("rank", [rank_rrf, rank_weighted, rank_convex])


def test_rrf_sums_weight_over_k_plus_rank_counted_from_one() -> None:
    fused = dict(rank_rrf({"dense": [("x", 0.9), ("y", 0.1)], "sparse": [("y", 4.0)]}))
    assert fused == {"x": 1 / 61, "y": pytest.approx(1 / 62 + 1 / 61)}


def test_rrf_puts_a_document_of_both_lists_above_the_tops_of_each() -> None:
    dense = [("X", 0.9), ("a", 0.8), ("Y", 0.7)]
    sparse = [("b", 9.0), ("c", 8.0), ("Y", 7.0)]
    assert rank_rrf({"dense": dense, "sparse": sparse})[0][0] == "Y"


def test_rrf_weights_scale_a_whole_list() -> None:
    fused = rank_rrf(
        {"dense": [("d", 1.0)], "sparse": [("s", 1.0)]}, weights={"sparse": 2.0, "dense": 1.0}
    )
    assert [id_ for id_, _ in fused] == ["s", "d"]


def test_weighted_stretches_each_list_to_zero_and_one_first() -> None:
    fused = dict(
        rank_weighted(
            {"dense": [("a", 0.9), ("b", 0.8)], "sparse": [("b", 40.0), ("a", 10.0)]},
            weights={"dense": 0.3, "sparse": 0.7},
        )
    )
    assert fused == {"a": pytest.approx(0.3), "b": pytest.approx(0.7)}


def test_weighted_counts_a_list_of_equal_scores_in_full() -> None:
    assert rank_weighted({"dense": [("a", 0.5), ("b", 0.5)]}) == [("a", 1.0), ("b", 1.0)]


def test_convex_anchors_dense_at_minus_one_and_sparse_at_zero() -> None:
    fused = dict(
        rank_convex(
            {"dense": [("a", 1.0), ("b", 0.0)], "sparse": [("c", 8.0), ("b", 2.0)]}, alpha=0.5
        )
    )
    assert fused == {"a": 0.5, "b": pytest.approx(0.25 + 0.125), "c": 0.5}


def test_convex_with_alpha_zero_is_the_sparse_order() -> None:
    fused = rank_convex({"dense": [(1, 0.9)], "sparse": [(2, 5.0), (3, 4.0)]}, alpha=0.0)
    assert [id_ for id_, _ in fused] == [2, 3, 1]


def test_convex_refuses_an_alpha_outside_the_unit_interval_and_a_strange_ranking() -> None:
    with pytest.raises(ValueError, match="alpha"):
        rank_convex({}, alpha=1.5)
    with pytest.raises(ValueError, match="graph"):
        rank_convex({"graph": [(1, 1.0)]})


@pytest.mark.parametrize("weight", [-1.0, math.nan, math.inf])
def test_weights_must_be_finite_and_not_negative(weight: float) -> None:
    with pytest.raises(ValueError, match="weights"):
        rank_rrf({"dense": [(1, 1.0)]}, weights={"dense": weight})


def test_a_tie_goes_to_the_higher_summed_weight() -> None:
    # Both score 1/61: once by one full weight, once by two shares in later ranks.
    fused = rank_rrf(
        {"a": [("one", 1.0)], "b": [("two", 1.0)], "c": [("two", 1.0)]},
        weights={"a": 1.0, "b": 1.0, "c": 0.0},
    )
    assert [id_ for id_, _ in fused] == ["one", "two"]
    heavier = rank_convex({"dense": [("z", -1.0)], "sparse": [("a", 0.0)]}, alpha=0.9)
    assert heavier == [("z", 0.0), ("a", 0.0)]


def test_a_tie_of_weights_goes_to_the_smaller_id_as_a_string() -> None:
    fused = rank_rrf({"dense": [(9, 1.0)], "sparse": [(10, 1.0)]})
    assert [id_ for id_, _ in fused] == [10, 9]


def test_equal_ranks_in_three_lists_tie_whatever_their_order() -> None:
    lists = {
        "a": [("x", 1.0), ("y", 1.0), ("z", 1.0)],
        "b": [("y", 1.0), ("z", 1.0), ("x", 1.0)],
        "c": [("z", 1.0), ("x", 1.0), ("y", 1.0)],
    }
    fused = rank_rrf(lists, rrf_k=1)
    assert [id_ for id_, _ in fused] == ["x", "y", "z"]
    assert len({score for _, score in fused}) == 1


@every_method
@settings(max_examples=40)
@given(lists=rankings)
def test_the_order_of_the_lists_does_not_matter(rank, lists) -> None:  # type: ignore[no-untyped-def]
    assert rank(lists) == rank(dict(reversed(lists.items())))


@every_method
@settings(max_examples=40)
@given(lists=rankings)
def test_scores_fall_and_every_document_appears_once(rank, lists) -> None:  # type: ignore[no-untyped-def]
    fused = rank(lists)
    ids = [id_ for id_, _ in fused]
    scores = [score for _, score in fused]
    assert sorted(ids) == sorted({id_ for pairs in lists.values() for id_, _ in pairs})
    assert scores == sorted(scores, reverse=True)
    assert rank(lists, k=3) == fused[:3]


@every_method
def test_a_score_that_is_not_finite_never_gets_out(rank) -> None:  # type: ignore[no-untyped-def]
    fused = rank({"dense": [("a", math.inf), ("b", 0.5), ("c", math.nan)], "sparse": []})
    assert all(math.isfinite(score) for _, score in fused)


@every_method
def test_a_repeated_id_counts_once_at_its_best_rank(rank) -> None:  # type: ignore[no-untyped-def]
    assert rank({"dense": [("a", 0.9), ("b", 0.5), ("a", 0.4)]}) == rank(
        {"dense": [("a", 0.9), ("b", 0.5)]}
    )


@pytest.mark.parametrize("fuse", [rrf_fuse, weighted_fuse, convex_fuse])
def test_fused_hits_keep_their_fields_and_the_score_of_each_list(fuse) -> None:  # type: ignore[no-untyped-def]
    dense = [{"id": "a", "score": 0.9, "text": "alpha"}]
    sparse = [{"id": "a", "score": 7.0, "meta": {"lang": "en"}}, {"id": "b", "score": 2.0}]
    first, second = fuse({"dense": dense, "sparse": sparse}, k=2)
    assert first["id"] == "a"
    assert first["text"] == "alpha" and first["meta"] == {"lang": "en"}
    assert first["scores"] == {"dense": 0.9, "sparse": 7.0}
    assert second["scores"] == {"sparse": 2.0}
    assert dense == [{"id": "a", "score": 0.9, "text": "alpha"}]


def test_hits_without_scores_can_be_fused_by_rank() -> None:
    fused = rrf_fuse({"dense": [{"id": "a"}, {"id": "b"}], "sparse": [{"id": "b"}]}, k=1)
    assert fused == [{"id": "b", "score": pytest.approx(1 / 62 + 1 / 61), "scores": {}}]
