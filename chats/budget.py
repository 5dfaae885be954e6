"""Cuts a prompt to its model's context window. Pure, but takes processor time.

Below: generation.base, tokens. Above: writing. Lowest-ranked passages go first, then the oldest
turns; before that, turns that alone would leave the passages no room.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import replace

from chats import tokens
from chats.generation.base import ChatModel, Prompt, Size, Sized, Turn
from chats.generation.errors import ContextTooLong

HISTORY_SHARE = 0.5  # of the room, for earlier turns, so that a long chat can still be answered


def fitted(prompt: Prompt, model: ChatModel) -> Prompt:
    """The prompt as far as it fits. Raises ContextTooLong.

    Between what is likely too long and what certainly is, the model's server decides.
    """
    if not isinstance(model, Sized):
        return prompt
    measure = model.size
    room = measure(replace(prompt, history=(), passages=())).room
    prompt = replace(prompt, history=latest(prompt.history, round(room * HISTORY_SHARE)))
    prompt = _with_passages(prompt, measure)
    prompt = _with_turns(prompt, measure)
    size = measure(prompt)
    if size.least > size.room:
        raise ContextTooLong
    return prompt


def latest(history: Sequence[Turn], room: int) -> tuple[Turn, ...]:
    """The last turns that fit; the last one in any case."""
    kept: list[Turn] = []
    for turn in reversed(history):
        room -= sum(tokens.estimate(text) for text in (turn.question, turn.answer))
        room -= 2 * tokens.A_MESSAGE
        if room < 0 and kept:
            break
        kept.append(turn)
    return tuple(reversed(kept))


def _with_passages(prompt: Prompt, measure: Callable[[Prompt], Size]) -> Prompt:
    """With as many of the best passages as fit, and the best one in any case."""

    def cut(count: int) -> Prompt:
        return replace(prompt, passages=prompt.passages[:count])

    least = min(1, len(prompt.passages))
    return cut(_most(least, len(prompt.passages), lambda count: _fits(measure(cut(count)))))


def _with_turns(prompt: Prompt, measure: Callable[[Prompt], Size]) -> Prompt:
    turns = len(prompt.history)

    def cut(count: int) -> Prompt:
        return replace(prompt, history=prompt.history[turns - count :])

    return cut(_most(0, turns, lambda count: _fits(measure(cut(count)))))


def _most(least: int, most: int, fits: Callable[[int], bool]) -> int:
    """The largest number that fits, from `least`, which need not."""
    above = range(least + 1, most + 1)
    return least + bisect_left(above, True, key=lambda count: not fits(count))


def _fits(size: Size) -> bool:
    return size.likely <= size.room
