"""How long a server stays awake after an answer before it sleeps until the next question.

Below: nothing. Above: transports.stdio, transports.turns. A client that asks one question after the
other asks again within microseconds, and to be woken for it takes longer than to answer. So where
that has just been seen, the server looks for the next question for a moment; one moment in vain,
and it sleeps as others do.
"""

from __future__ import annotations

import time

SECONDS = 100e-6


class Linger:
    """Of one thread that serves."""

    def __init__(self) -> None:
        self._answered = float("-inf")
        self._pays = False  # the latest question came at once after an answer
        self._until = 0.0  # nothing but `asked` before that ends it

    def asked(self) -> None:
        self._pays = time.monotonic() - self._answered < SECONDS
        self._until = 0.0

    def answered(self) -> None:
        self._answered = time.monotonic()
        self._until = self._answered + SECONDS if self._pays else 0.0

    def goes_on(self) -> bool:
        """Whether to look once more rather than sleep."""
        if not self._until:
            return False
        if time.monotonic() >= self._until:
            self._pays, self._until = False, 0.0
        return self._pays
