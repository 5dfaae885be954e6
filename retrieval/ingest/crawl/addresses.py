"""Which network addresses belong to the public internet. Pure; above: the crawl's resolver."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address

Address = IPv4Address | IPv6Address

# Ranges whose addresses carry an IPv4 address in their last 32 bits: a gateway unpacks it.
_CARRIERS = tuple(
    IPv6Network(network)
    for network in (
        "::/96",  # IPv4-compatible
        "::ffff:0:0/96",  # IPv4-mapped
        "::ffff:0:0:0/96",  # IPv4-translated (SIIT)
        "64:ff9b::/96",  # NAT64
    )
)
# Not to be reached, though Python (some versions of it) calls them global.
_LOCAL = tuple(IPv6Network(network) for network in ("64:ff9b:1::/48", "fec0::/10", "3fff::/20"))


def is_public(address: str | Address) -> bool:
    """True for a unicast address of the public internet, False for anything else.

    `ipaddress.is_global`, after unpacking the IPv4 address that NAT64, 6to4 and mapped forms carry.
    """
    try:
        ip = ip_address(address)
    except ValueError:
        return False
    if isinstance(ip, IPv6Address):
        carried = _carried(ip)
        if carried is not None:
            return is_public(carried)
        if any(ip in network for network in _LOCAL):
            return False
    return ip.is_global and not ip.is_multicast and not ip.is_reserved


def _carried(ip: IPv6Address) -> IPv4Address | None:
    if ip.sixtofour is not None:
        return ip.sixtofour
    if any(ip in network for network in _CARRIERS):
        return IPv4Address(int(ip) & 0xFFFF_FFFF)
    return None
