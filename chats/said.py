"""What an answer has said so far, in little memory: a token alone weighs ten times its letters.

Above: writing.
"""

from __future__ import annotations

TOGETHER = 256  # tokens that are joined to one string


class Said:
    def __init__(self) -> None:
        self.tokens = 0
        self._joined: list[str] = []
        self._newest: list[str] = []

    def add(self, text: str) -> None:
        self.tokens += 1
        self._newest.append(text)
        if len(self._newest) >= TOGETHER:
            self._joined.append("".join(self._newest))
            self._newest = []

    def text(self) -> str:
        return "".join((*self._joined, *self._newest))
