"""The documentation that the demo cites."""

from __future__ import annotations

import pytest
from django.test import Client

from tests.live import ROOT


def test_a_page_is_shown_under_the_address_that_the_demo_indexes(client: Client) -> None:
    page = client.get("/docs/indexing/")
    assert page.status_code == 200
    assert '<h1 id="indexing">Indexing</h1>' in page.content.decode()


def test_the_menu_stands_after_the_text_so_that_citations_match_the_text_first(
    client: Client,
) -> None:
    html = client.get("/docs/").content.decode()
    assert html.index("</main>") < html.index("<nav")


def test_links_between_pages_lead_to_their_served_addresses(client: Client) -> None:
    assert '.md"' not in client.get("/docs/getting-started/").content.decode()


def test_links_to_the_openapi_document_lead_to_the_one_that_is_served(client: Client) -> None:
    page = client.get("/docs/clients/").content.decode()
    assert 'href="/api/schema"' in page
    assert 'href="openapi.yaml"' not in page


@pytest.mark.parametrize("name", ["nope", "..", "README", "%2e%2e%2fREADME"])
def test_a_name_that_is_no_page_is_not_found(client: Client, name: str) -> None:
    assert client.get(f"/docs/{name}/").status_code == 404


@pytest.mark.parametrize("page", [path.name for path in (ROOT / "docs").glob("*.md")])
def test_the_readme_leads_to_every_page(page: str) -> None:
    assert f"(docs/{page})" in (ROOT / "README.md").read_text()
