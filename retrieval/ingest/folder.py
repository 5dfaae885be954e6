"""A folder of files as a stream of fetched documents, with the addresses it is published under.

Below: the file system, ingest.base. Above: ingest.syncing, which treats it like a crawl.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

from retrieval.ingest.base import CrawlEnd, Fetched, Known, Skipped
from retrieval.ingest.crawl.urls import normalise

MEDIA_TYPES = {
    ".html": "text/html",
    ".htm": "text/html",
    ".md": "text/markdown",
    ".markdown": "text/markdown",
    ".txt": "text/plain",
    ".pdf": "application/pdf",
}
MARKDOWN = {".md", ".markdown"}
# A file written this recently may change again without a new time stamp.
SETTLED_SECONDS = 2.0

OUTSIDE = "symbolic link leaves the folder"
LINKED_FOLDER = "symbolic link to a folder is not followed"
TOO_LARGE = "larger than the size limit"
UNREADABLE = "file cannot be read"
SAME_ADDRESS = "another file has the same address"


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderRequest:
    """What to read. `known`: by address, with the stamp of an earlier sync as its etag."""

    root: Path
    base_url: str  # ends with "/"
    strip_suffix: bool = False  # foo.md at foo/, index.md and README.md at their folder
    max_pages: int
    max_bytes: int
    known: Mapping[str, Known] = field(default_factory=dict)


def folder_documents(request: FolderRequest) -> Iterator[Fetched | Skipped | CrawlEnd]:
    """Every document of the folder in a stable order, then CrawlEnd."""
    if not request.root.is_dir():
        yield CrawlEnd(complete=False, failure=f"There is no folder {request.root}.")
        return
    root = request.root.resolve()
    taken: set[str] = set()
    for path in _files(root):
        if isinstance(path, Skipped):
            yield path
            continue
        try:
            url = address(path.relative_to(root), request)
        except ValueError as error:
            yield Skipped(url=str(path), reason=str(error))
            continue
        if url in taken:
            yield Skipped(url=str(path), reason=SAME_ADDRESS)
            continue
        if len(taken) >= request.max_pages:
            yield CrawlEnd(complete=False)
            return
        taken.add(url)
        yield _read(path, url, root, request)
    if taken:
        yield CrawlEnd(complete=True)
    else:
        # More likely a volume that is not mounted than a site that lost its last page.
        kinds = " ".join(sorted(MEDIA_TYPES))
        yield CrawlEnd(complete=False, failure=f"{request.root} holds no {kinds} file.")


def address(relative: Path, request: FolderRequest) -> str:
    """The address under which a file is published. Raises ValueError where none is possible."""
    parts, stem, suffix = list(relative.parts[:-1]), relative.stem, relative.suffix.lower()
    is_index = stem.lower() == "index" and MEDIA_TYPES[suffix] == "text/html"
    if suffix in MARKDOWN and request.strip_suffix:
        is_index = stem.lower() in {"index", "readme"}
        name = f"{stem}/"
    else:
        name = relative.name
    tail = "/".join([*parts, "" if is_index else name])
    return normalise(request.base_url + quote(os.fsencode(tail)))


def _files(root: Path) -> Iterator[Path | Skipped]:
    def index_first(name: str) -> tuple[bool, bytes]:
        return Path(name).stem.lower() != "index", os.fsencode(name)

    for folder, subfolders, names in os.walk(root):
        here = Path(folder)
        visible = sorted(name for name in subfolders if not name.startswith("."))
        subfolders[:] = [name for name in visible if not (here / name).is_symlink()]
        for name in visible:
            if (here / name).is_symlink():
                inside = (here / name).resolve().is_relative_to(root)
                yield Skipped(url=str(here / name), reason=LINKED_FOLDER if inside else OUTSIDE)
        for name in sorted(names, key=index_first):
            if not name.startswith(".") and Path(name).suffix.lower() in MEDIA_TYPES:
                yield here / name


def _read(path: Path, url: str, root: Path, request: FolderRequest) -> Fetched | Skipped:
    try:
        if path.is_symlink() and not path.resolve().is_relative_to(root):
            return Skipped(url=url, reason=OUTSIDE)
        found = path.stat()
        if not stat.S_ISREG(found.st_mode):
            return Skipped(url=url, reason="not a regular file")
        if found.st_size > request.max_bytes:
            return Skipped(url=url, reason=TOO_LARGE)
        stamp = f"{found.st_mtime_ns:x}-{found.st_size:x}"
        known = request.known.get(url)
        unchanged = known is not None and known.etag == stamp
        body = b"" if unchanged else _bytes(path, request.max_bytes)
    except OSError:
        return Skipped(url=url, reason=UNREADABLE, transient=True)
    if len(body) > request.max_bytes:
        return Skipped(url=url, reason=TOO_LARGE)
    return Fetched(
        url=url,
        requested_url=url,
        media_type=MEDIA_TYPES[path.suffix.lower()],
        charset=None,
        body=body,
        etag=stamp if time.time() - found.st_mtime > SETTLED_SECONDS else "",
        not_modified=unchanged,
    )


def _bytes(path: Path, limit: int) -> bytes:
    with path.open("rb") as file:
        return file.read(limit + 1)
