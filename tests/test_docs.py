"""What the documentation says is true: links lead somewhere, commands exist, settings match."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import MISSING, fields
from pathlib import Path

import pytest
from django.core.management import get_commands, load_command_class
from django.urls import resolve

from fastrag_site.conf import Conf

ROOT = Path(__file__).resolve().parent.parent
PAGES = sorted([ROOT / "README.md", ROOT / "CHANGELOG.md", *(ROOT / "docs").rglob("*.md")])
FENCE = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")
COMMAND = re.compile(r"manage\.py (\w+)((?: [^\n`|]*)?)")
ROUTE = re.compile(r"`(?:GET|POST|PATCH|PUT|DELETE) (/[^`?\s]*)")


def mentions(pattern: re.Pattern[str]) -> Iterator[tuple[str, str]]:
    for page in PAGES:
        for match in pattern.finditer(page.read_text()):
            yield page.name, match.group(0)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_relative_link_leads_to_a_file(page: Path) -> None:
    targets = [link for link in LINK.findall(page.read_text()) if "://" not in link]
    assert [link for link in targets if not (page.parent / link).exists()] == []


@pytest.mark.parametrize(("page", "mention"), sorted(set(mentions(COMMAND))))
def test_every_command_exists_and_takes_the_options_shown(page: str, mention: str) -> None:
    match = COMMAND.match(mention)
    assert match is not None
    name, rest = match.groups()
    app = get_commands()[name]
    command = load_command_class(app, name) if isinstance(app, str) else app
    arguments = [word for word in shlex.split(rest.replace("…", "")) if word != "&"]
    if "--" in rest:
        command.create_parser("manage.py", name).parse_args(arguments)


@pytest.mark.parametrize("route", sorted({m for _, m in mentions(ROUTE)}))
def test_every_route_exists(route: str) -> None:
    match = ROUTE.match(route)
    assert match is not None
    path = re.sub(r"\{[^}]*\}", "0190a000-0000-7000-8000-000000000000", match.group(1))
    assert resolve(path).func is not None


def test_every_setting_is_documented_with_its_default() -> None:
    text = (ROOT / "docs" / "configuration.md").read_text()
    rows = re.findall(r"^\| `FASTRAG_(\w+)` \| `([^`]*)` \|", text, re.MULTILINE)
    documented = {name: default for name, default in rows if name != "VAR_DIR"}
    assert documented == {field.name.upper(): default_of(field) for field in fields(Conf)}


def default_of(field: object) -> str:
    default = getattr(field, "default", MISSING)
    if default is MISSING:
        default = getattr(field, "default_factory")()  # noqa: B009  (typed as a union)
    if isinstance(default, dict):
        return str(default.get("BACKEND", default))
    return str(default)
