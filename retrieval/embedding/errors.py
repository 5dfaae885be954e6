"""EmbedderUnavailable: weights missing, server out of reach. Search goes on by words alone."""

from __future__ import annotations


class EmbedderUnavailable(Exception):
    """The message is ours and safe to show: no address, no key, no text of a server."""
