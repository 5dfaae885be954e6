"""What goes when a prompt does not fit: lowest-ranked passages, then the oldest turns."""

from __future__ import annotations

from dataclasses import replace

import pytest

from chats.budget import HISTORY_SHARE, fitted, latest
from chats.generation.base import Prompt, Turn
from chats.generation.errors import ContextTooLong
from chats.generation.openai_compatible import OpenAICompatibleModel
from tests.chats.generation.openai_parts import model_at, passage, prompt, turn
from tests.chats.parts import ScriptedModel

WORDS = "All the water of the oceans rises and falls with the moon. "


def model(window: int) -> OpenAICompatibleModel:
    return model_at("http://127.0.0.1:9/v1", context_window=window, max_tokens=100)


def asked(passages: int, turns: int, question: str = "Why?") -> Prompt:
    return prompt(
        question,
        passages=tuple(passage(WORDS * 5, number) for number in range(1, passages + 1)),
        history=tuple(turn(f"Question {n}?", WORDS * 2) for n in range(turns)),
    )


def window_for(wanted: Prompt) -> int:
    return model(10_000).size(wanted).likely + 100


def test_what_fits_is_left_alone() -> None:
    wanted = asked(8, 4)
    assert fitted(wanted, model(100_000)) == wanted


def test_the_lowest_ranked_passages_go_first() -> None:
    wanted = asked(8, 2)
    enough = replace(wanted, passages=wanted.passages[:5])
    assert fitted(wanted, model(window_for(enough))) == enough
    less = fitted(wanted, model(window_for(enough) - 1))
    assert less == replace(wanted, passages=wanted.passages[:4])


def test_then_the_oldest_turns_go() -> None:
    wanted = asked(8, 3)
    enough = replace(wanted, passages=wanted.passages[:1], history=wanted.history[1:])
    assert fitted(wanted, model(window_for(enough))) == enough


def test_the_best_passage_stays_with_the_question() -> None:
    wanted = asked(8, 3)
    enough = replace(wanted, passages=wanted.passages[:1], history=())
    assert fitted(wanted, model(window_for(enough))) == enough


def test_a_long_chat_leaves_half_of_the_room_to_the_passages() -> None:
    wanted = asked(8, 200)
    kept = fitted(wanted, model(4_900))
    assert len(kept.passages) == 8
    assert kept.history == wanted.history[-len(kept.history) :]
    assert len(latest(wanted.history, 4_800 // 2)) == len(kept.history) > 10


def test_fifty_big_passages_are_cut_to_those_that_fit() -> None:
    kept = fitted(asked(50, 0), model(4_000))
    assert [one.number for one in kept.passages] == list(range(1, len(kept.passages) + 1))
    assert 20 < len(kept.passages) < 50


def test_the_last_turn_is_kept_however_long_it_is_while_there_is_room() -> None:
    turns = [turn("One?", "1"), turn("Two?", WORDS * 100)]
    assert latest(turns, 10) == (turns[1],)


def test_a_question_that_cannot_fit_with_the_best_passage_is_refused() -> None:
    with pytest.raises(ContextTooLong):
        fitted(asked(8, 3, WORDS * 200), model(1_000))


@pytest.mark.parametrize("text", ["為什麼海水每天漲落兩次？" * 60, WORDS * 60])
def test_a_question_that_may_fit_is_left_to_the_server(text: str) -> None:
    kept = fitted(asked(8, 3, text), model(1_000))
    assert (len(kept.passages), kept.history) == (1, ())


def test_chinese_passages_are_counted_as_what_they_are() -> None:
    chinese = tuple(passage("月亮吸引海水，所以每天有兩次漲潮。" * 20, n) for n in range(1, 9))
    kept = fitted(prompt(passages=chinese), model(3_000))
    characters = sum(len(one.text) for one in kept.passages)
    assert 0 < characters < 3_000 / 1.2


def test_without_passages_turns_go_alone() -> None:
    wanted = asked(0, 3)
    assert fitted(wanted, model(window_for(replace(wanted, history=wanted.history[1:])))) == (
        replace(wanted, history=wanted.history[1:])
    )


def test_a_model_without_a_window_is_given_everything() -> None:
    wanted = asked(50, 100)
    assert fitted(wanted, ScriptedModel()) == wanted


def test_no_turns_are_no_problem() -> None:
    assert latest([], 10) == ()
    assert HISTORY_SHARE < 1
    assert latest([Turn(question="", answer="")], 0) != ()
