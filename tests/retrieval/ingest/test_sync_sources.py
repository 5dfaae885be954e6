"""Which sources become sites, and that one sync at a time works on a site."""

from __future__ import annotations

import socket
import subprocess
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from retrieval.ingest import sync
from retrieval.ingest.lease import site_lease
from retrieval.ingest.sites import BadSource
from retrieval.models import Page, Site
from tests.factories import SiteFactory
from tests.retrieval.ingest.sync_support import SITE, Web, html, run

pytestmark = pytest.mark.django_db


# Sources


@pytest.mark.parametrize(
    ("source", "options", "says"),
    [
        ("ftp://example.org/", {}, "cannot be synced"),
        ("https://", {}, "cannot be synced"),
        ("https://user:secret@example.org/", {}, "user name"),
        ("example.org/docs", {}, "https://"),
        ("", {}, "neither"),
        ("https://example.org/", {"base_url": SITE}, "--base-url"),
        (".", {}, "--base-url https://"),
        (".", {"base_url": "docs"}, "cannot be synced"),
        ("manage.py", {}, "is a file"),
    ],
)
def test_a_bad_source_is_refused_with_what_to_do(
    source: str, options: dict[str, Any], says: str
) -> None:
    with pytest.raises(BadSource, match=says):
        sync([source], **options)
    assert not Site.objects.exists()


@pytest.mark.parametrize(
    ("source", "single", "kind", "location"),
    [
        ("https://Example.org", False, "site", "https://example.org/"),
        ("https://example.org/docs#top", False, "site", "https://example.org/docs"),
        ("https://example.org/sitemap.xml", False, "sitemap", "https://example.org/sitemap.xml"),
        ("https://example.org/a", True, "url", "https://example.org/a"),
    ],
)
def test_a_source_becomes_a_site_of_its_kind(
    web: Web, source: str, single: bool, kind: str, location: str
) -> None:
    run(source, single=single, depth=3, max_pages=7)
    site = Site.objects.get()
    assert (site.kind, site.location, site.depth, site.max_pages) == (kind, location, 3, 7)
    request = web.requests[0]
    assert (request.kind, request.depth, request.max_pages) == (kind, 3, 7)
    assert request.trusted_host == "example.org"


def test_syncing_a_remembered_source_again_keeps_its_options(web: Web) -> None:
    run(SITE, single=True, max_pages=7)
    run(SITE)
    site = Site.objects.get()
    assert (site.kind, site.max_pages) == ("url", 7)


# One at a time


def test_a_second_sync_of_the_same_site_is_refused(web: Web) -> None:
    web.put("", html("Home", "Apples are sweet."))
    site = SiteFactory.create(location=SITE, last_summary={"new": 5})
    with site_lease(site):
        summary = run()
    assert summary.failure and "is running" in summary.failure
    assert (web.requests, Site.objects.get().last_summary) == ([], {"new": 5})
    assert run().failure is None


def test_the_lease_of_a_killed_process_of_this_machine_is_taken_over(web: Web) -> None:
    ended = subprocess.Popen(["true"])
    ended.wait()
    SiteFactory.create(
        location=SITE,
        lease="old",
        lease_holder=f"{socket.gethostname()} pid {ended.pid}",
        leased_until=timezone.now() + timedelta(seconds=50),
    )
    assert run().failure is None


def test_a_lease_of_another_machine_ends_when_its_time_is_up(web: Web) -> None:
    until = timezone.now() + timedelta(seconds=50)
    site = SiteFactory.create(
        location=SITE, lease="old", lease_holder="elsewhere pid 1", leased_until=until
    )
    failure = run().failure
    assert failure and "try again in" in failure
    Site.objects.filter(pk=site.pk).update(leased_until=timezone.now())
    assert run().failure is None


def test_a_sync_that_lost_its_lease_writes_nothing_more(web: Web) -> None:
    web.put("", html("Home", "Apples are sweet."))
    web.before_end = lambda: Site.objects.update(lease="of another", last_outcome="running")
    summary = run()
    assert summary.failure and "took over" in summary.failure
    assert not Page.objects.exists()
    site = Site.objects.get()
    assert (site.lease, site.last_outcome) == ("of another", "running")
