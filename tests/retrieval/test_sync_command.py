"""`manage.py sync` as an operator meets it."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from retrieval.ingest.progress import Phase, Progress, reporter
from retrieval.models import Site

pytestmark = pytest.mark.django_db

BASE = "https://docs.example/"


@pytest.fixture
def folder(tmp_path: Path) -> str:
    (tmp_path / "a.md").write_text("# Apples\n\nApples are sweet.")
    (tmp_path / "b.md").write_text("# Bananas\n\nBananas are yellow.")
    return str(tmp_path)


def sync(*sources: str, **options: Any) -> str:
    out = io.StringIO()
    call_command("sync", *sources, stdout=out, no_vectors=True, **options)
    return out.getvalue()


def test_the_summary_says_what_was_done(folder: str) -> None:
    text = sync(folder, base_url=BASE)
    assert f"{folder}: ok" in text
    assert "2 fetched: 2 new, 0 changed, 0 unchanged; 0 pruned; 2 chunks" in text


def test_json_holds_the_counts_and_the_sites(folder: str) -> None:
    summary = json.loads(sync(folder, base_url=BASE, json=True))
    assert (summary["failed"], summary["fetched"], summary["new"]) == (False, 2, 2)
    assert {"unchanged", "changed", "pruned", "skipped", "chunks", "seconds", "embedded"} <= set(
        summary
    )
    assert summary["sites"][0]["location"] == folder


def test_without_any_site_it_says_so_beside_the_summary() -> None:
    err = io.StringIO()
    assert json.loads(sync(json=True, stderr=err))["sites"] == []
    assert "There is no site to sync yet" in err.getvalue()


def test_without_a_source_all_sites_are_synced_again(folder: str) -> None:
    sync(folder, base_url=BASE)
    assert "2 unchanged" in sync()


def test_skipped_documents_are_told_with_reason_and_address(folder: str) -> None:
    (Path(folder) / "empty.md").write_text("")
    assert f"1 skipped: empty document ({BASE}empty.md)" in sync(folder, base_url=BASE)


def test_a_failed_sync_ends_with_an_error_after_the_summary(folder: str) -> None:
    sync(folder, base_url=BASE)
    for file in Path(folder).iterdir():
        file.unlink()
    out = io.StringIO()
    with pytest.raises(CommandError, match="1 of 1 sites failed"):
        call_command("sync", json=True, no_vectors=True, stdout=out)
    summary = json.loads(out.getvalue())
    assert summary["failed"]
    assert "holds no" in summary["sites"][0]["failure"]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["nowhere"], "neither a web address nor a folder"),
        (["https://a.example/", "--depth", "-1"], "not a number"),
        (["https://a.example/", "--max-pages", "0"], "at least 1"),
        (["--depth", "2"], "need a source"),
    ],
)
def test_a_bad_call_says_what_to_do(arguments: list[str], says: str) -> None:
    with pytest.raises(CommandError, match=says):
        call_command("sync", *arguments)
    assert not Site.objects.exists()


def test_progress_is_plain_lines_where_there_is_no_terminal() -> None:
    stream = io.StringIO()
    with reporter(stream) as report:
        for done in (1, 2, 3):
            report(Progress(phase=Phase.PAGES, done=done, detail="https://a.example/"))
        report(Progress(phase=Phase.VECTORS, done=5, total=5))
    assert stream.getvalue().splitlines() == [
        "pages: 1  https://a.example/",
        "vectors: 5/5",
    ]


def test_progress_is_a_bar_on_a_terminal() -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    stream = Terminal()
    with reporter(stream) as report:
        report(Progress(phase=Phase.PAGES, done=1))
        report(Progress(phase=Phase.VECTORS, done=2, total=4))
    assert "\r" in stream.getvalue()
    assert "2/4" in stream.getvalue()
