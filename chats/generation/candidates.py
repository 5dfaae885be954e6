"""Passages → sentences that can be quoted, with what they say it about. Pure.

Below: base, sentences. Above: extractive. A passage is lines: prose, rows of tables, headings,
code, and terms that the prose after them defines. Prose and rows are quoted, with the code that
they announce.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum, auto

from chats.generation.base import Passage
from chats.generation.sentences import split_sentences

MAX_SENTENCE_CHARS = 700
MAX_TERM_CHARS = 400
MAX_LABEL_CHARS = 60
MAX_CODE_LINES = 12
MAX_ROW_CHARS = 400  # of a table row that is read as one; the cells of a longer one are paragraphs
CELL_MARK = " – "

_UNSPACED = re.compile(r"[\u0e01-\u0e5b\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")
_PROMPT = re.compile(r"(>>>|\.\.\.|\$|#!|%|C:\\.*>|[\w.-]+@[\w.-]+[:#$]|In \[\d+\]:)(\s|$)")
_STATEMENT = re.compile(
    r"(?:(?:async\s+)?(?:def|class|with|for)|if|elif|while|except|match|case)\b.*[:{]$"
    r"|(?:from\s+[\w.]+\s+)?import\s+[\w.*,\s()]+$|(?:else|try|finally|do)\s*[:{]$"
    r"|(?:return|raise|yield|print|await|assert|export|const|let|var|sudo|pip|cd|make|git)\b"
    r"\S*(?:\s+\S+){0,4}(?<![.!?:])$"
    r"|[\w.\[\]\"']+(?:\s*[,:]\s*[\w.\[\]\"']+)*\s*[-+*/|&]?=(?!=)\s*\S"
    r"|@\w|</?\w+[^>]*>?$|[\]})]+[;,.)]*$|//|/\*|# |--?\w[\w-]*\b"
    r"|.*\S\s{3,}\S"
)
_COMMAND = re.compile(r"[\w./~-]+(?:\s+[^\s.]+)*?\s--?[A-Za-z][\w=-]*(?:\s+\S+)*(?<![.:;!?])$")
# "classmethod datetime.strptime(date_string, format)", "str.strip([chars])", "asyncio.Queue"
_SIGNATURE = re.compile(
    r"(?:(?:class|classmethod|staticmethod|abstractmethod|async|awaitable|coroutine|exception|final"
    r"|property|function|method|macro|static|public|const|unsigned|struct|void|bool|char|int|long"
    r"|float|double|size_t|string|func|fn|def)\s+|[A-Za-z_]\w*\s*\*+\s*)*"
    r"[A-Za-z_$][\w$]*(?:(?:\.|::|->)\w+)*(?:\[.*\])?(?:\s*\(.*\))?(?:\s*(?:->|→)\s*\S.*)?"
)
_COLONS = (":", "：")
_WORD = re.compile(r"[^\W\d_][^\W_]*(?:['’-][^\W_]+)*")
SENTENCE_END = re.compile(r"[.!?…:;。！？：；؟।]['\"”’»)\]]*$")


_QUESTION_END = re.compile(r"[?？؟]['\"”’»)\]]*$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """One sentence. `passage`, `block` and `position` say where it stands."""

    passage: int
    block: int
    position: int
    number: int  # cited as [number]
    text: str
    term: str  # what the sentence defines or describes, "" where nothing is named
    code: str  # lines of code that the sentence announces, "" where there are none
    section: tuple[str, ...]
    title: str
    language: str


class Kind(Enum):
    """What a line of a passage is."""

    PROSE = auto()
    CODE = auto()
    TERM = auto()  # a signature
    ROW = auto()  # of a table
    LABEL = auto()  # another short line: a term of a glossary, a heading


def candidates_from(passages: Sequence[Passage]) -> list[Candidate]:
    """In reading order; a sentence that stands in several passages is listed once."""
    seen: set[str] = set()
    found = []
    for index, passage in enumerate(passages):
        for candidate in _of_passage(index, passage):
            if candidate.text not in seen:
                seen.add(candidate.text)
                found.append(candidate)
    return found


def _of_passage(index: int, passage: Passage) -> Iterator[Candidate]:
    lines = list(_lines(passage.text))
    kinds = _kinds_of(lines)
    headings = {*passage.section, passage.title}
    term = next((name for name in passage.section[-1:] if kind_of(name) is Kind.TERM), "")
    for block, line in enumerate(lines):
        if line.strip() in headings:
            continue
        if kinds[block] is Kind.TERM or _names_next(lines, kinds, block):
            term = line.strip()
        if kinds[block] is Kind.ROW:
            term = ""
        sentences = [text for text in _sentences(lines, kinds, block) if _is_quotable(text)]
        for position, text in enumerate(sentences):
            announces = position == len(sentences) - 1 and text[-1:] in _COLONS
            yield Candidate(
                passage=index,
                block=block,
                position=position,
                number=passage.number,
                text=text,
                term=term,
                code=_code_after(lines, kinds, block) if announces else "",
                section=passage.section,
                title=passage.title,
                language=passage.language,
            )


def _sentences(lines: Sequence[str], kinds: Sequence[Kind], block: int) -> Iterator[str]:
    if kinds[block] is Kind.PROSE:
        yield from split_sentences(lines[block])
    elif kinds[block] is Kind.ROW and not _heads_rows(kinds, block):
        yield CELL_MARK.join(cell.strip() for cell in lines[block].split("\t"))


def _lines(text: str) -> Iterator[str]:
    for line in text.split("\n"):
        if len(line) > MAX_ROW_CHARS and _is_row(line):
            yield from line.split("\t")
        else:
            yield line


def _is_row(line: str) -> bool:
    return "\t" in line and not line[:1].isspace()


def _heads_rows(kinds: Sequence[Kind], block: int) -> bool:
    """The first row of a table names its columns; in the middle of one, a passage begins."""
    follows = block > 0 and kinds[block - 1] is not Kind.ROW
    return follows and kinds[block + 1 : block + 2] == [Kind.ROW]


def _kinds_of(lines: Sequence[str]) -> list[Kind]:
    """A call alone in its line looks like a signature: among code, or announced, it is code."""
    kinds: list[Kind] = []
    announced = False
    for line in lines:
        kind = kind_of(line)
        if kind is Kind.TERM and (announced or kinds[-1:] == [Kind.CODE]):
            kind = Kind.CODE
        kinds.append(kind)
        announced = kind is Kind.PROSE and line.rstrip()[-1:] in _COLONS
    return kinds


def kind_of(line: str) -> Kind:
    if _is_row(line):
        return Kind.ROW
    if _is_term(line):
        return Kind.TERM
    if line[:1].isspace() or _looks_like_code(line):
        return Kind.CODE
    return Kind.PROSE if _reads_as_prose(line) else Kind.LABEL


def _reads_as_prose(text: str) -> bool:
    unspaced = len(_UNSPACED.findall(text))
    length = len(_WORD.findall(text)) + unspaced // 2
    if SENTENCE_END.search(text):
        return length >= 3
    # Without an end it is a list item, a table cell or a heading; long ones say something.
    return length >= 7


def _names_next(lines: Sequence[str], kinds: Sequence[Kind], block: int) -> bool:
    """A short line directly before prose may name what the prose is about, as in a glossary."""
    if kinds[block] is not Kind.LABEL or kinds[block + 1 : block + 2] != [Kind.PROSE]:
        return False
    return len(lines[block]) <= MAX_LABEL_CHARS and not SENTENCE_END.search(lines[block])


def _looks_like_code(line: str) -> bool:
    text = line.strip()
    if _PROMPT.match(text) or _STATEMENT.match(text) or _COMMAND.match(text):
        return True
    if _UNSPACED.search(text):
        return False
    letters = sum(character.isalpha() or character.isspace() for character in text)
    return letters < 0.6 * len(text)


def _is_term(line: str) -> bool:
    if len(line) > MAX_TERM_CHARS or SENTENCE_END.search(line.removesuffix(")")):
        return False
    return bool(_SIGNATURE.fullmatch(line)) and any(mark in line for mark in "(._[")


def _is_quotable(sentence: str) -> bool:
    if len(sentence) > MAX_SENTENCE_CHARS or _QUESTION_END.search(sentence):
        return False
    return len(_WORD.findall(sentence)) + len(_UNSPACED.findall(sentence)) // 2 >= 3


def _code_after(lines: Sequence[str], kinds: Sequence[Kind], block: int) -> str:
    """The code that stands directly after a block, cut to a few lines."""
    end = block + 1
    while end < len(lines) and (kinds[end] is Kind.CODE or not lines[end].strip()):
        end += 1
    return "\n".join(lines[block + 1 : end][:MAX_CODE_LINES]).rstrip()
