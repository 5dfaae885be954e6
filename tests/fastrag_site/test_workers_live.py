"""Two workers of one server count together."""

from __future__ import annotations

from collections import Counter

from tests.live import ServerFactory

LIMIT = 7


def test_a_rate_limit_holds_for_both_workers_together(real_server: ServerFactory) -> None:
    server = real_server(
        command="gunicorn",
        args=("--workers", "2"),
        env={"FASTRAG_REQUESTS_PER_MINUTE": str(LIMIT)},
    )
    statuses: Counter[int] = Counter()
    for _ in range(3 * LIMIT):
        with server.get("/api/chats", timeout=60) as response:
            statuses[response.status] += 1
    assert statuses == {200: LIMIT, 429: 2 * LIMIT}
