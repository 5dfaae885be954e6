"""Reasoning never appears as answer, wherever a server puts it."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chats.generation.base import Finished, StopReason
from chats.generation.errors import ModelError
from chats.generation.openai_compatible.reasoning import ReasoningFilter
from tests.chats.generation.openai_parts import hear, model_at
from tests.upstream import DONE, HEAD, answer, chunk, finish, thought, token, upstream

CASES = [
    ("<think>secret</think>\n\nThe answer.", "The answer."),
    ("\n <think>\nsecret\n</think> The answer.", "The answer."),
    ("<think></think>\n<think>secret</think>The answer.", "The answer."),
    ("<thinking>secret</thinking>The answer.", "The answer."),
    ("[THINK]secret[/THINK]The answer.", "The answer."),
    ("<think>a < b </thin </think>The answer.", "The answer."),
    ("<think>secret", ""),
    ("<think>secret</think>\n ", ""),
    ("First.\n<think>secret</think>\nThen.", "First.\n\nThen."),
    ("\n The answer.", "The answer."),
    ("The <think> tag opens, </think> closes.", "The <think> tag opens, </think> closes."),
    ("```\n<think>\nx\n</think>\n```\n", "```\n<think>\nx\n</think>\n```\n"),
    ("Write `<think>x</think>`.", "Write `<think>x</think>`."),
    ("1 <\n2 <th", "1 <\n2 <th"),
    ("a\n<thi", "a\n<thi"),
    ("<this> is no tag", "<this> is no tag"),
    ("a\n" + " " * 50 + "b", "a\n" + " " * 50 + "b"),
]


def through(parts: list[str], *, thinks_at_once: bool = False) -> str:
    reasoning = ReasoningFilter(thinks_at_once=thinks_at_once)
    return "".join([*map(reasoning.feed, parts), reasoning.rest()])


@pytest.mark.parametrize(("text", "shown"), CASES)
def test_inline_reasoning_is_taken_out_however_the_text_is_cut(text: str, shown: str) -> None:
    assert through([text]) == shown
    assert through(list(text)) == shown
    for cut in range(len(text)):
        assert through([text[:cut], text[cut:]]) == shown, cut


@given(st.sampled_from(CASES), st.lists(st.integers(0, 60), max_size=6))
def test_any_split_shows_the_same(case: tuple[str, str], cuts: list[int]) -> None:
    text, shown = case
    edges = [0, *sorted(cuts), len(text)]
    assert through([text[a:b] for a, b in pairwise(edges)]) == shown


def test_a_template_that_opens_the_tag_itself_is_understood_when_told() -> None:
    text = "secret</think>\nThe answer."
    for cut in range(len(text)):
        assert through([text[:cut], text[cut:]], thinks_at_once=True) == "The answer."


def test_text_is_passed_on_at_once_where_no_tag_can_begin() -> None:
    reasoning = ReasoningFilter()
    assert [reasoning.feed(part) for part in ("Hel", "lo ", "<", "b", "\n", "<", "u>")] == [
        *("Hel", "lo ", "<", "b", "\n", "", "<u>")
    ]


@pytest.mark.parametrize("name", ["reasoning_content", "reasoning"])
async def test_reasoning_in_a_field_of_its_own_is_not_shown(name: str) -> None:
    script = [HEAD, thought("secret", name), thought(" more", name), token("Yes."), finish(), DONE]
    with upstream(script) as server:
        heard = await hear(model_at(server))
    assert heard.texts == ["", "", "Yes."], "each thought is a sign of life"
    assert heard.finished == Finished(reason=StopReason.STOP)


async def test_reasoning_in_typed_parts_is_not_shown() -> None:
    parts = [{"type": "thinking", "thinking": [{"type": "text", "text": "secret"}]}]
    said = [{"type": "text", "text": "Yes."}]
    with upstream([HEAD, chunk({"content": parts}), chunk({"content": said}), finish()]) as server:
        heard = await hear(model_at(server))
    assert heard.texts == ["", "Yes."]


async def test_inline_reasoning_over_the_wire_is_not_shown() -> None:
    with upstream(answer("<th", "ink>sec", "ret</th", "ink>", "\n\nYes", ".")) as server:
        heard = await hear(model_at(server))
    assert heard.text == "Yes."


@pytest.mark.parametrize(
    "said",
    [[thought("secret")], [token("<think>secret")]],
    ids=["in a field", "inline"],
)
async def test_reasoning_only_with_length_is_length_without_an_answer(said: list[bytes]) -> None:
    with upstream([HEAD, *said, finish("length"), DONE]) as server:
        heard = await hear(model_at(server))
    assert heard.text == ""
    assert heard.finished == Finished(reason=StopReason.LENGTH)


async def test_reasoning_only_with_stop_is_no_usable_answer() -> None:
    with upstream([HEAD, thought("secret"), finish("stop"), DONE]) as server:
        heard = await hear(model_at(server))
    assert heard.text == ""
    assert isinstance(heard.failure, ModelError)


async def test_text_held_back_as_a_possible_tag_is_kept_when_the_reply_breaks_off() -> None:
    with upstream([HEAD, token("One\n"), token("<th")]) as server:
        heard = await hear(model_at(server))
    assert heard.text == "One\n<th"
    assert isinstance(heard.failure, ModelError)
