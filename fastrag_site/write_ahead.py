"""Keeps SQLite's write-ahead log in place while the server runs.

Whoever closes such a database last folds the log in and removes it. Here every call closes its
connection, so that this would be most of what a short transaction costs. Above: lifespan.
"""

from __future__ import annotations

import sqlite3
from contextlib import suppress
from pathlib import Path
from typing import Any

from django.db import connections


def hold_log() -> sqlite3.Connection | None:
    """An idle connection to close at the end; None where there is no such log, or no database."""
    database: dict[str, Any] = connections["default"].settings_dict
    path = Path(str(database["NAME"]))
    if not database["ENGINE"].endswith("sqlite3") or not path.is_file():
        return None
    with suppress(sqlite3.Error):
        held = sqlite3.connect(path, check_same_thread=False, timeout=1)
        held.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchall()  # opens the log
        return held
    return None
