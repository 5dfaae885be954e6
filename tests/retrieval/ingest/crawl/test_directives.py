from __future__ import annotations

import pytest

from retrieval.ingest.crawl.directives import read_directives


@pytest.mark.parametrize(
    ("values", "noindex", "nofollow"),
    [
        ([], False, False),
        (["noindex"], True, False),
        (["NoIndex, NoFollow"], True, True),
        (["none"], True, True),
        (["all", "nofollow"], False, True),
        (["index, follow"], False, False),
        (["googlebot: noindex"], False, False),
        (["fastragsite: noindex, nofollow"], True, True),
        (["unavailable_after: 25 Jun 2030 15:00:00 PST", "noindex"], True, False),
        (["max-snippet:-1, noindex"], True, False),
        (["noindex, max-snippet:-1"], True, False),
    ],
)
def test_robots_directives(values: list[str], noindex: bool, nofollow: bool) -> None:
    found = read_directives(values, robot="FastragSite")
    assert (found.noindex, found.nofollow) == (noindex, nofollow)
