"""One sync of a site at a time: a lease in the database with a heartbeat.

A killed process leaves its lease behind; it is taken over at once where the holder was a process
of this machine that is gone, else when its time is up. Below: models. Above: ingest.syncing.
"""

from __future__ import annotations

import contextlib
import logging
import os
import socket
import threading
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta

from django.db import DatabaseError, connection
from django.db.models import Q
from django.utils import timezone

from retrieval.models import Site

LEASE = timedelta(seconds=60)
BEAT_SECONDS = 10.0
logger = logging.getLogger(__name__)


class SiteBusy(Exception):
    """Another sync of this site is running."""


class LeaseLost(Exception):
    """This sync stood still for so long that another one took the site, or the site is gone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lease:
    site_id: int
    token: str

    def confirm(self) -> None:
        """Raise LeaseLost unless the site is still ours; called inside each writing transaction."""
        if not Site.objects.filter(pk=self.site_id, lease=self.token).exists():
            raise LeaseLost("another sync took over this site, or the site was removed")

    def renew(self) -> None:
        until = timezone.now() + LEASE
        Site.objects.filter(pk=self.site_id, lease=self.token).update(leased_until=until)

    def release(self) -> None:
        held = Site.objects.filter(pk=self.site_id, lease=self.token)
        held.update(lease="", lease_holder="", leased_until=None)


@contextlib.contextmanager
def site_lease(site: Site) -> Iterator[Lease]:
    """Hold the site for the length of the block. Raises SiteBusy that says what to do."""
    lease = _acquire(site)
    done = threading.Event()
    beat = threading.Thread(target=_beat, args=(lease, done), name="sync-lease", daemon=True)
    beat.start()
    try:
        yield lease
    finally:
        done.set()
        beat.join()
        lease.release()


def _acquire(site: Site) -> Lease:
    lease = Lease(site_id=site.pk, token=uuid.uuid4().hex)
    now = timezone.now()
    free = Q(lease="") | Q(leased_until__isnull=True) | Q(leased_until__lt=now)
    if _take(lease, free):
        return lease
    held = Site.objects.filter(pk=site.pk).values("lease", "lease_holder", "leased_until").first()
    if held is None:
        raise SiteBusy(f"{site.location} is no longer among the sites")
    stale = not held["lease"] or _is_dead(held["lease_holder"])
    if stale and _take(lease, Q(lease=held["lease"])):
        return lease
    until = held["leased_until"] or now
    wait = max(1, round((until - now).total_seconds()))
    raise SiteBusy(
        f"Another sync of {site.location} is running ({held['lease_holder']}). Wait until it has "
        f"ended; if it was killed, try again in {wait} s."
    )


def _take(lease: Lease, condition: Q) -> bool:
    rows = Site.objects.filter(condition, pk=lease.site_id).update(
        lease=lease.token,
        lease_holder=f"{socket.gethostname()} pid {os.getpid()}"[:300],
        leased_until=timezone.now() + LEASE,
        last_outcome=Site.Outcome.RUNNING,
    )
    return rows == 1


def _is_dead(holder: str) -> bool:
    """Whether the holder was a process of this machine that no longer exists."""
    host, _, pid = holder.rpartition(" pid ")
    if os.name != "posix" or host != socket.gethostname() or not pid.isdigit():
        return False
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return True
    except OSError:
        return False
    return False


def _beat(lease: Lease, done: threading.Event) -> None:
    """Runs in a thread: a crawl that waits on a slow host is alive all the same."""
    while not done.wait(BEAT_SECONDS):
        try:
            lease.renew()
        except DatabaseError as error:
            logger.warning("The sync lease could not be renewed: %s", error)
        finally:
            connection.close()
