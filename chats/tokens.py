"""How many tokens a text takes, estimated without the model's own tokenizer. Pure, a leaf.

Above: generation.openai_compatible, budget. The weights were measured against the vocabularies of
OpenAI (cl100k, o200k), Claude and SmolLM2; docs/models.md states the margins.
"""

from __future__ import annotations

import re

A_MESSAGE = 8  # for the marks that chat templates put around each

# What vocabularies split at. A space before a word belongs to the word.
_PARTS = re.compile(
    r"(?P<word>[A-Z]?[a-z]+)|(?P<capitals>[A-Z]+)|(?P<gap> {2,}|[\t\r\f\v]+)"
    r"|(?P<single>[!-\x7f\x00-\x08\n\x0e-\x1f])"
    r"|(?P<arabic>[\u0590-\u07ff]+)|(?P<two>[\u0080-\u07ff]+)"  # by bytes in UTF-8
    r"|(?P<hangul>[\uac00-\ud7a3]+)|(?P<three>[\u0800-\uffff]+)|(?P<four>[\U00010000-\U0010ffff]+)"
)
# First token, and tokens for each further character: of words that are not English, and of scripts
# of which vocabularies that were made for English hold little.
_COSTS = {
    "word": (1.0, 0.29),
    "capitals": (1.0, 0.45),
    "gap": (1.0, 0.1),
    "single": (1.0, 1.0),
    "arabic": (1.3, 1.3),
    "two": (1.0, 1.0),
    "hangul": (3.0, 3.0),
    "three": (2.1, 2.1),
    "four": (3.5, 3.5),
}
_LONG = 8  # letters; longer words are rarely one token outside of English
# Characters and bytes that a token holds at most on average, whatever vocabulary and language.
_PLAIN_AT_MOST, _BYTES_AT_MOST = 8, 12


def estimate(text: str) -> int:
    """Rather too many than too few."""
    total = 0.0
    for found in _PARTS.finditer(text):
        kind, length = str(found.lastgroup), found.end() - found.start()
        first, further = _COSTS[kind]
        total += int(first + further * (length - 1) + 0.001)
        if kind == "word" and length > _LONG:
            total += (length - _LONG) / 2  # a compound, or of a language with endings
    return round(total)


def least(text: str) -> int:
    """Fewer than any usual tokenizer would count."""
    encoded = " ".join(text.split()).encode("utf-8", "replace")
    plain = len(encoded) - sum(byte > 127 for byte in encoded)
    return plain // _PLAIN_AT_MOST + (len(encoded) - plain) // _BYTES_AT_MOST
