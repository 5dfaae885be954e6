"""Folders as sources: addresses, what is read, what is refused."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from retrieval.ingest.base import CrawlEnd, Fetched, Known, Skipped
from retrieval.ingest.folder import FolderRequest, folder_documents

BASE = "https://docs.example/"


def read(root: Path, **options: Any) -> list[Fetched | Skipped | CrawlEnd]:
    given = {"base_url": BASE, "max_pages": 100, "max_bytes": 1_000, **options}
    return list(folder_documents(FolderRequest(root=root, **given)))


def put(root: Path, name: str, text: str = "text") -> Path:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    os.utime(path, (1_000_000_000, 1_000_000_000))
    return path


def urls(items: list[Fetched | Skipped | CrawlEnd]) -> list[str]:
    return [item.url for item in items if isinstance(item, Fetched)]


def skipped(items: list[Fetched | Skipped | CrawlEnd]) -> dict[str, str]:
    return {item.url: item.reason for item in items if isinstance(item, Skipped)}


@pytest.mark.parametrize(
    ("name", "strip", "url"),
    [
        ("a.html", False, "a.html"),
        ("index.html", False, ""),
        ("guide/index.html", False, "guide/"),
        ("guide/index.md", False, "guide/index.md"),
        ("README.md", False, "README.md"),
        ("README.md", True, ""),
        ("guide/index.md", True, "guide/"),
        ("guide/setup.md", True, "guide/setup/"),
        ("notes.txt", True, "notes.txt"),
        ("a b#c?.md", False, "a%20b%23c%3F.md"),
        ("día.md", False, "d%C3%ADa.md"),
    ],
)
def test_a_file_has_one_address_under_the_base(
    tmp_path: Path, name: str, strip: bool, url: str
) -> None:
    put(tmp_path, name)
    assert urls(read(tmp_path, strip_suffix=strip)) == [BASE + url]


def test_files_come_in_a_stable_order_with_their_media_types(tmp_path: Path) -> None:
    for name in ("b.txt", "a.md", "c/d.pdf", "c/a.htm", "z.html", "image.png"):
        put(tmp_path, name)
    documents = [item for item in read(tmp_path) if isinstance(item, Fetched)]
    assert [(d.url.removeprefix(BASE), d.media_type) for d in documents] == [
        ("a.md", "text/markdown"),
        ("b.txt", "text/plain"),
        ("z.html", "text/html"),
        ("c/a.htm", "text/html"),
        ("c/d.pdf", "application/pdf"),
    ]


def test_hidden_files_and_folders_are_skipped(tmp_path: Path) -> None:
    for name in (".secret.md", ".git/config.txt", "seen.md"):
        put(tmp_path, name)
    assert urls(read(tmp_path)) == [BASE + "seen.md"]


def test_symbolic_links_that_leave_the_folder_are_refused(tmp_path: Path) -> None:
    outside = put(tmp_path, "outside/secret.md")
    root = tmp_path / "root"
    put(root, "seen.md")
    (root / "stolen.md").symlink_to(outside)
    (root / "folder").symlink_to(outside.parent)
    items = read(root)
    assert urls(items) == [BASE + "seen.md"]
    assert skipped(items) == {
        BASE + "stolen.md": "symbolic link leaves the folder",
        str(root / "folder"): "symbolic link leaves the folder",
    }


def test_a_symbolic_link_inside_the_folder_is_read_and_loops_end(tmp_path: Path) -> None:
    put(tmp_path, "v2.md")
    (tmp_path / "latest.md").symlink_to("v2.md")
    (tmp_path / "loop").symlink_to(tmp_path)
    items = read(tmp_path)
    assert urls(items) == [BASE + "latest.md", BASE + "v2.md"]
    assert list(skipped(items).values()) == ["symbolic link to a folder is not followed"]


def test_the_folder_itself_may_be_a_symbolic_link(tmp_path: Path) -> None:
    put(tmp_path, "real/a.md")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    assert urls(read(tmp_path / "link")) == [BASE + "a.md"]


def test_what_cannot_be_read_has_a_reason(tmp_path: Path) -> None:
    put(tmp_path, "large.md", "x" * 1_001)
    (tmp_path / "dangling.md").symlink_to(tmp_path / "nothing")
    os.mkfifo(tmp_path / "pipe.md")
    assert skipped(read(tmp_path)) == {
        BASE + "large.md": "larger than the size limit",
        BASE + "dangling.md": "file cannot be read",
        BASE + "pipe.md": "not a regular file",
    }


def test_an_unchanged_time_stamp_and_size_costs_no_read(tmp_path: Path) -> None:
    path = put(tmp_path, "a.md")
    (first, _) = read(tmp_path)
    assert isinstance(first, Fetched)
    known = {first.url: Known(etag=first.etag)}
    path.chmod(0)
    (again, _) = read(tmp_path, known=known)
    assert isinstance(again, Fetched)
    assert (again.not_modified, again.body) == (True, b"")


def test_a_file_just_written_has_no_stamp_yet(tmp_path: Path) -> None:
    path = put(tmp_path, "a.md")
    os.utime(path)
    (fresh, _) = read(tmp_path)
    assert isinstance(fresh, Fetched)
    assert fresh.etag == ""


def test_two_files_with_one_address_are_one_page(tmp_path: Path) -> None:
    put(tmp_path, "README.md")
    put(tmp_path, "index.md")
    items = read(tmp_path, strip_suffix=True)
    assert urls(items) == [BASE]
    assert skipped(items) == {str(tmp_path / "README.md"): "another file has the same address"}


def test_the_page_limit_leaves_the_crawl_incomplete(tmp_path: Path) -> None:
    for name in ("a.md", "b.md", "c.md"):
        put(tmp_path, name)
    items = read(tmp_path, max_pages=2)
    assert len(urls(items)) == 2
    assert items[-1] == CrawlEnd(complete=False)


def test_a_missing_or_an_empty_folder_is_a_failure(tmp_path: Path) -> None:
    (missing,) = read(tmp_path / "missing")
    (empty,) = read(tmp_path)
    assert isinstance(missing, CrawlEnd)
    assert isinstance(empty, CrawlEnd)
    assert "There is no folder" in (missing.failure or "")
    assert "holds no" in (empty.failure or "")
