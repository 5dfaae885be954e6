"""One spelling for every web address: pure functions, no network.

Below: nothing. Above: the crawl, and whoever compares addresses of pages.
"""

from __future__ import annotations

import re
import socket
from ipaddress import IPv6Address
from urllib.parse import unquote, urljoin, urlsplit, urlunsplit

import idna

MAX_CHARS = 2_000  # what a stored page's address holds
MAX_HOST = 253
DEFAULT_PORTS = {"http": 80, "https": 443}

UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
IN_PATH = UNRESERVED | frozenset("!$&'()*+,;=:@/")
IN_QUERY = IN_PATH | frozenset("?")

# Parameters that tell an advertiser how a visitor came, and never what is shown.
TRACKING_PREFIXES = ("utm_", "pk_", "mtm_", "hsa_")
_TRACKING = (
    "gclid gclsrc dclid gbraid wbraid fbclid msclkid yclid ysclid twclid ttclid igshid igsh "
    "li_fat_id mc_cid mc_eid mkt_tok vero_id _hsenc _hsmi _gl _ga"
)
TRACKING = frozenset(_TRACKING.split())
INDEX_NAMES = frozenset(
    f"{stem}.{suffix}" for stem in ("index", "default") for suffix in ("html", "htm", "php")
)

_NORMAL = re.compile(r"[A-Za-z0-9._~!$&'()*+,;=:@/-]*")  # both in paths and in queries
_PIECE = re.compile(r"%[0-9A-Fa-f]{2}|.", re.DOTALL)
_PLAIN_HOST = re.compile(r"[a-z0-9_.-]+")
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")


def normalise(url: str) -> str:
    """The one spelling of an http(s) address. Raises ValueError for anything else.

    Scheme and host in lower case (IDNA, number forms of an address as an address), no default
    port, no fragment, no tracking parameters, no dot segments, percent-encoding in normal form.
    """
    if len(url) > 5 * MAX_CHARS:
        raise ValueError("an address far too long")
    address, question_mark, rest = url.strip().partition("?")
    parts = urlsplit(address.replace("\\", "/") + question_mark + rest)
    if parts.scheme not in DEFAULT_PORTS:
        raise ValueError("not a web address")
    if "@" in parts.netloc:
        raise ValueError("an address with a user name is not fetched")
    host, port = host_name(parts.hostname or ""), parts.port
    netloc = host if port in {None, DEFAULT_PORTS[parts.scheme]} else f"{host}:{port}"
    path = _without_dots(_encoded(parts.path or "/", IN_PATH))
    normal = urlunsplit((parts.scheme, netloc, path, _query(parts.query), ""))
    if len(normal) > MAX_CHARS:
        raise ValueError(f"an address longer than {MAX_CHARS:,} characters")
    return normal


def resolve(base: str, reference: str) -> str | None:
    """Where a link on `base` leads, normalised; None where it is no web address."""
    try:
        return normalise(urljoin(base, reference.strip()))
    except ValueError:
        return None


def host_name(host: str) -> str:
    """The one spelling of a host. Raises ValueError."""
    host = unquote(host).lower()
    if ":" in host:
        return f"[{IPv6Address(host.strip('[]')).compressed}]"
    if len(host) > MAX_HOST:
        raise ValueError("the host name is too long")
    if not _PLAIN_HOST.fullmatch(host):
        try:
            host = idna.encode(host, uts46=True).decode()
        except UnicodeError as error:
            raise ValueError("the host name is not valid") from error
    host = host.rstrip(".")
    if not host or not _PLAIN_HOST.fullmatch(host):
        raise ValueError("the host name is missing or not valid")
    if _NUMBER.fullmatch(host.rpartition(".")[2]):
        # Resolvers read 2130706433 and 0x7f.1 as addresses, so these are what they mean.
        try:
            return socket.inet_ntoa(socket.inet_aton(host))
        except OSError as error:
            raise ValueError("the host is a number that is no address") from error
    return host


def twin_key(url: str) -> str:
    """Equal for addresses that servers often answer alike: /a and /a/, / and /index.html."""
    parts = urlsplit(url)
    folder, _, name = parts.path.rpartition("/")
    path = folder if name.lower() in INDEX_NAMES else parts.path
    return urlunsplit(parts._replace(path=path.rstrip("/")))


def _encoded(text: str, allowed: frozenset[str]) -> str:
    """Percent-encoding where it is needed, in upper case, and nowhere else."""

    if _NORMAL.fullmatch(text):
        return text

    def piece(match: re.Match[str]) -> str:
        token = match[0]
        if len(token) == 3:
            character = chr(int(token[1:], 16))
            return character if character in UNRESERVED else token.upper()
        if token in allowed:
            return token
        return "".join(f"%{byte:02X}" for byte in token.encode("utf-8", "replace"))

    return _PIECE.sub(piece, text)


def _without_dots(path: str) -> str:
    segments = path.split("/")[1:]
    kept: list[str] = []
    for segment in segments:
        if segment == "..":
            del kept[-1:]
        elif segment != ".":
            kept.append(segment)
    if segments[-1] in {".", ".."}:
        kept.append("")
    return "/" + "/".join(kept)


def _query(query: str) -> str:
    parameters = _encoded(query, IN_QUERY).split("&")
    return "&".join(one for one in parameters if one and not _tracks(one))


def _tracks(parameter: str) -> bool:
    name = unquote(parameter.partition("=")[0]).lower()
    return name in TRACKING or name.startswith(TRACKING_PREFIXES)
