"""The DOM → the blocks of text that a browser renders, in order. Below: tags, fields, whitespace.

A block is a run of text that nothing interrupts: what a search within the page can match. Every
block is in `visible`; those of the page's content, without menus and the like, are `blocks` too.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from selectolax.lexbor import LexborNode

from retrieval.ingest.base import Block, BlockKind
from retrieval.ingest.html.content import Attributes, is_outside, is_permalink
from retrieval.ingest.html.fields import SHOWING, field_texts
from retrieval.ingest.html.tags import GAP, KINDS, PARTS, ROLES, SEAM, SEPARATORS, TARGETS, Role
from retrieval.ingest.html.whitespace import collapse, keep_lines
from retrieval.ingest.words import has_ink

# Links that act on the page: no content where nothing else is in the block.
_TOOLS = re.compile(
    r"(\W*(skip|jump) to\b.*|\W*back to top\W*|\W*(go to )?top of (the )?page\W*"
    r"|\W*(edit|improve)( on \w+| (this|the) (page|section|article|doc\w*)\b.*)?\W*"
    r"|\W*((view|show) (the |this )?)?(page )?source( code)?\W*"
    r"|\W*report (an?|this) (bug|issue)\W*"
    r"|\W*cop(y|ied)( code| link| page| to clipboard)?\W*"
    r"|\W*(expand|collapse|toggle)( all| menu| navigation| sidebar)?\W*)",
    re.IGNORECASE,
)
_TOOL_CHARS = 60
_SPACED_SEAM = re.compile(f"( {SEAM}+) ")  # the space is shown once
_KEEPING_LINES = re.compile(r"white-space\s*:\s*(pre|break)", re.IGNORECASE)
SECTION_CHARS = 300
MAX_BLOCKS = 200_000  # of a page; the rest of a longer one is not read


@dataclass(slots=True)
class Frame:
    """An open block element: what its text inherits."""

    kind: BlockKind
    content: bool
    level: int = 0  # of a heading
    keeps_lines: bool = False
    anchor: str | None = None
    joined: bool = False  # its blocks belong to the block before
    row_start: int = 0  # of a table row: how many blocks came before it
    term_anchor: str | None = None  # of a definition list, the term defined last

    @property
    def is_heading(self) -> bool:
        return self.level > 0 or self.kind is BlockKind.TERM


@dataclass(frozen=True, slots=True)
class Heading:
    level: int
    text: str


class Walker:
    """Reads one tree. `root`: memory id of the content's element."""

    def __init__(self, *, root: int) -> None:
        self.visible: list[str] = []
        self.blocks: list[Block] = []
        self.linked: set[int] = set()  # which blocks are links and nothing else
        self.title: str | None = None  # the first heading of level 1, in the content or not
        self._root = root
        self._frame = Frame(kind=BlockKind.PARAGRAPH, content=False)
        self._run: list[str] = []
        self._gaps: list[tuple[int, str]] = []  # (index in the run, what separates there)
        self._inked = False  # the run has more than white space
        self._links = 0  # open links
        self._linked = 0  # characters of the run within them
        self._defines = False  # a definition has begun
        self._headings: list[Heading] = []
        self._section: tuple[str, ...] = ()
        self._anchor: str | None = None  # of the section
        self._part: str | None = None  # id of a part whose first block has not come yet
        self._mark: str | None = None  # id of an inline element just before it

    def walk(self, body: LexborNode) -> None:
        """Without recursion: pages nest deeper than the stack is."""
        if body.mem_id == self._root:
            self._frame.content = True
        opened: list[tuple[LexborNode, Role, Frame]] = []
        node = body.first_child
        while (node is not None or opened) and len(self.visible) < MAX_BLOCKS:
            if node is None:
                node, role, frame = opened.pop()
                if role is not Role.INLINE:
                    self._leave(node, role, frame)
                node = node.next
                continue
            tag = node.tag
            if tag == "-text":
                self._read(node.text_content or "")
            elif tag in SEPARATORS:
                self._separate(SEPARATORS[tag])
                if tag in SHOWING:
                    self.visible += _shown_in(node)
            elif (role := ROLES.get(tag, Role.INLINE)) is Role.SKIPPED:
                pass
            else:
                outer = self._frame
                if role is Role.INLINE or self._enter(node, role):
                    opened.append((node, role, outer))
                    node = node.first_child
                    continue
            node = node.next
        self._flush()

    def _read(self, text: str) -> None:
        self._run.append(text)
        if self._links:
            self._linked += len(text)
        if not (self._inked or text.isspace()):
            self._inked = True

    def _enter(self, node: LexborNode, role: Role) -> bool:
        """Open an element, unless nothing of it is shown."""
        attributes = node.attributes
        if role is Role.BLOCK:
            self._flush()
            self._frame = self._open(node, attributes, self._frame)
        elif role is Role.LINK:
            if is_permalink(node, attributes, in_heading=self._frame.is_heading):
                return False
            self._links += 1
            if name := attributes.get("id") or attributes.get("name"):
                self._mark_at(name)
        else:
            self._separate(SEAM if role is Role.RUBY else GAP)
        return True

    def _leave(self, node: LexborNode, role: Role, outer: Frame) -> None:
        if role is Role.LINK:
            self._links -= 1
        elif role is not Role.BLOCK:
            self._separate(SEAM if role is Role.RUBY else GAP)
        else:
            self._flush()
            if node.tag == "dt":
                outer.term_anchor = self._frame.anchor
            self._frame = outer

    def _open(self, node: LexborNode, attributes: Attributes, outer: Frame) -> Frame:
        tag, root = node.tag or "", self._root
        content = outer.content or node.mem_id == root
        frame = Frame(
            KINDS.get(tag, outer.kind),
            content and tag != "button" and not is_outside(node, attributes, root=root),
            outer.level,
            outer.keeps_lines,
            outer.anchor,
            outer.joined,
            outer.row_start,
            outer.term_anchor,
        )
        if frame.kind is BlockKind.HEADING and tag in KINDS:
            frame.level, frame.anchor = int(tag[1]), None
            self._mark = self._mark or attributes.get("name")
        elif frame.kind is BlockKind.CODE:
            frame.keeps_lines = True
        elif tag == "td" or tag == "th":
            frame.joined = len(self.blocks) > frame.row_start
        elif tag == "tr":
            frame.row_start = len(self.blocks)
        elif tag == "dd":
            frame.anchor = outer.term_anchor or outer.anchor
            self._defines = True
        elif tag == "dl":
            frame.term_anchor = None
        if (style := attributes.get("style")) and _KEEPING_LINES.search(style):
            frame.keeps_lines = True
        if name := attributes.get("id"):
            if tag in PARTS:
                self._part, self._mark = name, None
            elif tag in TARGETS:
                frame.anchor = name
        return frame

    def _mark_at(self, name: str) -> None:
        if self._frame.kind is BlockKind.TERM:
            self._frame.anchor = self._frame.anchor or name
        elif self._mark is None and (self._frame.level or not self._inked):
            self._mark = name

    def _separate(self, by: str) -> None:
        if by == SEAM or (self._frame.keeps_lines and by == "\n"):
            self._run.append(by)
        else:
            self._gaps.append((len(self._run), by))

    def _flush(self) -> None:
        """End the run: it becomes a block, unless there is nothing to see in it."""
        if not self._inked:
            self._run.clear()
            self._gaps.clear()
            return
        text = self._text()
        shown = text.replace(SEAM, "").strip() if SEAM in text else text
        is_linked = self._linked >= len(shown)
        self._run, self._gaps, self._linked, self._inked = [], [], 0, False
        if not has_ink(shown):
            return
        if self._frame.level == 1 and self.title is None:
            self.title = " ".join(shown.split())
        self.visible.append(text if shown is text else text.replace(SEAM, "\n").strip())
        if self._frame.content and not (is_linked and _is_tool(shown)):
            if is_linked:
                self.linked.add(len(self.blocks))
            self._add(shown)
            self._part, self._mark, self._defines = None, None, False

    def _text(self) -> str:
        render = keep_lines if self._frame.keeps_lines else _collapse
        if not self._gaps:
            return render("".join(self._run)).rstrip()
        text, start = "", 0
        for index, separator in [*self._gaps, (len(self._run), "")]:
            part = render("".join(self._run[start:index]))
            text = text + part + separator if part or text else ""
            start = index
        return text.strip()

    def _add(self, text: str) -> None:
        frame = self._frame
        if frame.level:
            self._begin_section(frame, text)
        block = Block(
            kind=frame.kind,
            text=text,
            section=self._section,
            anchor=frame.anchor or self._anchor,
            visible_at=len(self.visible) - 1,
            joined=(frame.joined or self._defines) and bool(self.blocks),
        )
        self.blocks.append(block)

    def _begin_section(self, frame: Frame, text: str) -> None:
        while self._headings and self._headings[-1].level >= frame.level:
            self._headings.pop()
        self._headings.append(Heading(frame.level, " ".join(text.split())[:SECTION_CHARS]))
        self._section = tuple(heading.text for heading in self._headings)
        self._anchor = frame.anchor or self._part or self._mark


def _collapse(text: str) -> str:
    text = collapse(text, wide_break=SEAM)
    return _SPACED_SEAM.sub(r"\1", text) if SEAM in text else text


def _shown_in(node: LexborNode) -> list[str]:
    """What a search finds in a drawing or a form's field; it is no part of the text around it."""
    if node.tag != "svg":
        return [text for text in map(collapse, field_texts(node)) if text]
    if node.css_first("text, foreignObject") is None:
        return []
    drawing = Walker(root=0)
    drawing.walk(node)
    return drawing.visible


def _is_tool(text: str) -> bool:
    return len(text) <= _TOOL_CHARS and _TOOLS.fullmatch(text) is not None
