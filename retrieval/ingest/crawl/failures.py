"""Errors of the fetching library → why a page was not fetched.

CrawlError
├── PrivateAddress       every address of the host is private
├── RobotsDisallow       robots.txt says no
└── RobotsUnavailable    robots.txt could not be had: the crawl ends

Above: download, robots, spider.
"""

from __future__ import annotations

from OpenSSL.SSL import Error as TLSError
from scrapy.exceptions import (
    CannotResolveHostError,
    DownloadCancelledError,
    DownloadConnectionRefusedError,
    DownloadTimeoutError,
    IgnoreRequest,
)

from retrieval.ingest.crawl.replies import Refusal


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
    reason = "TLS certificate or handshake refused" if _is_tls(error) else "connection failed"
    return Refusal(reason=reason, transient=True, down=True)


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
