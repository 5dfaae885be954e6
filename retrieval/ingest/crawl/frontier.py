"""What is still to fetch, breadth first, and how much of it may be. Pure.

Below: nothing. Above: the crawl session.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, replace

SEEN_PER_PAGE = 20  # addresses remembered for each page that may be fetched
SEEN_LEAST = 20_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """One address to ask for."""

    url: str  # normalised: the identity
    depth: int = 0
    linked_from: str | None = None
    chain: tuple[str, ...] = ()  # addresses that redirected here
    exact: str | None = None  # spelling that the server insists on, where it is not `url`
    start: bool = False
    listing: bool = False  # a sitemap: read for its addresses, no page itself

    @property
    def requested_url(self) -> str:
        """Where the chain of redirects began."""
        return self.chain[0] if self.chain else self.url

    @property
    def address(self) -> str:
        return self.exact or self.url

    def redirected(self, url: str, *, exact: str | None = None) -> Target:
        return replace(self, url=url, exact=exact, chain=(*self.chain, self.url))


class Frontier:
    """A queue that offers each address once and hands out no more than `max_pages` can use.

    A page that turns out to be no document gives its place back.
    """

    def __init__(self, *, max_pages: int, window: int) -> None:
        self._queue: deque[Target] = deque()
        self._seen: set[str] = set()
        self._seen_most = max(SEEN_LEAST, SEEN_PER_PAGE * max_pages)
        self._window = window
        self._left = max_pages
        self._flying = 0
        self.overflowed = False

    def offer(self, target: Target, *, first: bool = False) -> bool:
        """Queue an address unless it was offered before; `first`: ahead of the others."""
        if not self.note(target.url):
            return False
        self._push(target, first=first)
        return True

    def note(self, url: str) -> bool:
        """Count an address as offered; False where it was before or there are too many."""
        if url in self._seen:
            return False
        if len(self._seen) >= self._seen_most:
            self.overflowed = True
            return False
        self._seen.add(url)
        return True

    def again(self, target: Target) -> None:
        """Queue an address that was handed out already."""
        self._push(target, first=True)

    def take(self) -> Target | None:
        """The next address to ask for now; each must be settled."""
        if not self._queue or self._flying >= self._window or self._flying >= self._left:
            return None
        self._flying += 1
        return self._queue.popleft()

    def settle(self, *, page: bool) -> None:
        self._flying -= 1
        self._left -= page

    def abandon(self) -> None:
        self._queue.clear()

    @property
    def idle(self) -> bool:
        return self._flying == 0

    @property
    def exhausted(self) -> bool:
        """Nothing was left out for want of places."""
        return not self._queue and not self.overflowed

    def _push(self, target: Target, *, first: bool) -> None:
        if first:
            self._queue.appendleft(target)
        else:
            self._queue.append(target)
