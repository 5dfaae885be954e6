from __future__ import annotations

from unittest import mock

from retrieval.index.merging import SAME_SIZE, Sized, plan, plan_small


def segments(*lives: int, total: int | None = None) -> list[Sized]:
    return [Sized(pk, total or live, live) for pk, live in enumerate(lives, 1)]


def test_few_segments_of_a_size_stay_apart() -> None:
    assert plan_small(segments(*[3] * (SAME_SIZE - 1), 100), below=512) == []


def test_segments_of_one_size_are_merged_when_there_are_many() -> None:
    (group,) = plan_small(segments(*[3] * SAME_SIZE, 100), below=512)
    assert group == list(range(1, SAME_SIZE + 1))


def test_a_write_never_merges_large_segments() -> None:
    assert plan_small(segments(*[600] * 20), below=512) == []


def test_the_small_rest_is_joined() -> None:
    assert plan(segments(10_000, 5, 40, 300)) == [[2, 3, 4]]


def test_one_small_segment_beside_a_large_one_is_left_alone() -> None:
    assert plan(segments(10_000, 5)) == []


def test_a_mostly_dead_segment_is_rewritten() -> None:
    assert plan([Sized(1, 1_000, 600), Sized(2, 9_000, 9_000)]) == [[1]]


def test_no_merge_exceeds_the_largest_size() -> None:
    with mock.patch("retrieval.index.merging.LARGEST_CHUNKS", 1_000):
        groups = plan(segments(*[300] * SAME_SIZE))
    assert [len(group) for group in groups] == [3, 3, 2]
