"""`POST /rcp` and `/rcp/<method>`: RCP over the site's own HTTP, one stateless request at a time.

Below: handlers.server, the SDK's HTTP rules, fastrag_site (who asks, how often, streams). Above:
urls. What the site refuses before RCP comes to it is answered in RCP's words all the same.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing

from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.utils.crypto import salted_hmac
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from fastrag_site import shutdown
from fastrag_site.api_errors import headers, to_refusal
from fastrag_site.errors import RequestRefused
from fastrag_site.streaming import EventStreamResponse
from fastrag_site.threads import release_connections
from fastrag_site.throttling import CallerThrottle, caller_of
from retrieval import rcp
from retrieval.handlers.callers import Visitor
from retrieval.handlers.server import site_server
from retrieval.rcp.jsonio import loads
from retrieval.rcp.messages import failure, id_of, wants_no_answer
from retrieval.rcp.transports.http import Frames, HttpReply, HttpRequest, reply_of
from retrieval.rcp_schema import rcp_described, rcp_method_described

SESSION_CHARS = 200
OF_GRACE = 0.8  # after so much of it open streams are ended, so that their last frame gets out

logger = logging.getLogger(__name__)


class RcpView(APIView):
    http_method_names = ["post"]  # noqa: RUF012  (declared so by Django)

    @rcp_described  # type: ignore[untyped-decorator]
    def post(self, request: Request, method: str | None = None) -> HttpResponseBase:
        shutdown.refuse_if_draining()
        site = site_server()
        if site.offer is not None:
            site.offer.renew()
        asked = HttpRequest(
            body=request.body,
            method=method,
            accept=request.META.get("HTTP_ACCEPT", ""),
            session=request.META.get("HTTP_RCP_SESSION", "")[:SESSION_CHARS] or None,
        )
        exchange = site.endpoint.open(asked, caller_from(request, view=self))
        release_connections()  # other threads do the work
        exchange.start()
        if exchange.channel is None:
            exchange.answer.wait()
        return response_of(site.endpoint.reply(exchange), site.server)

    def handle_exception(self, exc: Exception) -> Response:
        refusal = to_refusal(exc)
        if refusal.status >= 500 and refusal is not exc:
            logger.error("%s answered for %s", refusal.code, type(exc).__name__, exc_info=exc)
        response = refused(self.request, refusal)
        if refusal.status == 405:
            response["Allow"] = "POST"
        return response  # type: ignore[return-value]  # DRF passes on any response


class RcpMethodView(RcpView):
    """The same, under a path that names the method."""

    @rcp_method_described  # type: ignore[untyped-decorator]
    def post(self, request: Request, method: str | None = None) -> HttpResponseBase:
        response: HttpResponseBase = super().post(request, method)
        return response


def caller_from(request: Request, *, view: APIView) -> rcp.Caller:
    """Ids of requests are a user's own; those of the anonymous, only with an RCP-Session."""
    is_known = bool(request.user.is_authenticated)
    owner = caller_of(request)
    if not is_known:  # what is kept names no address
        owner = f"anonymous:{salted_hmac('rcp.owner', owner).hexdigest()[:16]}"
    visitor = Visitor(
        owner=owner,
        is_known=is_known,
        may_write=bool(getattr(request.auth, "may_write", False)),
        charge=_meter(request, view),
    )
    return rcp.Caller(scope=owner if is_known else None, identity=visitor)


def _meter(request: Request, view: APIView) -> Callable[[], float]:
    """Counts the members of a batch as the requests that they are; the view has paid for one."""
    paid = [True]

    def charge() -> float:
        if paid:
            paid.pop()
            return 0.0
        throttle = CallerThrottle()
        return 0.0 if throttle.allow_request(request, view) else throttle.wait()

    return charge


def response_of(reply: HttpReply, server: rcp.Server) -> HttpResponseBase:
    if reply.frames is not None:
        return EventStreamResponse(_frames(reply.frames, server))
    response = HttpResponse(reply.body, status=reply.status, headers=dict(reply.headers))
    if reply.status == 204:
        del response["Content-Type"]
    return response


async def _frames(frames: Frames, server: rcp.Server) -> AsyncGenerator[bytes, None]:
    loop, patience = asyncio.get_running_loop(), OF_GRACE * shutdown.grace()

    def end() -> None:
        """What takes longer than the process has left ends with a reply, as streams should."""
        reason = "the server is shutting down"
        loop.call_later(patience, server.runtime.abort_all, reason)

    with shutdown.told(end):
        async with aclosing(frames):  # which cancels what still runs
            async for frame in frames:
                yield frame


def refused(request: Request, refusal: RequestRefused) -> HttpResponse:
    """The refusal as the reply to the request, as far as its id can be read."""
    try:
        message = loads(request.body)
    except Exception:  # too large, not JSON, cut off: then there is no id
        message = None
    reply = reply_of(failure(id_of(message), error_of(refusal)))
    response = HttpResponse(
        reply.body, status=refusal.status, headers={**dict(reply.headers), **headers(refusal)}
    )
    if wants_no_answer(message):
        response.content = b""
        del response["Content-Type"]
    return response


def error_of(refusal: RequestRefused) -> rcp.RcpError:
    wait = None if refusal.retry_after is None else 1_000 * refusal.retry_after
    match refusal.status:
        case 401 | 403:
            return rcp.Unauthorized(refusal.message, forbidden=refusal.status == 403)
        case 413:
            return rcp.PayloadTooLarge(refusal.message)
        case 429:
            return rcp.RateLimited(refusal.message, retry_after_ms=wait)
        case 503:
            return rcp.BackendUnavailable(refusal.message, retry_after_ms=wait)
        case status if status < 500:
            return rcp.InvalidRequest(refusal.message)
    return rcp.InternalError(refusal.message)
