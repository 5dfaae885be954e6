from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address, ip_address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.ingest.crawl.addresses import is_public

CARRIERS = ("::ffff:0:0", "::", "::ffff:0:0:0", "64:ff9b::")


@pytest.mark.parametrize("text", ["93.184.216.34", "1.1.1.1", "2606:4700::1111", "2a00:1450::1"])
def test_addresses_of_the_internet_are_public(text: str) -> None:
    assert is_public(text)
    assert is_public(ip_address(text))


@pytest.mark.parametrize(
    "text",
    [
        "127.0.0.1",
        "10.0.0.1",
        "172.16.0.1",
        "192.168.1.1",
        "169.254.169.254",
        "100.64.0.1",
        "0.0.0.0",
        "255.255.255.255",
        "240.0.0.1",
        "224.0.0.1",
        "192.0.2.1",
        "198.18.0.1",
        "::",
        "::1",
        "fe80::1",
        "fe80::1%eth0",
        "fc00::1",
        "fec0::1",
        "ff02::1",
        "2001:db8::1",
        "64:ff9b:1::a00:1",
        "::ffff:127.0.0.1",
        "::127.0.0.1",
        "::ffff:0:127.0.0.1",
        "64:ff9b::7f00:1",
        "2002:7f00:1::1",
        "2002:a9fe:a9fe::",
    ],
)
def test_addresses_of_other_networks_are_not_public(text: str) -> None:
    assert not is_public(text)


@pytest.mark.parametrize("text", ["", "localhost", "2130706433", "0x7f.1", "1.2.3"])
def test_what_is_no_address_is_not_public(text: str) -> None:
    assert not is_public(text)


@given(st.ip_addresses(v=4), st.sampled_from(CARRIERS))
def test_a_carried_address_is_as_public_as_itself(ip: IPv4Address, carrier: str) -> None:
    carried = IPv6Address(int(IPv6Address(carrier)) | int(ip))
    assert is_public(carried) == is_public(ip)


@given(st.ip_addresses(v=4))
def test_a_6to4_address_is_as_public_as_the_address_it_carries(ip: IPv4Address) -> None:
    assert is_public(IPv6Address((0x2002 << 112) | (int(ip) << 80))) == is_public(ip)
