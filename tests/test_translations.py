"""No word of the page is left in English, and what is compiled is what was translated."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from babel.messages.catalog import Catalog
from babel.messages.mofile import read_mo

from tests.translations import ROOT, catalogs, read, words_of

CATALOGS = list(catalogs())
TEMPLATES = [ROOT / "templates/error.html", *sorted(ROOT.glob("templates/chats/*.html"))]
# What the stream reader says is for programs: words.js says it to people.
READER = {path.stem for path in ROOT.glob("clients/typescript/src/*.ts")}
SCRIPTS = [p for p in sorted(ROOT.glob("chats/static/chats/*.js")) if p.stem not in READER]
NAMES = {"Fastrag Site", "· Fastrag Site", "Markdown", "JSON"}  # the same in every language
PLACE = re.compile(r"%\(\w+\)s|<[^>]+>")
MARKED = re.compile(r"{%-? *blocktranslate.*?endblocktranslate *-?%}|{%.*?%}|{{.*?}}", re.DOTALL)
SENTENCE = re.compile(r'(?<!gettext\()(?<!Error\()["`]([A-Z][a-z]+(?: [^"`]*|[^"`]*…))["`]')


@pytest.mark.parametrize(("domain", "path"), CATALOGS)
def test_every_word_of_the_sources_is_in_the_catalog_and_no_other(domain: str, path: Path) -> None:
    assert ids(read(path)) == ids(words_of(domain))


@pytest.mark.parametrize(("domain", "path"), CATALOGS)
def test_every_word_is_translated_with_the_same_places_in_it(domain: str, path: Path) -> None:
    for message in read(path):
        if not message.id:
            continue
        texts = forms(message.string)
        assert all(texts) and not message.fuzzy, message.id
        places = {place for text in forms(message.id) for place in PLACE.findall(text)}
        assert all(set(PLACE.findall(text)) == places for text in texts), message.id


@pytest.mark.parametrize(("domain", "path"), CATALOGS)
def test_what_is_compiled_is_what_was_translated(domain: str, path: Path) -> None:
    with path.with_suffix(".mo").open("rb") as file:
        assert said(read_mo(file)) == said(read(path)), "run `make messages`"


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.name)
def test_a_template_holds_no_words_that_are_not_translated(path: Path) -> None:
    reader = Words()
    reader.feed(MARKED.sub("", path.read_text()))
    assert [text for text in reader.found if re.search("[A-Za-z]", text)] == []


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.name)
def test_a_script_holds_no_sentences_that_are_not_translated(path: Path) -> None:
    code = re.sub(r"(?<!:)//.*|/\*\*.*?\*/", "", path.read_text())
    found = SENTENCE.findall(re.sub(r"gettext\(\s+", "gettext(", code))
    assert set(found) <= NAMES | ids(words_of("djangojs"))


class Words(HTMLParser):
    """Texts and attributes that people read or hear."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        told = {"aria-label", "alt", "placeholder", "title"}
        self.found += [value or "" for name, value in attrs if name in told]

    def handle_data(self, data: str) -> None:
        if data.strip() not in NAMES:
            self.found.append(data.strip())


def ids(catalog: Catalog) -> set[str]:
    return {text for message in catalog if message.id for text in forms(message.id)}


def said(catalog: Catalog) -> dict[tuple[str, ...], tuple[str, ...]]:
    return {forms(each.id): forms(each.string) for each in catalog if each.id}


def forms(text: str | list[str] | tuple[str, ...]) -> tuple[str, ...]:
    """Singular and plural, where there is such a one."""
    return (text,) if isinstance(text, str) else tuple(text)
