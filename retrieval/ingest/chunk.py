"""Document → passages that follow its sections. Below: pieces, words, fragments, conf.

Above: ingest.run. Pure and deterministic: equal documents give equal passages, so that a sync can
tell what changed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from fastrag_site.conf import conf
from retrieval.ingest.base import Block, BlockKind, Document, Passage
from retrieval.ingest.fragments import Locator
from retrieval.ingest.pieces import pack, split
from retrieval.ingest.words import count_ink, count_words

SMALL = 0.5  # of the target: neighbours below may share a passage
LEAD_WORDS = 40  # a longer block may end a passage, though it announces what comes next
TITLE_WORDS = 3

Path = tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A passage in the making: one section, or a part of it, or several small ones.

    Headings of the passage's own section stay out of its text; `section` names them.
    """

    section: Path
    heading: Block | None  # where this is the section's beginning
    blocks: tuple[Block, ...]
    words: int


def passages(document: Document) -> list[Passage]:
    """In page order, none empty. A fragment is None where none can work, as in a PDF."""
    drafts = [draft for section in _sections(document.blocks) for draft in _drafts(section)]
    if document.visible is not None:
        drafts = _merged(drafts)  # pages of a PDF stay apart: the page number is their section
    locator = Locator(document.visible) if document.visible is not None else None
    return [_passage(draft, locator) for draft in drafts]


def _passage(draft: Draft, locator: Locator | None) -> Passage:
    return Passage(
        text=_text(draft.blocks),
        section=draft.section,
        anchor=draft.blocks[0].anchor,
        fragment=locator.fragment(draft.blocks, draft.section) if locator else None,
        blocks=draft.blocks,
    )


def _text(blocks: Sequence[Block]) -> str:
    """A block a line; the cells of a table's row in one line, so that they are read together."""
    text = blocks[0].text
    for before, block in pairwise(blocks):
        is_row = block.joined and block.kind is before.kind is BlockKind.TABLE_CELL
        text += ("\t" if is_row else "\n") + block.text
    return text


def _sections(blocks: Sequence[Block]) -> Iterator[Sequence[Block]]:
    """A heading and what is under it up to the next one."""
    start = 0
    for index in range(1, len(blocks) + 1):
        if index < len(blocks):
            block = blocks[index]
            if block.kind is not BlockKind.HEADING and block.section == blocks[start].section:
                continue
        if not _is_mere_title(blocks, start, index):
            yield blocks[start:index]
        start = index


def _is_mere_title(blocks: Sequence[Block], start: int, end: int) -> bool:
    """A heading above another one: it is in the path of the sections below it."""
    path = blocks[start].section
    is_alone = end == start + 1 and blocks[start].kind is BlockKind.HEADING
    return is_alone and end < len(blocks) and blocks[end].section[: len(path)] == path


def _drafts(section: Sequence[Block]) -> Iterator[Draft]:
    heading = section[0] if section[0].kind is BlockKind.HEADING else None
    body = section[1:] if heading is not None and len(section) > 1 else section
    target, maximum = conf().chunk_target_words, conf().chunk_max_words
    parts = [part for group in _groups(body, target) for part in _fitting(group, target, maximum)]
    sizes = [_words(part) for part in parts]
    for first, after in pack(sizes, target=target, maximum=maximum):
        blocks = tuple(block for part in parts[first:after] for block in part)
        is_begin = first == 0 and blocks[0] is not heading
        yield Draft(
            section=section[0].section,
            heading=heading if is_begin else None,
            blocks=blocks,
            words=sum(sizes[first:after]),
        )


def _groups(blocks: Iterable[Block], target: int) -> Iterator[list[Block]]:
    """Blocks that read together: a row, a term with its definition, a list with its lead."""
    group: list[Block] = []
    for block in blocks:
        if group and not (block.joined or _leads(group[-1]) or _defines(group, block, target)):
            yield group
            group = []
        group.append(block)
    if group:
        yield group


def _leads(block: Block) -> bool:
    """A term, "Note", or "The options are:"."""
    if block.kind is BlockKind.TERM:
        return True
    words = count_words(block.text)
    if block.kind is BlockKind.PARAGRAPH and words <= TITLE_WORDS:
        return block.text[-1].isalnum()
    return words <= LEAD_WORDS and block.text.endswith((":", "："))


def _defines(group: list[Block], block: Block, target: int) -> bool:
    """What else is said of a term, while it is short."""
    if group[0].kind is not BlockKind.TERM or block.kind is BlockKind.TERM:
        return False
    return block.anchor == group[0].anchor and _words([*group, block]) <= target


def _fitting(group: list[Block], target: int, maximum: int) -> Iterator[list[Block]]:
    """The group, or its blocks and their pieces where it is too long."""
    if _words(group) <= maximum:
        yield group
        return
    fine = [piece for block in group for piece in _split(block, target, maximum)]
    for first, after in pack([count_words(b.text) for b in fine], target=target, maximum=maximum):
        yield fine[first:after]


def _split(block: Block, target: int, maximum: int) -> Iterator[Block]:
    if count_words(block.text) <= maximum:
        yield block
        return
    ink, previous = block.ink, 0
    for start, end in split(block.text, target=target, maximum=maximum):
        ink += count_ink(block.text[previous:start])
        previous = start
        yield replace(block, text=block.text[start:end], ink=ink)


def _merged(drafts: Iterable[Draft]) -> list[Draft]:
    """Small neighbours under one parent become one passage, with their headings in its text."""
    merged: list[Draft] = []
    for draft in drafts:
        both = _together(merged[-1], draft) if merged else None
        if both is None:
            merged.append(draft)
        else:
            merged[-1] = both
    return merged


def _together(one: Draft, other: Draft) -> Draft | None:
    small = SMALL * conf().chunk_target_words
    if one.words > small or other.words > small:
        return None
    # What comes before the page's title goes under it.
    path = _common(one.section, other.section) if one.section else other.section
    if max(len(one.section), len(other.section)) > len(path) + 1:
        return None
    blocks = _with_heading(one, path) + _with_heading(other, path)
    return Draft(section=path, heading=one.heading, blocks=blocks, words=_words(blocks))


def _with_heading(draft: Draft, path: Path) -> tuple[Block, ...]:
    if draft.heading is None or draft.section == path or draft.blocks[0] is draft.heading:
        return draft.blocks
    return (draft.heading, *draft.blocks)


def _common(one: Path, other: Path) -> Path:
    shared = 0
    while shared < min(len(one), len(other)) and one[shared] == other[shared]:
        shared += 1
    return one[:shared]


def _words(blocks: Iterable[Block]) -> int:
    return sum(count_words(block.text) for block in blocks)
