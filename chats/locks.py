"""One owner's writes in a row, so that caps are exact under parallel requests.

Below: django.db. Above: services.
"""

from __future__ import annotations

import hashlib

from django.db import connection


def lock_owner(key: str) -> None:
    """Until this transaction ends, no other one holds the lock of the same owner.

    SQLite needs nothing: its transactions are IMMEDIATE, so writers already queue at BEGIN.
    PostgreSQL takes an advisory lock, which leaves no rows behind for owners that come once.
    """
    if not connection.in_atomic_block:
        raise RuntimeError("lock_owner() needs a transaction")
    if connection.vendor == "postgresql":
        digest = hashlib.blake2b(f"chats:{key}".encode(), digest_size=8).digest()
        with connection.cursor() as cursor:
            number = int.from_bytes(digest, "big", signed=True)
            cursor.execute("SELECT pg_advisory_xact_lock(%s)", [number])
