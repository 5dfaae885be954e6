"""`/healthz`, `/readyz` and `/metrics`: for load balancers, monitors and people who set things up.

Below: backends, metrics, and the apps whose parts are looked at. Above: urls.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from hmac import compare_digest

from django.conf import settings
from django.db import connection
from django.http import HttpRequest, HttpResponse, JsonResponse
from prometheus_client import CONTENT_TYPE_LATEST

from fastrag_site import metrics, shutdown
from fastrag_site.api_errors import json_response
from fastrag_site.backends import load_backend
from fastrag_site.errors import FastragError, NotAuthenticated
from fastrag_site.threads import in_thread, run_in

CHECK_SECONDS = 5.0
_CHECKING = ThreadPoolExecutor(4, "check")  # its own: a database that hangs must block no answer

logger = logging.getLogger(__name__)


class NotReady(Exception):
    """A part cannot do its work; the message says what to do, and may be shown."""


async def alive(request: HttpRequest) -> HttpResponse:
    """This process answers. Touches nothing else, so that a slow database restarts nobody."""
    return JsonResponse({"status": "ok"})


async def ready(request: HttpRequest) -> HttpResponse:
    """200 where every part can do its work, 503 with words per part where one cannot.

    What only makes search worse is told as well, but takes nobody out of service.
    """
    names = list(CHECKS)
    problems = await asyncio.gather(*(_problem_of(name) for name in names))
    checks = {name: problem or "ok" for name, problem in zip(names, problems, strict=True)}
    is_ready = all(checks[name] == "ok" for name in names if name not in DEGRADING)
    status = "not ready" if not is_ready else "degraded" if any(problems) else "ok"
    return JsonResponse(
        {"status": status, "checks": checks},
        status=200 if is_ready else 503,
        headers={} if is_ready else {"Retry-After": "5"},
    )


async def show_metrics(request: HttpRequest) -> HttpResponse:
    """Open to all, or with METRICS_TOKEN set, to `Authorization: Bearer <token>`."""
    token: str = settings.METRICS_TOKEN
    given = request.headers.get("Authorization", "").removeprefix("Bearer ")
    if token and not compare_digest(given.encode(), token.encode()):
        return json_response(NotAuthenticated("Send METRICS_TOKEN as a bearer token."))
    return HttpResponse(await in_thread(metrics.exposition), content_type=CONTENT_TYPE_LATEST)


async def _problem_of(name: str) -> str | None:
    try:
        await asyncio.wait_for(run_in(_CHECKING, CHECKS[name]), CHECK_SECONDS)
    except (NotReady, FastragError) as problem:
        return str(problem)
    except TimeoutError:
        return f"no answer within {CHECK_SECONDS:g} seconds; see {SETTINGS[name]}"
    except Exception as error:
        logger.warning("readiness: %s failed", name, exc_info=error)
        return f"failed with {type(error).__name__}; the log says more"
    return None


def check_process() -> None:
    if shutdown.draining():
        raise NotReady("this process is shutting down")


def check_database() -> None:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except Exception as error:
        logger.warning("readiness: the database failed", exc_info=error)
        raise NotReady("the database is unreachable; see DATABASE_URL") from error


def check_index() -> None:
    from retrieval.models import Chunk

    try:
        Chunk.objects.order_by().values_list("pk")[:1].exists()
    except Exception as error:
        logger.warning("readiness: the index failed", exc_info=error)
        raise NotReady("the index is unreadable; run `manage.py migrate`") from error


def check_vectors() -> None:
    from retrieval.index.condition import vectors_problem

    if problem := vectors_problem():
        raise NotReady(problem)


def check_chat_model() -> None:
    """Backends that can be out of reach offer `check()`, which raises with words of ours."""
    try:
        model = load_backend("chat_model")
    except Exception as error:
        raise NotReady(f"cannot be loaded; see FASTRAG_CHAT_MODEL ({error})") from error
    check: Callable[[], None] | None = getattr(model, "check", None)
    if check is not None:
        check()


SETTINGS = {
    "process": "SHUTDOWN_GRACE_SECONDS",
    "database": "DATABASE_URL",
    "index": "DATABASE_URL",
    "vectors": "FASTRAG_EMBEDDER",
    "chat_model": "FASTRAG_CHAT_MODEL",
}
CHECKS: dict[str, Callable[[], None]] = {
    "process": check_process,
    "database": check_database,
    "index": check_index,
    "vectors": check_vectors,
    "chat_model": check_chat_model,
}
DEGRADING = {"vectors"}  # search goes on by words
