"""RerankerUnavailable: the order of fusion stays, with a note."""

from __future__ import annotations


class RerankerUnavailable(Exception):
    """The message is ours and safe to show: no address, no key, no text of a server."""
