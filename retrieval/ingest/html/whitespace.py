"""White space as a browser renders it. Pure; above: html.walker, text."""

from __future__ import annotations

import re

# Only these collapse in CSS: a no-break space or an ideographic space is a character like others.
_COLLAPSIBLE = " \t\n\r\f"
# White space to Python, but not to CSS.
_OTHER_SPACE = re.compile("[\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]")
_UNEVEN = re.compile(r"[ \t\n\r\f]{2,}|[\t\n\r\f]")
# Chinese and Japanese characters and their punctuation. Korean writes spaces.
_WIDE = (
    "\u2e80-\u303e\u3041-\u3129\u3190-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uf900-\ufaff\ufe30-\ufe4f\uff01-\uff60\uffe0-\uffe6\U00020000-\U0003fffd"
)
_WIDE_BREAK = re.compile(rf"(?<=[{_WIDE}])[ \t]*[\r\n][ \t\r\n\f]*(?=[{_WIDE}])")


def collapse(text: str, *, wide_break: str = "") -> str:
    """As `white-space: normal` shows one run of text, without space at its edges.

    A line break between Chinese or Japanese characters is no space to a reader, though some
    browsers show one; `wide_break` stands in its place.
    """
    if text.isascii():
        return " ".join(text.split())
    if "\n" in text:
        text = _WIDE_BREAK.sub(wide_break, text)
    if not _OTHER_SPACE.search(text):
        return " ".join(text.split())
    return _UNEVEN.sub(" ", text).strip(_COLLAPSIBLE)


def keep_lines(text: str) -> str:
    """As `white-space: pre` shows it, without blank lines at its edges."""
    lines = text.replace("\r\n", "\n").strip("\r\n\f").split("\n")
    return "\n".join(line.rstrip(_COLLAPSIBLE) for line in lines).strip("\n")
