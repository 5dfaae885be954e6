"""Errors of the fetching library → why a page was not fetched.

CrawlError
├── PrivateAddress       every address of the host is private
├── RobotsDisallow       robots.txt says no
└── RobotsUnavailable    robots.txt could not be had: the crawl ends

Above: download, robots, spider.
"""

from __future__ import annotations

import logging

from OpenSSL.SSL import Error as TLSError
from scrapy.exceptions import (
    CannotResolveHostError,
    DownloadCancelledError,
    DownloadConnectionRefusedError,
    DownloadFailedError,
    DownloadTimeoutError,
    IgnoreRequest,
    ResponseDataLossError,
)
from twisted.internet.error import ConnectError, ConnectionClosed

from retrieval.ingest.crawl.replies import Refusal

_BROKEN = (DownloadFailedError, ResponseDataLossError, ConnectError, ConnectionClosed)

logger = logging.getLogger(__name__)


class CrawlError(IgnoreRequest):  # type: ignore[misc]
    """Raised by our own parts; the crawling library logs nothing about it."""


class PrivateAddress(CrawlError):
    """Every address of the host is private, and the operator did not name it."""


class RobotsDisallow(CrawlError):
    """robots.txt does not allow this address."""


class RobotsUnavailable(CrawlError):
    """robots.txt could not be had; the message says why."""


def explain(error: BaseException | None) -> Refusal:
    match error:
        case PrivateAddress():
            return Refusal(reason="private network address")
        case RobotsDisallow():
            return Refusal(reason="robots.txt disallows")
        case RobotsUnavailable():
            return Refusal(reason=f"robots.txt {error}", transient=True, fatal=True)
        case DownloadTimeoutError():
            return Refusal(reason="timed out", transient=True, down=True)
        case DownloadConnectionRefusedError():
            return Refusal(reason="connection refused", transient=True, down=True)
        case CannotResolveHostError():
            return Refusal(reason="host name does not resolve", transient=True, down=True)
        case DownloadCancelledError() | IgnoreRequest():
            # Only the caps on received and on unpacked bytes end a download like this.
            return Refusal(reason="too large")
    if _is_tls(error):
        return Refusal(reason="TLS certificate or handshake refused", transient=True, down=True)
    if isinstance(error, _BROKEN):
        return Refusal(reason="connection failed", transient=True, down=True)
    logger.warning("A response could not be read: %r", error)
    return Refusal(reason="could not be read", transient=True)


def _is_tls(error: BaseException | None) -> bool:
    """Whether a TLS error is among the causes."""
    pending, seen = [error], 0
    while pending and seen < 20:
        one, seen = pending.pop(), seen + 1
        if isinstance(one, TLSError) or "VerificationError" in type(one).__name__:
            return True
        if one is not None:
            pending += [one.__cause__, one.__context__]
            pending += [reason.value for reason in getattr(one, "reasons", ())]
    return False
