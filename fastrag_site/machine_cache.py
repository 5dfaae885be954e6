"""A Django cache that all processes on one machine share, for what they count together.

Below: django.core.cache, SQLite. Above: CACHES in settings. A small file of its own, without a
journal: its contents may be lost, and are then counted anew. Values are whatever JSON can hold.
"""

from __future__ import annotations

import contextlib
import json
import random
import sqlite3
import time
from collections.abc import Iterator
from typing import Any

from django.core.cache.backends.base import DEFAULT_TIMEOUT, BaseCache

BUSY_SECONDS = 1.0
SWEPT = 0.01  # of all new keys: then those that have expired are deleted
_FOREVER = 1e18
_SCHEMA = """
CREATE TABLE IF NOT EXISTS entry (key TEXT PRIMARY KEY, value, expires REAL) WITHOUT ROWID
"""
_PUT = "INSERT INTO entry VALUES (?, ?, ?) ON CONFLICT (key) DO UPDATE SET"
_REPLACE = "value = excluded.value, expires = excluded.expires"


class MachineCache(BaseCache):
    def __init__(self, location: str, params: dict[str, Any]) -> None:
        super().__init__(params)
        self._path = location

    def get(self, key: str, default: Any = None, version: int | None = None) -> Any:
        query = "SELECT value FROM entry WHERE key = ? AND expires > ?"
        rows = self._run(query, self._key(key, version), time.time())
        if not rows:
            return default
        value = rows[0][0]
        return value if isinstance(value, int) else json.loads(value)

    def set(
        self,
        key: str,
        value: Any,
        timeout: Any = DEFAULT_TIMEOUT,
        version: int | None = None,
    ) -> None:
        self._put(_REPLACE, key, value, timeout, version)

    def add(
        self,
        key: str,
        value: Any,
        timeout: Any = DEFAULT_TIMEOUT,
        version: int | None = None,
    ) -> bool:
        expired = f"{_REPLACE} WHERE entry.expires <= {time.time()!r}"
        added = bool(self._put(f"{expired} RETURNING 1", key, value, timeout, version))
        if added and random.random() < SWEPT:
            self._run("DELETE FROM entry WHERE expires <= ?", time.time())
        return added

    def incr(self, key: str, delta: int = 1, version: int | None = None) -> int:
        """At once for all processes. Raises ValueError where there is nothing to add to."""
        query = "UPDATE entry SET value = value + ? WHERE key = ? AND expires > ? RETURNING value"
        rows = self._run(query, delta, self._key(key, version), time.time())
        if not rows:
            raise ValueError(f"Key {key!r} not found")
        return int(rows[0][0])

    def touch(self, key: str, timeout: Any = DEFAULT_TIMEOUT, version: int | None = None) -> bool:
        query = "UPDATE entry SET expires = ? WHERE key = ? AND expires > ? RETURNING 1"
        return bool(self._run(query, self._expiry(timeout), self._key(key, version), time.time()))

    def delete(self, key: str, version: int | None = None) -> bool:
        return bool(
            self._run("DELETE FROM entry WHERE key = ? RETURNING 1", self._key(key, version))
        )

    def clear(self) -> None:
        self._run("DELETE FROM entry")

    def _put(self, conflict: str, key: str, value: Any, timeout: Any, version: int | None) -> Any:
        stored = value if isinstance(value, int) else json.dumps(value)
        return self._run(
            f"{_PUT} {conflict}", self._key(key, version), stored, self._expiry(timeout)
        )

    def _key(self, key: str, version: int | None) -> str:
        return self.make_and_validate_key(key, version=version)

    def _expiry(self, timeout: Any) -> float:
        expiry = self.get_backend_timeout(timeout)
        return _FOREVER if expiry is None else expiry

    def _run(self, query: str, *parameters: object) -> list[Any]:
        with self._database() as database:
            try:
                return database.execute(query, parameters).fetchall()
            except sqlite3.OperationalError as error:
                if "no such table" not in str(error):
                    raise
            database.execute(_SCHEMA)
            return database.execute(query, parameters).fetchall()

    @contextlib.contextmanager
    def _database(self) -> Iterator[sqlite3.Connection]:
        database = sqlite3.connect(self._path, timeout=BUSY_SECONDS, isolation_level=None)
        try:
            database.execute("PRAGMA journal_mode = OFF")
            database.execute("PRAGMA synchronous = OFF")
            yield database
        finally:
            database.close()
