"""Words, in scripts with and without spaces between them. Pure; above: chunk, fragments, html.

Chinese, Japanese, Thai, Lao, Khmer and Burmese are written without spaces; where their words end
takes a dictionary, so two characters count as one word and only punctuation separates.
"""

from __future__ import annotations

import re
import unicodedata

# Letters of the scripts that do not separate words.
UNSPACED = (
    "\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ece\u0edc-\u0edf\u1000-\u109f\u1780-\u17d3"
    "\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3031-\u3035\u303b\u3041-\u30ff\u3100-\u312f"
    "\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f"
    "\U00020000-\U0003fffd"
)
UNSPACED_LETTER = re.compile(f"[{UNSPACED}]")
_BLANK = "".join(map(chr, [*range(33), 127]))  # ASCII
CHARS_PER_WORD = 10  # at least one word for so many: code and addresses have few spaces


def count_words(text: str) -> int:
    """How long a text is in words, whatever its script."""
    spaced = len(text.split())
    if not text.isascii():
        unspaced = len(UNSPACED_LETTER.findall(text))
        spaced = max(spaced, (unspaced + 1) // 2 + len(UNSPACED_LETTER.sub(" ", text).split()))
    return max(spaced, -(-len(text) // CHARS_PER_WORD))


def count_ink(text: str) -> int:
    """Characters other than white space: the same however a text is laid out."""
    return sum(map(len, text.split()))


def is_invisible(character: str) -> bool:
    """Has no ink: white space, controls, and marks such as the soft hyphen."""
    return character.isspace() or unicodedata.category(character) in {"Cc", "Cf", "Zl", "Zp"}


def has_ink(text: str) -> bool:
    if text.isascii():
        return bool(text.strip(_BLANK))
    return not all(map(is_invisible, text))
