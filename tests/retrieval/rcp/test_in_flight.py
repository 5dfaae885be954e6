"""Many requests at once over stdio: progress, random cancels, one reply each."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from tests.retrieval.rcp import schema
from tests.retrieval.rcp.engine import cancel, initialize, request, retrieve

SERVER = Path(__file__).parent / "servers" / "plain.py"
COUNT = 50


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_fifty_in_flight_with_random_cancels_get_one_reply_each_and_frames_in_order(
    seed: int,
) -> None:
    source = random.Random(seed)
    messages: list[Any] = [initialize("hello")]
    for number in range(COUNT):
        messages.append(
            retrieve(f"sleep:{source.random() / 4:.2f}", id_=number, token=f"t{number}")
        )
    cancelled = source.sample(range(COUNT), 20)
    for number in cancelled:
        messages.insert(source.randrange(number + 2, len(messages)), cancel(number))
    messages.insert(source.randrange(2, len(messages)), request("ping", id_="ping"))
    done = subprocess.run(
        [sys.executable, str(SERVER)],
        input="\n".join(map(json.dumps, messages)).encode(),
        capture_output=True,
        timeout=60,
        check=True,
    )
    received = [json.loads(line) for line in done.stdout.splitlines()]  # pure, or this fails
    replies: dict[Any, list[Any]] = defaultdict(list)
    frames: dict[str, list[Any]] = defaultdict(list)
    for message in received:
        schema.check(message)
        if "method" in message:
            token = message["params"]["progressToken"]
            frames[token].append(message["params"]["progress"])
            assert int(token[1:]) not in replies, "a frame after the reply"
        else:
            replies[message["id"]].append(message)
    assert set(replies) == {"hello", "ping", *range(COUNT)}
    assert all(len(answers) == 1 for answers in replies.values())
    assert all(progress == sorted(progress) for progress in frames.values())
    for number in range(COUNT):
        code = replies[number][0].get("error", {}).get("code")
        assert code in ((None, -32006) if number in cancelled else (None,))
    assert done.stderr == b""
