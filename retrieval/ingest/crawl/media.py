"""What a response holds: which media types are documents of ours. Pure."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

HTML = frozenset({"text/html", "application/xhtml+xml"})
SUPPORTED = HTML | {"application/pdf", "text/plain", "text/markdown"}
# Says nothing about the content: the address and the first bytes decide.
VAGUE = frozenset({"", "application/octet-stream", "binary/octet-stream", "application/x-download"})
ALIASES = {"text/x-markdown": "text/markdown", "application/x-pdf": "application/pdf"}
BY_SUFFIX = {
    ".pdf": "application/pdf",
    ".md": "text/markdown",
    ".markdown": "text/markdown",
    ".txt": "text/plain",
    ".html": "text/html",
    ".htm": "text/html",
}

# Not worth a request: media, fonts, archives and programs.
_BINARY = (
    "png jpg jpeg gif webp avif svg ico bmp tif tiff psd mp3 mp4 m4a m4v ogg oga ogv opus wav "
    "flac avi mov mkv webm wmv woff woff2 ttf otf eot zip gz tgz bz2 xz zst 7z rar tar jar "
    "whl deb rpm dmg iso apk exe msi bin epub mobi doc docx xls xlsx ppt pptx odt ods odp css"
)
BINARY_SUFFIXES = frozenset(f".{name}" for name in _BINARY.split())

_CHARSET = re.compile(r"""charset\s*=\s*["']?([\w.:-]+)""", re.IGNORECASE)


def parse_content_type(header: str) -> tuple[str, str | None]:
    """Media type in lower case, and the charset as declared."""
    kind, _, parameters = header.partition(";")
    charset = _CHARSET.search(parameters)
    return kind.strip().lower(), charset[1] if charset else None


def suffix(url: str) -> str:
    """The file suffix of an address in lower case, with its dot; "" without one."""
    name = urlsplit(url).path.rpartition("/")[2]
    dot = name.rfind(".")
    return name[dot:].lower() if dot > 0 else ""


def may_be_document(declared: str) -> bool:
    """Whether a body of this declared type is worth receiving."""
    return ALIASES.get(declared, declared) in SUPPORTED | VAGUE


def document_type(declared: str, url: str, body: bytes) -> str | None:
    """The media type of a document of ours, None for anything else."""
    declared = ALIASES.get(declared, declared)
    if declared == "text/plain" and BY_SUFFIX.get(suffix(url)) == "text/markdown":
        return "text/markdown"  # how code hosts serve it
    if declared in VAGUE:
        return _sniffed(body) or BY_SUFFIX.get(suffix(url))
    return declared if declared in SUPPORTED else None


def _sniffed(body: bytes) -> str | None:
    start = body[:1024].removeprefix(b"\xef\xbb\xbf").lstrip().lower()
    if start.startswith(b"%pdf-"):
        return "application/pdf"
    return "text/html" if start.startswith((b"<!doctype html", b"<html")) else None
