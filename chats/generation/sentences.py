"""Text → sentences, verbatim. Pure, for every script.

Above: candidates. Splits at sentence ends; Thai, which has none, at spaces between long phrases.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_CLOSERS = "\"'”’»›)\\]}」』）】》〉*`_"
_FULL_WIDTH_END = rf"[。！？｡．]++[{_CLOSERS}]*+"
_SPACED_MARK = "[.!?…؟۔।॥]"
_SPACED_END = rf"(?<!{_SPACED_MARK}){_SPACED_MARK}++[{_CLOSERS}]*+(?=\s)"
_END = re.compile(f"{_FULL_WIDTH_END}|{_SPACED_END}")

_THAI = re.compile(r"[\u0e01-\u0e7f]")
_THAI_GAP = re.compile(r"(?<=[\u0e01-\u0e7f]) +(?=[\u0e01-\u0e7f])")
_THAI_PHRASE_CHARS = 60

# Words whose point does not end a sentence, lower case. The last word before the point counts.
_ABBREVIATION_LIST = """
    e.g i.e etc cf vs viz al approx resp incl excl fig figs eq sec ch vol no nos p pp ed eds mr
    mrs ms dr prof st jr sr inc ltd co corp dept est min max z.b bzw ca usw d.h u.a o.ä vgl abb nr
    bspw evtl ggf inkl sog p.ex env ej p.ej sra ud uds vd av art cap núm т.е т.д т.п т.к др см рис
    стр г гг им напр
"""
_ABBREVIATIONS = frozenset(_ABBREVIATION_LIST.split())
_CODE_WORD = re.compile(r"\w*[_.(]\w+|\w+\(")  # a name may begin a sentence in lower case
_INITIAL = re.compile(r"\w\.")  # the second half of "z. B."
_LAST_WORD = re.compile(r"[\w.]+$")
_OPENERS = "\"'“‘«‹([{「『（【《¿¡*`_"


def split_sentences(text: str) -> Iterator[str]:
    """The sentences of one block, in order, without the white space around them."""
    start = 0
    for end in _END.finditer(text):
        if _ends_sentence(text, end.start(), end.end()):
            yield from _phrases(text[start : end.end()])
            start = end.end()
    yield from _phrases(text[start:])


def _ends_sentence(text: str, point: int, after: int) -> bool:
    if text[point] != ".":
        return True
    following = text[after:].lstrip()
    if not following:
        return True
    first = following.lstrip(_OPENERS)
    if first[:1].islower() and not _CODE_WORD.match(first):
        return False
    word = _LAST_WORD.search(text[:point])
    if word is None or after > point + 1:
        return True
    # "J. Smith" and "3. Items" go on; "Python 3. It" does not, but is rare enough to read well.
    initial = len(word[0]) == 1 and (word[0].isupper() or bool(_INITIAL.match(first)))
    numeral = word[0].isdigit() and word.start() == 0
    return not (initial or numeral or word[0].lower() in _ABBREVIATIONS)


def _phrases(sentence: str) -> Iterator[str]:
    """The sentence itself; Thai text in pieces of at least one phrase length."""
    sentence = sentence.strip()
    if not sentence:
        return
    if not _THAI.search(sentence):
        yield sentence
        return
    start = 0
    for gap in _THAI_GAP.finditer(sentence):
        long_enough = gap.start() - start >= _THAI_PHRASE_CHARS
        if long_enough and len(sentence) - gap.end() >= _THAI_PHRASE_CHARS // 2:
            yield sentence[start : gap.start()]
            start = gap.end()
    yield sentence[start:]
