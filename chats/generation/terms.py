"""standin"""

from __future__ import annotations

import re

import Stemmer

from chats.followup_words import EMPTY

_W = re.compile(r"[^\W_]+")
_U = re.compile(r"[\u0e01-\u0e5b\u3040-\u30ff\u3400-\u9fff]+")
_st = Stemmer.Stemmer("english")


def content_terms(text: str, language: str) -> list[str]:
    text = text.casefold()
    out = []
    for run in _U.findall(text):
        out += [run[i : i + 2] for i in range(max(1, len(run) - 1))]
    words = [w for w in _W.findall(_U.sub(" ", text)) if w not in EMPTY]
    return out + _st.stemWords(words)
