"""The crawl's own process: `python -m retrieval.ingest.crawl.child`, job in, frames out.

Below: spider, settings, output, wire. Above: process. It knows nothing of Django: an event loop
that cannot be started twice, and the memory of a hostile site, stay out of the server.
"""

from __future__ import annotations

import logging
import os
from contextlib import suppress

from scrapy.crawler import AsyncCrawlerProcess

from retrieval.ingest.crawl.output import Output, RecordHandler
from retrieval.ingest.crawl.session import Session
from retrieval.ingest.crawl.settings import scrapy_settings
from retrieval.ingest.crawl.spider import PageSpider
from retrieval.ingest.crawl.wire import read_job

READ_BYTES = 64 * 1024
MEMORY_BYTES = 1024**3  # more than a crawl within its caps can need


def main() -> None:
    descriptor = _claim_stdout()
    _limit_memory()
    request, options = read_job(iter(lambda: os.read(0, READ_BYTES), b""))
    output = Output(descriptor)
    settings = scrapy_settings(options, trusted_host=request.trusted_host)
    process = AsyncCrawlerProcess(settings, install_root_handler=False)
    root = logging.getLogger()
    root.handlers[:] = [RecordHandler(output, level=options.log_level)]
    root.setLevel(options.log_level)
    session = Session(request, robot=options.robot, window=2 * options.concurrency)
    process.crawl(PageSpider, session=session, output=output)
    process.start(install_signal_handlers=False)


def _claim_stdout() -> int:
    """Keep standard output for frames; whatever prints goes to standard error."""
    descriptor = os.dup(1)
    os.dup2(2, 1)
    return descriptor


def _limit_memory() -> None:
    with suppress(ImportError, ValueError, OSError):
        import resource

        _, hard = resource.getrlimit(resource.RLIMIT_DATA)
        resource.setrlimit(resource.RLIMIT_DATA, (MEMORY_BYTES, hard))


if __name__ == "__main__":
    main()
