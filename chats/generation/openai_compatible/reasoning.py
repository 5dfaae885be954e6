"""Takes a model's inline reasoning out of its text, as the text streams. Pure.

Above: reading. Reasoning stands in tags of its own, at the beginning or at the start of a line. A
tag elsewhere, or in a code block, is one that the answer talks about.
"""

from __future__ import annotations

import re

_TAGS = {
    "<think>": "</think>",
    "<thinking>": "</thinking>",
    "<thought>": "</thought>",
    "<reasoning>": "</reasoning>",
    "<seed:think>": "</seed:think>",
    "[THINK]": "[/THINK]",
    "<|START_THINKING|>": "<|END_THINKING|>",
}
_OPENING = re.compile(rf"^[ \t]*({'|'.join(map(re.escape, _TAGS))})", re.MULTILINE)
_MOST_INDENTED = 20  # columns before a tag
_FENCE = "```"


class ReasoningFilter:
    """Holds back no more than what may become a tag. White space before the answer goes as well."""

    def __init__(self, *, thinks_at_once: bool = False) -> None:
        self._closing = "</think>" if thinks_at_once else ""  # the tag that ends the reasoning
        self._held = ""
        self._said = ""  # the last characters of the answer so far
        self._in_code = False

    @property
    def thinks(self) -> bool:
        return bool(self._closing)

    def feed(self, text: str) -> str:
        """What of the text is answer."""
        text = self._held + text
        self._held = ""
        answer: list[str] = []
        while text:
            if self._closing:
                text = self._skip_reasoning(text)
            else:
                found, text = self._up_to_reasoning(text)
                answer.append(found)
        return "".join(answer)

    def rest(self) -> str:
        """What was held back, when nothing follows."""
        held, self._held = self._held, ""
        return "" if self._closing else held

    def _skip_reasoning(self, text: str) -> str:
        before, tag, after = text.partition(self._closing)
        if tag:
            self._closing = ""
            return after
        self._held = before[len(before) - _overlap(before, self._closing) :]
        return ""

    def _up_to_reasoning(self, text: str) -> tuple[str, str]:
        """The answer up to the next opening tag, and what follows the tag."""
        if not self._said:
            text = text.lstrip()
        opening = self._find_opening(text)
        if opening is not None:
            self._closing = _TAGS[opening[1]]
            answer, text = text[: opening.start()], text[opening.end() :]
        else:
            kept = len(text) - self._may_open(text)
            answer, self._held, text = text[:kept], text[kept:], ""
        self._note(answer)
        return answer, text

    def _find_opening(self, text: str) -> re.Match[str] | None:
        for found in _OPENING.finditer(text):
            before = text[: found.start()]
            if (before or self._at_line_start()) and not self._ends_in_code(before):
                return found
        return None

    def _may_open(self, text: str) -> int:
        """How many of the last characters may be the beginning of an opening tag."""
        before, newline, line = text.rpartition("\n")
        if not (newline or self._at_line_start()) or self._ends_in_code(before + newline):
            return 0
        start = line.lstrip(" \t")
        if len(line) - len(start) > _MOST_INDENTED:
            return 0
        return len(line) if any(tag.startswith(start) for tag in _TAGS) else 0

    def _at_line_start(self) -> bool:
        return not self._said or self._said.endswith("\n")

    def _ends_in_code(self, text: str) -> bool:
        fences = (self._said[-2:] + text).count(_FENCE)
        return self._in_code != bool(fences % 2)

    def _note(self, answer: str) -> None:
        self._in_code = self._ends_in_code(answer)
        self._said = (self._said + answer)[-2:]


def _overlap(text: str, tag: str) -> int:
    """The length of the longest end of the text with which the tag begins."""
    return next((n for n in range(len(tag) - 1, 0, -1) if text.endswith(tag[:n])), 0)
