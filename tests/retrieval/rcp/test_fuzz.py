"""Nothing that arrives on stdin kills the server, and no id is ever answered twice."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.retrieval.rcp import schema
from tests.retrieval.rcp.engine import Engine, cancel, initialize, request, retrieve
from tests.retrieval.rcp.test_stdio import messages_of, run
from tests.retrieval.rcp.wires import open_memory

LINES = 10_000
METHODS = ["retrieve", "ping", "info", "embed", "rerank", "index/add", "shutdow", "initialize", ""]
SCRAPS = [
    b"{", b"}", b"[", b"]", b'"', b":", b",", b"\\", b"null", b"NaN", b"1e999", b"-", b"\xff",
    b"\xef\xbb\xbf", b"\r", b"\x00", b'"jsonrpc":"2.0"', b'"id":1', b'"method":"ping"',
    b'"params":{}', b"\xed\xa0\x80", b'"\\ud800"', b"9" * 30,
]  # fmt: skip

values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats()
    | st.text(max_size=8)
    | st.sampled_from(["2.0", *METHODS]),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["query", "k", "id", "_meta", "progressToken", "field", "and", "x"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)
messages = st.fixed_dictionaries(
    {},
    optional={
        "jsonrpc": st.sampled_from(["2.0", "1.0", 2]),
        "id": values,
        "method": st.sampled_from(METHODS) | values,
        "params": values,
    },
)


def random_line(source: random.Random, number: int) -> bytes:
    """Anything: noise, near misses, and requests under ids that are used once."""
    match source.randrange(6):
        case 0:
            return source.randbytes(source.randrange(60)).replace(b"\n", b" ")
        case 1:
            return b"".join(source.choices(SCRAPS, k=source.randrange(1, 12)))
        case 2:
            text = json.dumps(retrieve(id_=number)).encode()
            return text[: source.randrange(len(text))]
        case 3:
            return json.dumps(cancel(source.randrange(number + 1))).encode()
        case 4:
            members = [retrieve(id_=f"{number}.{n}") for n in range(source.randrange(4))]
            return json.dumps([*members, source.choice([7, None, {}, cancel(number)])]).encode()
    method = source.choice(METHODS)
    return json.dumps(request(method, {"query": "tower", "k": 2}, id_=number)).encode()


def all_replies(stdout: bytes) -> Iterator[dict[str, Any]]:
    for message in messages_of(stdout):
        for member in message if isinstance(message, list) else [message]:
            if "method" not in member:
                yield member


def test_ten_thousand_random_lines_do_not_kill_the_server_nor_get_two_answers() -> None:
    source = random.Random(20)
    lines = [json.dumps(initialize("first")).encode()]
    lines += [random_line(source, number) for number in range(1, LINES)]
    lines.append(json.dumps(retrieve("tower", id_="last")).encode())
    done = run("plain.py", raw=b"\n".join(lines), timeout=100)
    assert done.returncode == 0, done.stderr[-2000:]
    replies = list(all_replies(done.stdout))
    counts = Counter(
        (type(reply["id"]), reply["id"]) for reply in replies if reply["id"] is not None
    )
    assert max(counts.values()) == 1
    assert counts[str, "first"] == counts[str, "last"] == 1
    asked = {
        message["id"]
        for line in lines
        if isinstance(message := _read(line), dict) and "id" in message
    }
    assert {id_ for id_ in asked if isinstance(id_, int)} <= {id_ for _, id_ in counts}


def _read(line: bytes) -> Any:
    try:
        return json.loads(line)
    except ValueError:
        return None


@settings(deadline=None, max_examples=150, suppress_health_check=[HealthCheck.too_slow])
@given(message=messages | st.lists(messages, max_size=4) | values)
def test_whatever_json_arrives_the_reply_is_well_formed(message: Any) -> None:
    engine = Engine()
    with open_memory(engine.server) as wire:
        for reply in wire.send_raw(json.dumps(message).encode()):
            for member in reply if isinstance(reply, list) else [reply]:
                schema.check(member)
                assert ("result" in member) != ("error" in member)
    engine.server.close()


@settings(deadline=None, max_examples=150)
@given(text=st.binary(max_size=80))
def test_whatever_bytes_arrive_the_reply_is_an_error_or_none(text: bytes) -> None:
    engine = Engine()
    with open_memory(engine.server) as wire:
        for reply in wire.send_raw(text):
            assert reply["error"]["code"] in (-32700, -32600)
    engine.server.close()


def test_the_server_is_one_process_all_the_way(tmp_path: Path) -> None:
    """Lines that kill and lines that ask, alternately, to a server that is watched."""
    server = Path(__file__).parent / "servers" / "plain.py"
    with subprocess.Popen(
        [sys.executable, str(server)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdin is not None and process.stdout is not None
        for number, poison in enumerate([b"[" * 100_000, b"\xff" * 9, b'{"a":' * 999, b"\x00"]):
            process.stdin.write(poison + b"\n")
            process.stdin.write(json.dumps(request("ping", id_=number)).encode() + b"\n")
            process.stdin.flush()
            assert json.loads(process.stdout.readline())["error"]["code"] == -32700
            assert json.loads(process.stdout.readline())["id"] == number
        process.stdin.close()
        assert process.wait(10) == 0
