"""What the admin shows of other sites: links to their pages, and their text. A leaf."""

from __future__ import annotations

from django.utils.html import format_html
from django.utils.safestring import SafeString


def external_link(url: str, text: str) -> SafeString:
    """A link that opens apart; an address that is not http(s) is shown and not linked."""
    if not url.lower().startswith(("http://", "https://")):
        return format_html("{} ({})", text, url)
    return format_html(
        '<a href="{}" target="_blank" rel="noopener noreferrer nofollow">{}</a>', url, text
    )


def verbatim(text: str) -> SafeString:
    """Text with its line ends and spaces, styled by admin.css."""
    return format_html('<div class="verbatim">{}</div>', text)
