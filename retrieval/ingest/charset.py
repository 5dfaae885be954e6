"""Bytes → text: what is declared where it can be true, else what the bytes look like.

Pure; below: w3lib (labels as browsers read them), charset-normalizer. Above: ingest.parse.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator

from charset_normalizer import from_bytes
from w3lib.encoding import html_body_declared_encoding, read_bom, resolve_encoding

SAMPLE_BYTES = 200_000  # enough to tell encodings apart
FEW_ERRORS = 0.01  # of the bytes beyond ASCII: damage, not another encoding
TELLING = 10  # characters beyond ASCII

# What undeclared pages are written in. Each codec here decodes text, and text only.
_LATIN = ("cp1252", "cp1250", "cp1254", "cp1257")
_CANDIDATES = (
    *("cp932", "gb18030", "euc_jp", "big5", "cp949", "cp874"),
    *("cp1251", "koi8_r", "cp866", "cp1253", "cp1255", "cp1256"),
    *_LATIN,
)
_BY_LANGUAGE = {
    **dict.fromkeys(("bs", "cs", "hr", "hu", "pl", "ro", "sk", "sl", "sq"), "cp1250"),
    **dict.fromkeys(("et", "lt", "lv"), "cp1257"),
    **dict.fromkeys(("az", "ku", "tr"), "cp1254"),
}
_MULTIBYTE = frozenset({"cp932", "gb18030", "euc_jp", "big5", "big5hkscs", "cp949", "iso2022_jp"})
# Codecs that a label may name, and that make no text of a document.
_NOT_FOR_TEXT = frozenset(
    {"idna", "punycode", "utf-7", "unicode-escape", "raw-unicode-escape", "undefined"}
)
_CUT = frozenset({"unexpected end of data", "incomplete multibyte sequence", "truncated data"})
_LANGUAGE = re.compile(rb"<html[^<>]*\slang\s*=\s*[\"']?([a-zA-Z]{2,3})\b", re.IGNORECASE)


def decode(body: bytes, declared: str | None) -> str:
    """The text of a document. `declared`: the header's charset, which may be absent or wrong."""
    marked, mark = read_bom(body)
    if marked and mark:
        return body[len(mark) :].decode(marked, "replace")
    order = list(dict.fromkeys([*_declared(body, declared), "utf-8"]))
    if (text := _strictly(body, "utf-8")) is not None and _is_telling(text, order[0]):
        return text
    for codec in order:
        if (text := _strictly(body, codec)) is not None:
            return text
    errors_allowed = FEW_ERRORS * sum(byte > 127 for byte in body)
    for codec in order:
        replaced = body.decode(codec, "replace")
        if replaced.count("\ufffd") <= errors_allowed:
            return replaced
    return body.decode(_detect(body) or order[0], "replace")


def _declared(body: bytes, header: str | None) -> Iterator[str]:
    """By the header, then by the document, as Python codecs."""
    inner = html_body_declared_encoding(body[:4096])
    if inner and inner.startswith(("utf-16", "utf-32")):
        inner = None  # it could not be read, were it true
    for label in (header, inner):
        codec = resolve_encoding(label) if label else None
        if codec is not None and _is_for_text(codec):
            yield codec


def _is_for_text(codec: str) -> bool:
    info = codecs.lookup(codec)
    return info._is_text_encoding and info.name.replace("_", "-") not in _NOT_FOR_TEXT


def _is_telling(text: str, declared: str) -> bool:
    """Bytes beyond ASCII are hardly ever UTF-8 by chance: never in text of single bytes, and in
    Chinese only where there are few of them."""
    if text.isascii():
        return declared != "iso2022_jp"
    if declared not in _MULTIBYTE:
        return True
    return sum(character > "\x7f" for character in text[:SAMPLE_BYTES]) >= TELLING


def _strictly(body: bytes, codec: str) -> str | None:
    """Decoded without a flaw, but for a last character that a size limit cut."""
    try:
        return body.decode(codec)
    except UnicodeDecodeError as error:
        is_cut = error.end == len(body) and error.reason in _CUT
        return body[: error.start].decode(codec) if is_cut else None


def _detect(body: bytes) -> str | None:
    found = from_bytes(body[:SAMPLE_BYTES], cp_isolation=list(_CANDIDATES)).best()
    codec = found.encoding if found is not None else None
    if codec in _LATIN and (match := _LANGUAGE.search(body[:4096])):
        # Their letters are too much alike to tell from a few; the language is a better witness.
        return _BY_LANGUAGE.get(match[1].decode().lower(), "cp1252")
    return codec
