"""Our servers driven by the protocol's independent Python SDK, and its server by our client."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from retrieval import rcp

reference = pytest.importorskip("rcp")

SERVERS = Path(__file__).parent / "servers"


def argv(name: str, *more: str) -> list[str]:
    return [sys.executable, str(SERVERS / name), *more]


@pytest.fixture(params=["stdio", "http"])
def their_client(request: pytest.FixtureRequest) -> Iterator[Any]:
    """The independent client, connected to our server in another process."""
    if request.param == "stdio":
        client = reference.connect_stdio(argv("plain.py"))
        yield client
        client.shutdown()
        return
    with subprocess.Popen(argv("plain.py", "http"), stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        client = reference.connect_http(f"http://127.0.0.1:{int(server.stdout.readline())}/rcp")
        yield client
        client.shutdown()
        server.terminate()


def refused(code: int) -> Any:
    return pytest.raises(reference.RcpError, match=str(code))


def test_their_client_shakes_hands_with_our_server(their_client: Any) -> None:
    assert their_client.server["name"] == "plain"
    assert their_client.protocol_version == 1
    assert their_client.supports(reference.Capability.Retrieve)
    assert not their_client.supports(reference.Capability.Graph)
    assert their_client.info()["server"]["version"] == "2.0"
    assert their_client.ping("n")["nonce"] == "n"


def test_their_client_searches_our_server(their_client: Any) -> None:
    hits = their_client.retrieve("tower", k=2)
    assert [hit["id"] for hit in hits] == ["d2", "d5"]
    assert hits[0]["text"] == "the eiffel tower"
    assert their_client.search("tower", k=1)["usage"]["candidates"] == 2


def test_their_client_embeds_and_reranks_on_our_server(their_client: Any) -> None:
    assert their_client.embed(["a", "bbb"]) == [[1.0, 0.5, -1.0], [3.0, 0.5, -1.0]]
    assert their_client.rerank("q", ["a", "ccc"]) == [1.0, 3.0]
    encoded = their_client.call("embed", {"inputs": ["a"], "encoding": "f32-base64"})
    assert reference.decode_vectors(
        encoded["vectors"], encoded["encoding"], encoded["dimension"]
    ) == [[1.0, 0.5, -1.0]]


def test_their_client_writes_to_our_index(their_client: Any) -> None:
    added = their_client.index_add({"documents": [{"id": "z1", "text": "a zebra"}]})
    assert added["ids"] == ["z1"]
    assert their_client.retrieve("zebra")[0]["id"] == "z1"
    assert their_client.index_delete({"ids": ["z1", "absent"]})["deleted"] == 1
    assert their_client.feedback([{"hitId": "z1", "used": True}])["accepted"] == 1
    assert their_client.transform("q", "multi-query")["queries"] == ["q", "q"]


def test_our_errors_are_theirs(their_client: Any) -> None:
    with refused(-32602):
        their_client.retrieve("q", k=0)
    with refused(-32005):
        their_client.retrieve("q", opts={"mode": "dense"})
    with refused(-32004):
        their_client.call("no/such", {})
    with refused(-32003):
        their_client.call("graph", {"op": "local"})
    with refused(-32010):
        their_client.retrieve("fail")


@pytest.fixture(params=["stdio", "http"])
def our_client(request: pytest.FixtureRequest) -> Iterator[rcp.Client]:
    """Our client, connected to the independent server."""
    if request.param == "stdio":
        with rcp.connect_stdio(argv("reference.py")) as client:
            yield client
        return
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with subprocess.Popen(argv("reference.py", "http", str(port))) as server:
        _wait_for(port, server)
        with rcp.connect_http(f"http://127.0.0.1:{port}/rcp") as client:
            yield client
        server.terminate()


def _wait_for(port: int, server: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + 10
    while time.monotonic() < until and server.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        except OSError:
            time.sleep(0.02)
    raise AssertionError("the server did not come up")


def test_our_client_drives_their_server(our_client: rcp.Client) -> None:
    assert our_client.server["name"] == "reference"
    assert our_client.retrieve("q", 3)["hits"] == [{"id": "a", "score": 1.0, "text": "alpha"}]
    assert our_client.embed(["x", "y"]) == [[1.0, 2.0], [1.0, 2.0]]
    assert our_client.rerank("q", ["a", "bb"])["scores"] == [1.0, 2.0]
    assert our_client.index_add([{"id": "n", "text": "new"}]) == {"ids": ["n"]}
    assert our_client.index_delete(["n"]) == {"deleted": 1}
    assert our_client.ping("n") == {"nonce": "n"}


def test_our_client_reads_their_errors(our_client: rcp.Client) -> None:
    with pytest.raises(rcp.NotFound, match="no such thing"):
        our_client.retrieve("fail")
    with pytest.raises(rcp.UnknownMethod):
        our_client.call("no/such")
    with pytest.raises(rcp.CapabilityMissing):
        our_client.feedback([{"hitId": "a"}])


def test_our_client_follows_their_progress(our_client: rcp.Client) -> None:
    frames: list[rcp.Progress] = []
    assert our_client.retrieve("q", on_progress=frames.append)["hits"][0]["id"] == "a"
    stages = [frame.stage for frame in frames]
    assert stages in (["recall", "rerank"], [])  # their stdio server may drain it


@pytest.mark.parametrize("k", [None, 1, 3])
def test_both_fuse_alike_where_nothing_ties(k: int | None) -> None:
    dense = [{"id": id_, "score": 1.0 - n / 10} for n, id_ in enumerate("abcd")]
    sparse = [{"id": id_, "score": 9.0 - n} for n, id_ in enumerate("cbxyz")]
    ours = rcp.rrf_fuse({"dense": dense, "sparse": sparse}, k=k)
    theirs = reference.rrf_fuse({"dense": dense, "sparse": sparse}, k=k)
    assert [hit["id"] for hit in ours] == [hit["id"] for hit in theirs]


def test_vectors_of_one_side_are_read_by_the_other() -> None:
    vectors = [[1.0, -2.5, 0.125], [0.0, 3.0, 1e-3]]
    ours = rcp.encode_vectors(vectors, "f32-base64")
    read = reference.decode_vectors(ours["vectors"], ours["encoding"], ours["dimension"])
    assert [pytest.approx(row) for row in read] == vectors
    payload, meta = reference.encode_vectors(vectors, "f32-base64")
    decoded = rcp.decode_vectors(payload, meta["encoding"], meta["dimension"])
    assert [pytest.approx(row) for row in decoded] == vectors
