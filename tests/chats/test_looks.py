"""What an address may ask of the looks of a frame, and that it can always be read."""

from __future__ import annotations

import re

from hypothesis import given, settings
from hypothesis import strategies as st

from chats.looks import DARK, LIGHT, TITLE_MAX_CHARS, Look, contrast, look_from, stylesheet

CHANNEL = st.integers(0, 255)


def test_a_look_is_taken_from_an_address() -> None:
    asked = {"theme": "dark", "accent": "#0B57A4", "title": " Help  me "}
    assert look_from(asked) == Look(theme="dark", accent="0b57a4", title="Help me")


def test_what_cannot_be_used_is_left_out() -> None:
    asked = {"theme": "</style>", "accent": "red;}", "title": "x" * 1_000}
    assert look_from(asked) == Look(theme="", accent="", title="x" * TITLE_MAX_CHARS)


def test_contrast_is_that_of_wcag() -> None:
    assert round(contrast((0, 0, 0), (255, 255, 255)), 1) == 21
    assert round(contrast((119, 119, 119), (255, 255, 255)), 2) == 4.48


@settings(deadline=None)
@given(CHANNEL, CHANNEL, CHANNEL)
def test_any_accent_reads_on_both_grounds_and_under_its_own_text(r: int, g: int, b: int) -> None:
    found = stylesheet(f"{r:02x}{g:02x}{b:02x}")
    rules = dict(re.findall(r"(--[\w-]+): light-dark\((#\w+, #\w+)\)", found))
    for place, (ground, _) in enumerate((LIGHT, DARK)):
        accent, on_accent, tint = (
            colour(rules[name].split(", ")[place]) for name in ("--accent", "--on-accent", "--tint")
        )
        for one, other in ((accent, ground), (accent, tint), (on_accent, accent)):
            assert contrast(one, other) >= 4.5


def test_an_accent_that_reads_is_kept_as_it_is() -> None:
    assert "--accent: light-dark(#0b57a4, " in stylesheet("0b57a4")
    assert ", #8ab8f0)" in stylesheet("8ab8f0")


def colour(text: str) -> tuple[int, int, int]:
    return int(text[1:3], 16), int(text[3:5], 16), int(text[5:], 16)
