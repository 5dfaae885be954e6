from __future__ import annotations

import numpy as np
import pytest

from retrieval.pipeline.mmr import overlaps, select


def chosen(scores: list[float], alike: list[list[float]], *, k: int, weight: float) -> list[int]:
    return select(np.array(scores, np.float32), np.array(alike, np.float32), k=k, weight=weight)


TWINS = [[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 1.0]]


def test_a_repeat_loses_its_place_to_something_new() -> None:
    assert chosen([1.0, 0.95, 0.7], TWINS, k=2, weight=0.7) == [0, 2]


def test_relevance_alone_keeps_the_repeat() -> None:
    assert chosen([1.0, 0.95, 0.7], TWINS, k=2, weight=1.0) == [0, 1]


def test_what_is_far_less_relevant_is_not_chosen_for_being_new() -> None:
    assert chosen([1.0, 0.95, 0.1], TWINS, k=2, weight=0.7) == [0, 1]


def test_negative_scores_keep_their_order() -> None:
    assert chosen([-1.0, -2.0, -9.0], np.eye(3).tolist(), k=2, weight=0.7) == [0, 1]


def test_the_best_is_always_first() -> None:
    assert chosen([0.2, 0.9, 0.4], np.eye(3).tolist(), k=3, weight=0.1)[0] == 1


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("brew the coffee slowly", "brew the coffee slowly", True),
        ("brew the coffee slowly", "paint a wall white", False),
        ("brew the coffee slowly", "the coffee is cold", False),
        ("用户身份验证的方法和步骤", "用户身份验证的方法和步骤", True),
        ("用户身份验证的方法和步骤", "其他文字没有相同的内容", False),
        ("", "", False),
    ],
)
def test_texts_are_the_same_by_their_words_or_pairs(one: str, other: str, same: bool) -> None:
    assert overlaps([one, other])[0, 1] == (1.0 if same else 0.0)
