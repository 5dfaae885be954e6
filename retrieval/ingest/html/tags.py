"""What the walker does with each element. Anything not named here is inline. Above: html.walker."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum, auto

from retrieval.ingest.base import BlockKind


class Role(Enum):
    INLINE = auto()
    LINK = auto()
    BLOCK = auto()  # its text is apart from the text around it
    ATOM = auto()  # within a line, but a search does not cross it: a formula
    RUBY = auto()  # the same, but the text reads on; themes draw keys as boxes
    SKIPPED = auto()  # not rendered as text


def named(names: str) -> frozenset[str]:
    return frozenset(names.split())


def _roles() -> dict[str | None, Role]:
    names = {
        Role.BLOCK: (
            "address article aside blockquote button caption center dd details dialog dir div dl "
            "dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 header hgroup hr legend "
            "li listing main menu nav ol optgroup p plaintext pre search section summary table "
            "tbody td text tfoot th thead tr ul xmp foreignObject"
        ),
        Role.LINK: "a",
        Role.ATOM: "math",
        Role.RUBY: "kbd ruby",
        Role.SKIPPED: (
            "-comment annotation annotation-xml area base col colgroup datalist desc head link map "
            "meta noembed noframes noscript param script source style template title track"
        ),
    }
    return {tag: role for role, tags in names.items() for tag in tags.split()}


# Stands for an image: two spaces survive collapsing only here, and no search term crosses them.
GAP = "  "
# No search term crosses this either, but nothing is there to see. NUL occurs in no parsed text.
SEAM = "\0"
_REPLACED = "audio canvas embed iframe img input meter object progress select svg textarea video"
SEPARATORS: Mapping[str | None, str] = {
    "br": "\n",
    "rp": SEAM,
    "rt": SEAM,  # how the base is read: shown above it
    **dict.fromkeys(_REPLACED.split(), GAP),
}

ROLES = _roles()
BLOCKS = frozenset(tag for tag, role in ROLES.items() if role is Role.BLOCK)
KINDS = {
    **{f"h{level}": BlockKind.HEADING for level in range(1, 7)},
    "li": BlockKind.LIST_ITEM,
    "dt": BlockKind.TERM,
    "td": BlockKind.TABLE_CELL,
    "th": BlockKind.TABLE_CELL,
    "pre": BlockKind.CODE,
    "listing": BlockKind.CODE,
    "xmp": BlockKind.CODE,
    "plaintext": BlockKind.CODE,
    # These end what encloses them: a list in a table cell, a paragraph of a definition.
    "ul": BlockKind.PARAGRAPH,
    "ol": BlockKind.PARAGRAPH,
    "dl": BlockKind.PARAGRAPH,
    "dd": BlockKind.PARAGRAPH,
    "caption": BlockKind.PARAGRAPH,
}
# Their id names a whole part of the page, so it belongs to the heading that the part begins with.
PARTS = named("section div article main header hgroup aside")
# Their id names what is in them.
TARGETS = named("p li dt dd pre figure figcaption summary h1 h2 h3 h4 h5 h6")
