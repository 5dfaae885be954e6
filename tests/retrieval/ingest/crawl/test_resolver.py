"""The guard between names and connections, with a name server that changes its mind."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from retrieval.ingest.crawl.resolver import GuardedResolver
from retrieval.ingest.crawl.urls import host_name


class Address:
    def __init__(self, host: str) -> None:
        self.host = host


class NameServer:
    """Gives the next list of addresses at each look."""

    def __init__(self, *answers: Sequence[str]) -> None:
        self.answers = list(answers)

    def resolveHostName(self, receiver: Any, *_: Any) -> None:
        receiver.resolutionBegan(None)
        for host in self.answers.pop(0):
            receiver.addressResolved(Address(host))
        receiver.resolutionComplete()


class Connection:
    """Collects what a connection would be made to."""

    def __init__(self) -> None:
        self.addresses: list[str] = []
        self.began = self.complete = False

    def resolutionBegan(self, _: Any) -> None:
        self.began = True

    def addressResolved(self, address: Address) -> None:
        self.addresses.append(address.host)

    def resolutionComplete(self) -> None:
        self.complete = True


def connect(guard: GuardedResolver, host: str) -> list[str]:
    connection = Connection()
    guard.resolveHostName(connection, host)
    assert connection.began
    assert connection.complete
    return connection.addresses


def test_public_addresses_pass() -> None:
    guard = GuardedResolver(NameServer(["1.1.1.1", "2606:4700::1111"]), trusted_host=None)
    assert connect(guard, "h") == ["1.1.1.1", "2606:4700::1111"]
    assert not guard.refused("h")


@pytest.mark.parametrize("private", ["127.0.0.1", "169.254.169.254", "::1", "64:ff9b::a00:1"])
def test_private_addresses_do_not_pass(private: str) -> None:
    guard = GuardedResolver(NameServer([private]), trusted_host="other")
    assert connect(guard, "h") == []
    assert guard.refused("h")


def test_a_name_that_is_private_at_the_second_look_is_refused_then() -> None:
    guard = GuardedResolver(NameServer(["1.1.1.1"], ["127.0.0.1"], ["1.1.1.1"]), trusted_host=None)
    assert [connect(guard, "h") for _ in range(2)] == [["1.1.1.1"], []]
    assert guard.refused("h")
    assert connect(guard, "h") == ["1.1.1.1"]
    assert not guard.refused("h")


def test_of_mixed_addresses_only_the_public_ones_pass() -> None:
    guard = GuardedResolver(NameServer(["10.0.0.1", "1.1.1.1"]), trusted_host=None)
    assert connect(guard, "h") == ["1.1.1.1"]
    assert not guard.refused("h")


def test_a_name_without_addresses_is_not_called_private() -> None:
    guard = GuardedResolver(NameServer([]), trusted_host=None)
    assert connect(guard, "h") == []
    assert not guard.refused("h")


@pytest.mark.parametrize("host", ["intranet", "bücher.intranet", "xn--bcher-kva.intranet", "::1"])
def test_the_host_that_the_operator_named_may_be_private(host: str) -> None:
    names = NameServer(["127.0.0.1"], ["127.0.0.1"])
    guard = GuardedResolver(names, trusted_host=host_name(host))
    assert connect(guard, host) == ["127.0.0.1"]
    assert connect(guard, "evil.intranet") == []
