"""The clients against servers that are dead, dying or wrong: an error in time, never a hang."""

from __future__ import annotations

import gc
import http.server
import json
import socket
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from retrieval import rcp
from retrieval.rcp.client import stdio
from retrieval.rcp.client.http import HttpClientTransport

SERVERS = Path(__file__).parent / "servers"
PLAIN = [sys.executable, str(SERVERS / "plain.py")]
# A child that speaks just enough to shake hands, then does what each test wants of a bad server.
BAD_SERVER = """
import json, sys, time
first = json.loads(sys.stdin.readline())
print(json.dumps({"jsonrpc": "2.0", "id": first["id"], "result": {"protocolVersion": 1,
      "server": {"name": "bad"}, "capabilities": {"retrieve": {}, "streaming": {}}}}), flush=True)
asked = json.loads(sys.stdin.readline())
def say(**more): print(json.dumps({"jsonrpc": "2.0", **more}), flush=True)
"""


DEAF_SERVER = """
import signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
time.sleep(60)
"""


def bad_server(then: str) -> list[str]:
    return [sys.executable, "-c", BAD_SERVER + then]


@pytest.mark.parametrize(
    "argv",
    [["/no/such/program"], ["/bin/false"], [sys.executable, "-c", "print('hello')"]],
    ids=["missing", "exits", "exits after a line that is no message"],
)
def test_a_server_that_cannot_be_talked_to_is_a_lost_connection(argv: list[str]) -> None:
    with pytest.raises(rcp.ConnectionLost):
        rcp.connect_stdio(argv)


@pytest.fixture
def short_grace(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stdio, "GRACE_SECONDS", 0.1)


@pytest.mark.parametrize(
    "argv",
    [[sys.executable, "-c", DEAF_SERVER], ["sleep", "60"], ["sh", "-c", "sleep 5; true"]],
    ids=["deaf", "mute", "with a child of its own"],
)
def test_a_server_that_never_answers_is_a_time_out_and_is_killed_at_once(
    argv: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stdio, "GRACE_SECONDS", 60.0)
    begun = time.monotonic()
    with pytest.raises(rcp.Timeout):
        rcp.connect_stdio(argv, timeout=0.2)
    assert time.monotonic() - begun < 4


@pytest.mark.parametrize("line", ["not json", "{}", "7"])
def test_a_server_that_writes_noise_alone_is_given_up_and_told_of_once(
    line: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(stdio, "GRACE_SECONDS", 60.0)
    begun = time.monotonic()
    with pytest.raises(rcp.ConnectionLost, match="does not write messages"):
        rcp.connect_stdio(["yes", line])
    assert time.monotonic() - begun < 10
    assert [record.message for record in caplog.records if record.name == "rcp"] == [
        "the server wrote a line that is not a message"
    ]


def test_noise_between_messages_is_borne_without_end() -> None:
    script = """
for _ in range(5):
    print("noise\\n" * 900, flush=True)
    say(method="notifications/unheard-of")
say(id=asked["id"], result={"hits": []})
sys.stdin.read()
"""
    with rcp.connect_stdio(bad_server(script)) as client:
        assert client.retrieve("q") == {"hits": []}


def test_a_listener_that_never_answers_is_a_time_out_that_leaves_no_task_behind(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as mute:
        with pytest.raises(rcp.Timeout):
            rcp.connect_http(f"http://127.0.0.1:{mute.getsockname()[1]}/rcp", timeout=0.2)
        gc.collect()
    assert [record.message for record in caplog.records if record.name == "asyncio"] == []


async def test_a_client_that_is_closed_has_lost_its_connection() -> None:
    transport = HttpClientTransport("http://127.0.0.1:9/rcp")
    await transport.close()
    with pytest.raises(rcp.ConnectionLost):
        await transport.notify(b"{}")
    with pytest.raises(rcp.ConnectionLost):
        await transport.exchange(1, b"{}", streams=False)


@pytest.mark.usefixtures("short_grace")
def test_a_server_that_does_not_read_cannot_hang_its_client() -> None:
    with rcp.connect_stdio(bad_server("time.sleep(60)"), timeout=0.3) as client:
        with pytest.raises(rcp.Timeout):
            client.retrieve("q")
        with pytest.raises(rcp.RcpError):
            client.retrieve("x" * 1_000_000)


def test_a_server_that_dies_in_the_middle_fails_every_waiting_call() -> None:
    with rcp.connect_stdio(PLAIN) as client:
        outcomes: list[Any] = []

        def ask(query: str) -> None:
            try:
                outcomes.append(client.retrieve(query))
            except rcp.RcpError as error:
                outcomes.append(type(error))

        threads = [threading.Thread(target=ask, args=("sleep:30",)) for _ in range(3)]
        for thread in threads:
            thread.start()
        ask("die")
        for thread in threads:
            thread.join(10)
        assert outcomes == [rcp.ConnectionLost] * 4
        with pytest.raises(rcp.ConnectionLost):
            client.ping()


def test_nobody_behind_the_url_is_a_lost_connection() -> None:
    with pytest.raises(rcp.ConnectionLost):
        rcp.connect_http("http://127.0.0.1:9/rcp")


@pytest.mark.parametrize(
    "answer",
    [
        'say(id=asked["id"], result=[])',
        'say(id=asked["id"], result={"hits": "none"})',
        'say(id=asked["id"], result={})',
        'say(id=asked["id"])',
        'say(id=asked["id"], error={"message": "no code"})',
        'say(id=asked["id"], error="text")',
    ],
)
def test_an_answer_that_is_malformed_is_an_internal_error(answer: str) -> None:
    with (
        rcp.connect_stdio(bad_server(answer + "\nsys.stdin.read()")) as client,
        pytest.raises(rcp.InternalError),
    ):
        client.retrieve("q")


def test_what_a_client_does_not_know_it_ignores() -> None:
    script = """
print("not json"); print("[1, 2]"); print("{}"); print()
say(id="someone-else", result={})
say(id={}, result={})
say(method="notifications/unheard-of", params={})
say(method="notifications/progress")
token = asked["params"]["_meta"]["progressToken"]
for other in ("unknown", 7, None, [], {}):
    say(method="notifications/progress", params={"progressToken": other, "progress": 0.5})
say(method="notifications/progress", params={"progressToken": token, "progress": "much"})
say(method="notifications/progress", params={"progressToken": token, "stage": 7, "partial": 7})
say(id=asked["id"], result={"hits": [], "extension": 1})
say(id=asked["id"], result={"hits": ["twice"]})
sys.stdin.read()
"""
    seen: list[rcp.Progress] = []
    with rcp.connect_stdio(bad_server(script)) as client:
        result = client.retrieve("q", on_progress=seen.append)
    assert result == {"hits": [], "extension": 1}
    assert [(frame.progress, frame.stage, frame.hits) for frame in seen] == [
        (0.0, "", []),
        (0.0, "", []),
    ]


class OddHttp(http.server.BaseHTTPRequestHandler):
    """Shakes hands, then answers with what the test has put in `reply`."""

    reply: tuple[int, str, bytes] = (200, "application/json", b"")

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        status, kind, body = self.reply
        if asked.get("method") == "initialize":
            capabilities: dict[str, Any] = {"retrieve": {}, "streaming": {}}
            result = {"protocolVersion": 1, "server": {}, "capabilities": capabilities}
            status, kind = 200, "application/json"
            body = json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": result}).encode()
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: Any) -> None:
        pass


@pytest.fixture
def odd() -> Iterator[str]:
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), OddHttp) as server:
        threading.Thread(
            target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True
        ).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.mark.parametrize(
    ("status", "kind", "body", "expected"),
    [
        (401, "text/html", b"<h1>who?</h1>", rcp.Unauthorized),
        (403, "text/plain", b"", rcp.Unauthorized),
        (404, "text/html", b"", rcp.NotFound),
        (429, "text/plain", b"", rcp.RateLimited),
        (503, "text/html", b"", rcp.BackendUnavailable),
        (500, "text/html", b"", rcp.InternalError),
        (200, "text/html", b"<h1>hello</h1>", rcp.InternalError),
        (200, "application/json", b"", rcp.InternalError),
        (200, "text/event-stream", b"", rcp.ConnectionLost),
        (200, "text/event-stream", b": hello\n\ndata: {}", rcp.ConnectionLost),
        (200, "text/event-stream", b"data: nonsense\n\n", rcp.ParseError),
    ],
)
def test_http_answers_that_are_no_rcp_become_errors_of_their_status(
    odd: str, status: int, kind: str, body: bytes, expected: type[Exception]
) -> None:
    OddHttp.reply = (status, kind, body)
    with rcp.connect_http(odd) as client, pytest.raises(expected):
        client.retrieve("q", on_progress=lambda _: None)
