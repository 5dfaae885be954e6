"""What every command of ours needs before it begins: readable words and a prepared database.

Below: django. Above: the management commands of all apps.
"""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor


class SiteCommand(BaseCommand):
    """Ends with one line, where Django would show a traceback."""

    requires_migrations_checks = True

    def execute(self, *args: Any, **options: Any) -> str | None:
        for value in options.values():
            _expect_text(value)
        return super().execute(*args, **options)

    def check_migrations(self) -> None:
        try:
            executor = MigrationExecutor(connection)
            is_behind = executor.migration_plan(executor.loader.graph.leaf_nodes())
        except DatabaseError as error:
            raise CommandError("The database is unreachable; see DATABASE_URL.") from error
        if is_behind:
            raise CommandError("The database is not prepared: run manage.py migrate.")


def _expect_text(value: Any) -> None:
    """Bytes that are no text arrive from a shell as lone surrogates, which nothing can store."""
    if isinstance(value, str):
        try:
            value.encode()
        except UnicodeEncodeError as error:
            raise CommandError("An argument is not valid UTF-8.") from error
    elif isinstance(value, list | tuple):
        for item in value:
            _expect_text(item)
