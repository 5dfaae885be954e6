"""Background work of the search index, run by `manage.py db_worker`.

Below: ingest. Above: the admin enqueues.
"""

from __future__ import annotations

from typing import Any

from django_tasks import TaskResultStatus, task
from django_tasks_db.models import DBTaskResult

from retrieval.ingest.sites import site_delete
from retrieval.ingest.syncing import sites_sync
from retrieval.models import Site


@task()
def site_sync_task(site_id: int) -> dict[str, Any]:
    """Sync one remembered site and fill vectors; the outcome is also stored on the site."""
    sites = Site.objects.filter(pk=site_id)  # none where it was removed meanwhile
    return sites_sync(list(sites)).to_dict()


@task()
def site_delete_task(site_id: int) -> dict[str, int]:
    """Remove a site with its pages, a few pages a transaction."""
    pages = [site_delete(site).pages for site in Site.objects.filter(pk=site_id)]
    return {"pruned": sum(pages)}


TASK_PATHS = tuple(one.module_path for one in (site_sync_task, site_delete_task))


def site_sync_enqueue(site_id: int) -> bool:
    """Queue a sync; False where one waits already."""
    waiting = DBTaskResult.objects.filter(
        status=TaskResultStatus.READY,
        task_path=site_sync_task.module_path,
        args_kwargs={"args": [site_id], "kwargs": {}},
    )
    if waiting.exists():
        return False
    site_sync_task.enqueue(site_id)
    return True


def site_delete_enqueue(site_id: int) -> None:
    """Queue a removal; no sync of the site starts meanwhile by itself."""
    Site.objects.filter(pk=site_id).update(enabled=False)
    site_delete_task.enqueue(site_id)
