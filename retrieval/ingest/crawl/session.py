"""One crawl as a state machine: replies in, items and further addresses out. No network.

Below: frontier, scope, reading, sitemap, twins. Above: the spider, which fetches.

Two addresses are one page when they normalise alike, when one redirects to the other, or when
they differ only in a trailing slash or an index file and hold the same document (`twins`).
rel=canonical is left to the caller, who reads the pages and remembers which ones it folded.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from urllib.parse import urldefrag, urljoin

from retrieval.ingest.base import CrawlEnd, CrawlRequest, Fetched, Known, Skipped
from retrieval.ingest.crawl import media
from retrieval.ingest.crawl.directives import read_directives
from retrieval.ingest.crawl.frontier import Frontier, Target
from retrieval.ingest.crawl.reading import Reading, read
from retrieval.ingest.crawl.replies import GONE, OVERLOADED, REDIRECTS, TRANSIENT, Refusal, Reply
from retrieval.ingest.crawl.scope import Scope
from retrieval.ingest.crawl.sitemap import BadSitemap, parse_sitemap
from retrieval.ingest.crawl.twins import Twins
from retrieval.ingest.crawl.urls import normalise, resolve

MAX_HOPS = 10  # redirects from one link
MAX_LISTING_DEPTH = 3  # sitemap indexes within indexes
DOWN_AFTER = 20  # addresses in a row without a usable answer

Item = Fetched | Skipped


class Session:
    """Raises ValueError where the location is no web address."""

    def __init__(self, request: CrawlRequest, *, robot: str, window: int) -> None:
        self._request = request
        self._robot = robot  # product token that robots directives may address
        self._scope = Scope.of(request)
        self._frontier = Frontier(max_pages=request.max_pages, window=window)
        self._twins = Twins(request.known)
        self._failure: str | None = None
        self._incomplete = False
        self._unanswered = 0  # in a row
        start = Target(url=normalise(request.location), start=True)
        self._frontier.offer(replace(start, listing=request.kind == "sitemap"))

    def targets(self) -> Iterator[Target]:
        """What to ask for now; each needs one `replied` or `refused`."""
        while self._failure is None and (target := self._frontier.take()):
            yield target

    def known(self, target: Target) -> Known | None:
        """Validators for a conditional request."""
        return None if target.listing else self._request.known.get(target.url)

    def replied(self, target: Target, reply: Reply) -> list[Item]:
        self._count_answer(down=reply.status in OVERLOADED)
        location = reply.header("location")
        if reply.status in REDIRECTS and location:
            return self._redirected(target, location)
        if reply.status in {200, 203}:
            return self._listed(target, reply) if target.listing else self._read(target, reply)
        if reply.status == 304 and (known := self.known(target)):
            return self._unchanged(target, reply, known)
        return self._skip(
            target,
            f"answered {reply.status}",
            # The start page of a site is no judge of its other pages.
            gone=reply.status in GONE and not (target.start and self._request.kind == "site"),
            transient=reply.status in TRANSIENT,
        )

    def refused(self, target: Target, refusal: Refusal) -> list[Item]:
        self._count_answer(down=refusal.down)
        if refusal.fatal:
            self._fail(refusal.reason)
        return self._skip(target, refusal.reason, transient=refusal.transient)

    def end(self, *, finished: bool = True) -> CrawlEnd:
        """`finished`: whoever fetches had nothing left to do."""
        failure = self._failure
        if failure is None and not (finished and self._frontier.idle):
            failure = "the crawl broke off; the log says why"
        complete = failure is None and self._frontier.exhausted and not self._incomplete
        return CrawlEnd(complete=complete, failure=failure)

    def _redirected(self, target: Target, location: str) -> list[Item]:
        to = resolve(target.address, location)
        if to is None:
            return self._skip(target, "redirects to an address that cannot be fetched")
        if target.start and (moved := self._scope.moved(to)):
            self._scope = moved
        mine = self._scope.admit(to)
        if mine is None:
            where = "outside its path" if self._scope.on_host(to) else "to another site"
            detail = f"redirects {where}, to {to} (name that address instead)"
            return self._skip(target, f"redirects {where}", detail=detail)
        repeated = mine in target.chain or (mine == target.url and target.exact is not None)
        if repeated or len(target.chain) == MAX_HOPS:
            return self._skip(target, "redirects without end")
        self._frontier.settle(page=False)
        if mine == target.url:
            # The server insists on a spelling that is the same to us: ask once as it wants.
            exact = urldefrag(urljoin(target.address, location)).url
            self._frontier.again(replace(target, exact=exact))
        else:
            self._frontier.offer(target.redirected(mine), first=True)
        return []

    def _unchanged(self, target: Target, reply: Reply, known: Known) -> list[Item]:
        asked = read_directives(reply.headers.get("x-robots-tag", ()), robot=self._robot)
        page = Fetched(
            url=target.url,
            requested_url=target.requested_url,
            media_type="",
            charset=None,
            body=b"",
            etag=known.etag,
            last_modified=known.last_modified,
            noindex=asked.noindex,
            not_modified=True,
            linked_from=target.linked_from,
            depth=target.depth,
            links=known.links,
        )
        items = self._follow(target, known.links)
        self._frontier.settle(page=True)
        return [page, *items]

    def _read(self, target: Target, reply: Reply) -> list[Item]:
        reading = read(reply, url=target.address, robot=self._robot)
        if reading.media_type is None:
            return self._skip(target, "unsupported content type")
        links = tuple(link for link in map(self._scope.on_host, reading.page.links) if link)
        items = self._follow(target, links)
        if reading.page.refresh and self._request.kind == "site":
            # The page stands for its target, so both are equally far from the start.
            self._offer(reading.page.refresh, depth=target.depth, linked_from=target.url)
        if self._is_twin(target, reading, reply.body):
            self._frontier.settle(page=False)
            return [Skipped(url=target.url, reason="same as another page", gone=True), *items]
        page = Fetched(
            url=target.url,
            requested_url=target.requested_url,
            media_type=reading.media_type,
            charset=reading.charset,
            body=reply.body,
            etag=reading.etag,
            last_modified=reading.last_modified,
            noindex=reading.noindex,
            linked_from=target.linked_from,
            depth=target.depth,
            links=links,
        )
        self._frontier.settle(page=True)
        return [page, *items]

    def _is_twin(self, target: Target, reading: Reading, body: bytes) -> bool:
        twin = self._twins.known_twin(
            target.url, etag=reading.etag, last_modified=reading.last_modified
        )
        if twin is None or self._request.kind == "url" or not self._scope.admit(twin):
            return self._twins.is_repeated(target.url, body)
        self._frontier.offer(Target(url=twin, depth=target.depth, linked_from=target.linked_from))
        return True

    def _listed(self, target: Target, reply: Reply) -> list[Item]:
        try:
            sitemap = parse_sitemap(reply.body)
        except BadSitemap as error:
            return self._skip(target, str(error))
        items: list[Item] = []
        found = 0
        nested = sitemap.sitemaps if target.depth < MAX_LISTING_DEPTH else ()
        self._incomplete = self._incomplete or len(nested) < len(sitemap.sitemaps)
        for listing, urls in ((True, nested), (False, sitemap.pages)):
            for url in urls:
                mine = self._scope.admit(url)
                if mine is None:
                    items.append(Skipped(url=url, reason="listed by the sitemap of another site"))
                    continue
                found += 1
                depth = target.depth + 1 if listing else 0
                self._frontier.offer(Target(url=mine, depth=depth, listing=listing))
        if target.start and not found:
            self._fail(f"{target.url}: lists no page of its own site")
        self._frontier.settle(page=False)
        return items

    def _follow(self, target: Target, links: Iterable[str]) -> list[Item]:
        """Offer what a page links to; what is no document by its name is skipped at once."""
        items: list[Item] = []
        if self._request.kind != "site" or target.depth >= self._request.depth:
            return items
        for link in links:
            if media.suffix(link) not in media.BINARY_SUFFIXES:
                self._offer(link, depth=target.depth + 1, linked_from=target.url)
            elif (mine := self._scope.admit(link)) and self._frontier.note(mine):
                items.append(Skipped(url=mine, reason="unsupported file type"))
        return items

    def _offer(self, link: str, *, depth: int, linked_from: str) -> None:
        mine = self._scope.admit(link)
        if mine is not None:
            self._frontier.offer(Target(url=mine, depth=depth, linked_from=linked_from))

    def _skip(
        self,
        target: Target,
        reason: str,
        *,
        gone: bool = False,
        transient: bool = False,
        detail: str | None = None,
    ) -> list[Item]:
        skipped = Skipped(url=target.url, reason=reason, gone=gone, transient=transient)
        items: list[Item] = [skipped]
        if target.start:
            self._fail(f"{target.url}: {detail or reason}")
        elif target.listing:
            self._incomplete = True  # who knows what it lists
        elif transient and (known := self.known(target)):
            items += self._follow(target, known.links)  # its pages are not to look unlinked
        self._frontier.settle(page=False)
        return items

    def _count_answer(self, *, down: bool) -> None:
        self._unanswered = self._unanswered + 1 if down else 0
        if self._unanswered == DOWN_AFTER:
            self._fail("the site stopped answering")

    def _fail(self, failure: str) -> None:
        self._failure = self._failure or failure
        self._frontier.abandon()
