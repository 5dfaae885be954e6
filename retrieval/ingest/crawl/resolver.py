"""Name resolution that keeps the crawl off private networks.

Every connection is made to an address that passed through here, whatever named it: a link, a
redirect, robots.txt, or a name that resolves differently the second time. Below: addresses, urls.
Above: settings, download.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from twisted.internet.interfaces import IHostnameResolver, IResolutionReceiver
from zope.interface import implementer  # type: ignore[import-untyped]

from retrieval.ingest.crawl.addresses import is_public
from retrieval.ingest.crawl.urls import host_name

MAX_REFUSED = 10_000  # host names remembered


@implementer(IHostnameResolver)
class GuardedResolver:
    """Passes public addresses on; of the trusted host (as `host_name` spells it), all."""

    def __init__(self, inner: Any, *, trusted_host: str | None, reactor: Any = None) -> None:
        self._inner = inner
        self._reactor = reactor
        self._trusted = trusted_host
        self._refused: set[str] = set()

    @classmethod
    def from_crawler(cls, crawler: Any, reactor: Any) -> GuardedResolver:
        trusted = crawler.settings["TRUSTED_HOST"]
        return cls(reactor.nameResolver, trusted_host=trusted, reactor=reactor)

    def install_on_reactor(self) -> None:
        self._reactor.installNameResolver(self)

    def refused(self, host: str) -> bool:
        """Whether the host's last resolution gave private addresses and nothing else."""
        return _spelling(host) in self._refused

    def resolveHostName(
        self,
        receiver: Any,
        hostName: str,
        portNumber: int = 0,
        addressTypes: Sequence[type] | None = None,
        transportSemantics: str = "TCP",
    ) -> Any:
        host = _spelling(hostName)
        if self._trusted is None or host != self._trusted:
            receiver = _Filter(receiver, host, self._refused)
        return self._inner.resolveHostName(
            receiver, hostName, portNumber, addressTypes, transportSemantics
        )


def _spelling(host: str) -> str:
    """As `urls` spells it: the networking library hands out international names decoded."""
    try:
        return host_name(host)
    except ValueError:
        return host


@implementer(IResolutionReceiver)
class _Filter:
    """Lets public addresses through and notes a host that has none."""

    def __init__(self, receiver: Any, host: str, refused: set[str]) -> None:
        self._receiver = receiver
        self._host = host
        self._refused = refused
        self._private = self._public = 0

    def resolutionBegan(self, resolution: Any) -> None:
        self._receiver.resolutionBegan(resolution)

    def addressResolved(self, address: Any) -> None:
        if is_public(address.host):
            self._public += 1
            self._receiver.addressResolved(address)
        else:
            self._private += 1

    def resolutionComplete(self) -> None:
        self._refused.discard(self._host)
        if self._private and not self._public and len(self._refused) < MAX_REFUSED:
            self._refused.add(self._host)
        self._receiver.resolutionComplete()
