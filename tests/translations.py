"""The catalogs of the page's words: what the sources say, what is translated, what is compiled.

`make messages` adds new words to locale/*/LC_MESSAGES/*.po, drops gone ones, and compiles. Needs
Babel alone, no gettext on the system.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path

import django
from babel.messages.catalog import Catalog
from babel.messages.extract import extract
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po
from django.conf import settings

ROOT = Path(__file__).resolve().parent.parent
KEYWORDS = {"_": None, "gettext": None, "gettext_noop": None, "gettext_lazy": None}
KEYWORDS |= {"ngettext": (1, 2)}
ERRORS = ["fastrag_site/errors.py", "fastrag_site/error_views.py", "fastrag_site/authentication.py"]
# What a browser is told in the catalog script, and what the server's own templates and code say.
SOURCES = {
    "djangojs": ["chats/static/chats/*.js", *ERRORS],
    "django": ["templates/*.html", "templates/chats/*.html", "chats/**/*.py", *ERRORS],
}
_NEVER = datetime(2026, 1, 1, tzinfo=UTC)  # a header without the day makes no drift


def words_of(domain: str) -> Catalog:
    """Every word that the sources of a domain mark for translation."""
    found = Catalog()
    for path in sorted({path for pattern in SOURCES[domain] for path in ROOT.glob(pattern)}):
        place = str(path.relative_to(ROOT))
        for _, message, _, _ in _extracted(path):
            found.add(message, locations=[(place, 0)])
    return found


def catalogs() -> Iterator[tuple[str, Path]]:
    """Domain and path of each catalog that there is or should be."""
    for folder in sorted((ROOT / "locale").iterdir()):
        for domain in SOURCES:
            yield domain, folder / "LC_MESSAGES" / f"{domain}.po"


def read(path: Path) -> Catalog:
    with path.open("rb") as file:
        return read_po(file, locale=path.parent.parent.name)


def _extracted(path: Path) -> Iterator[tuple[int, str | tuple[str, ...], list[str], str | None]]:
    text = path.read_text()
    if path.suffix == ".html":
        from django.utils.translation.template import templatize

        # Each line for itself: what is left of a template is indented as Python never is.
        text = "\n".join(line.strip() for line in templatize(text).splitlines())
    method = "javascript" if path.suffix == ".js" else "python"
    yield from extract(method, BytesIO(text.encode()), keywords=KEYWORDS)


def update(domain: str, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    language = path.parent.parent.name
    catalog = read(path) if path.exists() else Catalog(locale=language)
    catalog.update(words_of(domain), no_fuzzy_matching=True)
    catalog.obsolete.clear()
    catalog.creation_date = catalog.revision_date = _NEVER
    catalog.fuzzy = False
    with path.open("wb") as file:
        write_po(file, catalog, width=100, sort_by_file=True, include_lineno=False)
    with path.with_suffix(".mo").open("wb") as file:
        write_mo(file, catalog)


if __name__ == "__main__":
    settings.configure()
    django.setup()
    for domain, path in catalogs():
        update(domain, path)
