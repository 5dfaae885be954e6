"""XHTML → HTML syntax. In XML an empty element may close itself; in HTML that leaves it open.

Pure; above: ingest.parse, for documents that are served as XML.
"""

from __future__ import annotations

import re

from retrieval.ingest.html.tags import named

_SELF_CLOSED = re.compile(r"<([a-zA-Z][^\s/<>]*)((?:\s[^<>]*)?)/>")
_VOID = named("area base br col embed hr img input link meta param source track wbr")


def as_html(markup: str) -> str:
    def opened(match: re.Match[str]) -> str:
        name = match[1]
        return match[0] if name.lower() in _VOID else f"<{name}{match[2]}></{name}>"

    return _SELF_CLOSED.sub(opened, markup)
