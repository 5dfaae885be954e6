"""Prompt → the messages of Chat Completions. Pure, and mechanical: it chooses and cuts nothing.

Below: templates, tokens. Above: model.
"""

from __future__ import annotations

from openai.types.chat import ChatCompletionMessageParam

from chats import tokens
from chats.generation.base import Prompt
from chats.generation.templates import system_text

TOKENS_BESIDE = 16  # for what chat templates put around all


def messages_from(prompt: Prompt) -> list[ChatCompletionMessageParam]:
    """Turns without an answer are left out: many chat templates want strict alternation."""
    found: list[ChatCompletionMessageParam] = [
        {"role": "system", "content": system_text(prompt.passages)}
    ]
    for turn in prompt.history:
        if turn.question.strip() and turn.answer.strip():
            found.append({"role": "user", "content": turn.question})
            found.append({"role": "assistant", "content": turn.answer})
    found.append({"role": "user", "content": prompt.question})
    return found


def likely_tokens(messages: list[ChatCompletionMessageParam]) -> int:
    """Rather more than a tokenizer would count."""
    return TOKENS_BESIDE + sum(
        tokens.estimate(text) + tokens.A_MESSAGE for text in _texts(messages)
    )


def least_tokens(messages: list[ChatCompletionMessageParam]) -> int:
    """Fewer than any usual tokenizer would count."""
    return sum(map(tokens.least, _texts(messages)))


def _texts(messages: list[ChatCompletionMessageParam]) -> list[str]:
    return [str(message.get("content") or "") for message in messages]
