"""A few real pages, indexed the way the product does it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from retrieval.ingest import sync
from tests.live import ROOT, Server, environment

BASE = "https://docs.example/"
PAGES = {
    "tides.html": """
        <html lang="en"><head><title>Tides</title><meta property="og:site_name" content="Sea">
        <link rel="icon" href="/icon.png"></head><body><main><h1>Tides</h1>
        <p>The moon pulls the water of the oceans towards it. High tide comes twice a day because
        the earth turns under two bulges of water.</p>
        <h2>Spring tides</h2>
        <p>At full moon and new moon the sun helps the moon. The tides are then higher than usual
        and are called spring tides.</p></main></body></html>""",
    "lighthouses.html": """
        <html lang="en"><head><title>Lighthouses</title></head><body><main><h1>Lighthouses</h1>
        <p>A lighthouse warns ships of rocks at night. Each one has its own rhythm of flashes, so
        that sailors know which light they see.</p>
        <h2>Lenses</h2><p>Augustin Fresnel invented a lens of many thin rings. It sends the light
        of a small lamp over thirty kilometres.</p></main></body></html>""",
    "boats.html": """
        <html lang="en"><head><title>Boats</title></head><body><main><h1>Boats</h1>
        <p>A sailing boat can go against the wind by tacking. To tack, turn the bow through the
        wind and let the sails change sides.</p></main></body></html>""",
    "gezeiten.html": """
        <html lang="de"><head><title>Gezeiten</title></head><body><main><h1>Gezeiten</h1>
        <p>Der Mond zieht das Wasser der Meere an. Ebbe und Flut wechseln sich zweimal am Tag
        ab.</p></main></body></html>""",
}


def write_pages(folder: Path) -> Path:
    for name, text in PAGES.items():
        (folder / name).write_text(text)
    return folder


def index_pages(folder: Path) -> None:
    """Into the database of this process."""
    sync([str(write_pages(folder))], base_url=BASE, vectors=False)


def index_pages_of(server: Server, folder: Path) -> None:
    """Into a server's database, while it runs."""
    subprocess.run(
        [sys.executable, "manage.py", "sync", str(write_pages(folder)), "--base-url", BASE],
        cwd=ROOT,
        env=environment(server.var_dir, "fastrag_site.settings", None),
        check=True,
        capture_output=True,
    )
