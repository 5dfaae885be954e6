"""HTML pages → Document: `parse_html`. See html.parsing."""

from retrieval.ingest.html.parsing import parse_html

__all__ = ["parse_html"]
