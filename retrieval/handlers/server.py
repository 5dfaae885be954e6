"""The servers of this engine: a handler for each method, within the limits of conf.

Below: offer, the handlers. Above: the rcp command (`local_server`), rcp_views (`site_server`).
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from functools import cache

from django.conf import settings
from django.core.signals import setting_changed

from fastrag_site.conf import conf
from fastrag_site.threads import release_connections
from retrieval import rcp
from retrieval.handlers.callers import limit_rate, refuse_writing
from retrieval.handlers.connections import Params, Steps, contained
from retrieval.handlers.documents import index_add, index_delete
from retrieval.handlers.embed import embed, rerank
from retrieval.handlers.feedback import feedback
from retrieval.handlers.offer import Offer
from retrieval.handlers.retrieve import retrieve
from retrieval.rcp.transports.http import HttpEndpoint

NAME = "fastrag-site"
HANDLERS = {
    "retrieve": retrieve,
    "embed": embed,
    "rerank": rerank,
    "index/add": index_add,
    "index/delete": index_delete,
    "feedback": feedback,
}
LOCAL_BYTES = 8_000_000  # of a line from a client on this machine
NEVER = 86_400.0  # the site's own streams keep themselves alive
_building = threading.Lock()


@dataclass(frozen=True, slots=True, kw_only=True)
class SiteServer:
    """What serves the HTTP endpoint of this process."""

    endpoint: HttpEndpoint
    server: rcp.Server
    offer: Offer | None = None  # None: what the server offers does not change


def local_server(*, writable: bool = True) -> rcp.Server:
    """For one client over stdio, who may do what this process may. Raises DatabaseError."""
    server = _server(message_bytes=LOCAL_BYTES)
    offer = Offer(server, writable=writable, logs=True)
    offer.renew_fields()

    def add(params: Params) -> Steps:
        result = yield from index_add(params)
        offer.renew_fields()
        return result

    server.stream("index/add", contained(add))
    release_connections()
    return server


def site_server() -> SiteServer:
    with _building:  # one a process, also when the first requests come at once
        return _site_server()


@cache
def _site_server() -> SiteServer:
    server = _server(message_bytes=conf().request_max_bytes)
    server.guard(limit_rate)
    server.guard(refuse_writing)
    return SiteServer(server=server, endpoint=server.endpoint(), offer=Offer(server))


def _server(*, message_bytes: int) -> rcp.Server:
    limits = rcp.Limits(
        message_bytes=message_bytes,
        batch=conf().rcp_batch_max,
        concurrency=conf().rcp_concurrency,
        backlog=conf().rcp_backlog,
        deadline_seconds=conf().rcp_seconds,
        keepalive_seconds=NEVER,
    )
    server = rcp.Server(limits=limits)
    server.set_info(NAME, settings.SPECTACULAR_SETTINGS["VERSION"])
    for method, handler in HANDLERS.items():
        server.stream(method, contained(handler))
    return server


def _forget(*, setting: str, **_: object) -> None:
    if setting == "FASTRAG" and _site_server.cache_info().currsize:
        _site_server().server.close()
        _site_server.cache_clear()


setting_changed.connect(_forget)
