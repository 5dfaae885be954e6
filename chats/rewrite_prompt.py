"""The messages that ask a chat model to make a follow-up stand alone. Pure.

Below: generation.templates. Above: rewriting. Shown examples, even a model of 135 million weights
can do it, and with instructions alone it cannot. They come first and never change, so that servers
that remember the beginning of a prompt need not read them again.
"""

from __future__ import annotations

from collections.abc import Sequence

from chats.generation.base import Turn
from chats.generation.templates import quoted, rewrite_text

TURNS = 3
QUESTION_CHARS = 300  # of an earlier question
ANSWER_CHARS = 160


def _turn(question: str, answer: str) -> Turn:
    return Turn(question=question, answer=answer)


EXAMPLES: Sequence[tuple[Sequence[Turn], str, str]] = (
    (
        [_turn("How tall is the Eiffel Tower?", "The Eiffel Tower is 330 metres tall.")],
        "and who built it?",
        "Who built the Eiffel Tower?",
    ),
    (
        [
            _turn("Where do I renew my passport?", "At the town hall."),
            _turn("and for children?", "At the town hall as well."),
        ],
        "How much does that cost?",
        "How much does it cost to renew a passport for children?",
    ),
    (
        [_turn("Is the museum open on Monday?", "No, it is closed.")],
        "why?",
        "Why is the museum closed on Monday?",
    ),
    (
        [_turn("How do I bake bread?", "Mix flour, water, salt and yeast.")],
        "How do I repair a bicycle tyre?",
        "How do I repair a bicycle tyre?",
    ),
    (
        [_turn("How do I grow tomatoes?", "Sow them in March. Shall I tell how to water them?")],
        "yes, please",
        "How do I water tomatoes?",
    ),
)


def messages_for(question: str, turns: Sequence[Turn]) -> list[dict[str, str]]:
    messages = [{"role": "system", "content": rewrite_text()}]
    for earlier, asked, standing_alone in EXAMPLES:
        messages.append({"role": "user", "content": _told(asked, earlier)})
        messages.append({"role": "assistant", "content": standing_alone})
    return [*messages, {"role": "user", "content": _told(question, turns[-TURNS:])}]


def _told(question: str, turns: Sequence[Turn]) -> str:
    """A line each, and answers in parentheses: what was said cannot begin a line of its own."""
    lines = []
    for turn in turns:
        lines += [_line(turn.question, QUESTION_CHARS), f"({_line(turn.answer, ANSWER_CHARS)})"]
    return "\n".join([*lines, _line(question, len(question))])


def _line(text: str, most: int) -> str:
    """Its beginning and its end, where offers stand."""
    text = " ".join(text.split())
    if len(text) > most:
        text = f"{text[: most // 2]} … {text[-most // 2 :]}"
    return quoted(text)
