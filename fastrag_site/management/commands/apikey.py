"""manage.py apikey: create, list and revoke API keys."""

from __future__ import annotations

from argparse import ArgumentParser
from datetime import timedelta
from typing import Any

from django.contrib.auth import get_user_model
from django.contrib.auth.models import AbstractBaseUser
from django.core.management.base import CommandError
from knox.settings import CONSTANTS

from fastrag_site.commands import SiteCommand
from fastrag_site.models import ApiKey


class Command(SiteCommand):
    help = "Create, list or revoke API keys (`Authorization: Bearer <key>`)."

    def add_arguments(self, parser: ArgumentParser) -> None:
        actions = parser.add_subparsers(dest="action", required=True)
        create = actions.add_parser("create", help="Make a key; it is printed once.")
        create.add_argument("username")
        create.add_argument("--name", default="", help="What the key is for.")
        create.add_argument("--days", type=int, help="Until it expires; without: never.")
        create.add_argument(
            "--write", action="store_true", help="May add and delete documents over RCP too."
        )
        create.add_argument(
            "--create-user", action="store_true", help="Make the user too, without a password."
        )
        listing = actions.add_parser("list", help="Show keys, never the secrets.")
        listing.add_argument("username", nargs="?")
        revoke = actions.add_parser("revoke", help="End a key.")
        revoke.add_argument("key", help="The beginning that `list` shows, or the whole key.")

    def handle(self, *args: Any, **options: Any) -> None:
        action = {"create": self._create, "list": self._list, "revoke": self._revoke}
        action[options["action"]](options)

    def _create(self, options: dict[str, Any]) -> None:
        days = options["days"]
        if days is not None and days < 1:
            raise CommandError("--days has to be at least 1.")
        user = self._user(options["username"], create=options["create_user"])
        _, key = ApiKey.objects.create(
            user=user,
            name=options["name"] or "made by manage.py",
            may_write=options["write"],
            expiry=None if days is None else timedelta(days=days),
        )
        self.stdout.write(key)

    def _list(self, options: dict[str, Any]) -> None:
        keys = ApiKey.objects.select_related("user")
        if options["username"]:
            keys = keys.filter(user=self._user(options["username"]))
        for key in keys:
            until = f"until {key.expiry:%Y-%m-%d %H:%M}" if key.expiry else "without end"
            rights = "reads and writes" if key.may_write else "reads"
            cells = (key.token_key, key.user.get_username(), rights, until, key.name)
            self.stdout.write("\t".join(cells))

    def _revoke(self, options: dict[str, Any]) -> None:
        found = ApiKey.objects.filter(token_key=options["key"][: CONSTANTS.TOKEN_KEY_LENGTH])
        if len(found) != 1:
            raise CommandError("No such key." if not found else "More than one key begins so.")
        found[0].delete()
        self.stdout.write(f"Revoked {found[0].name} of {found[0].user.get_username()}.")

    @staticmethod
    def _user(username: str, *, create: bool = False) -> AbstractBaseUser:
        model = get_user_model()
        try:
            return model._default_manager.get_by_natural_key(username)
        except model.DoesNotExist:
            if not create:
                raise CommandError(f"There is no user {username!r}; see --create-user.") from None
        return model._default_manager.create_user(username)
