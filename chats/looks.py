"""How the page looks in a frame: what its address asks for, with colours that can be read. Pure.

Above: widget. An accent is darkened on light ground and lightened on dark ground until text in it
has the contrast of WCAG AA.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

TITLE_MAX_CHARS = 60
CONTRAST = 4.6  # AA asks for 4.5
_HEX = re.compile(r"[0-9a-f]{6}")
_STEP = 0.06

Colour = tuple[int, int, int]
BLACK: Colour = (0, 0, 0)
WHITE: Colour = (255, 255, 255)
# --page of page.css, and how much of the accent its tint holds.
LIGHT: tuple[Colour, float] = ((253, 253, 252), 0.12)
DARK: tuple[Colour, float] = ((22, 24, 27), 0.2)


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    theme: str  # "light", "dark", or "" as the browser prefers
    accent: str  # six hex digits, or ""
    title: str


def look_from(asked: Mapping[str, str]) -> Look:
    """What cannot be used is left out: the address is anybody's."""
    theme, accent = asked.get("theme", ""), asked.get("accent", "").lower().lstrip("#")
    return Look(
        theme=theme if theme in ("light", "dark") else "",
        accent=accent if _HEX.fullmatch(accent) else "",
        title=" ".join(asked.get("title", "").split())[:TITLE_MAX_CHARS],
    )


def stylesheet(accent: str) -> str:
    """`accent`: six hex digits."""
    asked = (int(accent[:2], 16), int(accent[2:4], 16), int(accent[4:], 16))
    light, dark = _readable(asked, *LIGHT, towards=BLACK), _readable(asked, *DARK, towards=WHITE)
    pairs = {
        "--accent": (light, dark),
        "--on-accent": (_opposite(light), _opposite(dark)),
        "--tint": (_mixed(light, *LIGHT), _mixed(dark, *DARK)),
    }
    rules = [f"{name}: light-dark({_hex(one)}, {_hex(two)});" for name, (one, two) in pairs.items()]
    return f":root {{ {' '.join(rules)} }}\n"


def contrast(one: Colour, other: Colour) -> float:
    """WCAG 2, 1 to 21."""
    darker, lighter = sorted((_luminance(one), _luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def _readable(colour: Colour, ground: Colour, share: float, *, towards: Colour) -> Colour:
    while colour != towards:
        tint = _mixed(colour, ground, share)
        if min(contrast(colour, ground), contrast(colour, tint)) >= CONTRAST:
            break
        nearer = _mixed(towards, colour, _STEP)
        colour = nearer if nearer != colour else towards
    return colour


def _opposite(colour: Colour) -> Colour:
    return max(WHITE, BLACK, key=lambda one: contrast(one, colour))


def _mixed(colour: Colour, ground: Colour, share: float) -> Colour:
    red, green, blue = (
        round(share * one + (1 - share) * other) for one, other in zip(colour, ground, strict=True)
    )
    return red, green, blue


def _luminance(colour: Colour) -> float:
    red, green, blue = (_linear(value / 255) for value in colour)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _linear(value: float) -> float:
    return value / 12.92 if value <= 0.03928 else float(((value + 0.055) / 1.055) ** 2.4)


def _hex(colour: Colour) -> str:
    return "#{:02x}{:02x}{:02x}".format(*colour)
