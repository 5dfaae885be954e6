"""A small site, indexed as a sync does it: parsed, cut, stored, embedded by the default model."""

from __future__ import annotations

from datetime import timedelta

from django.utils import timezone

from retrieval.index.vectors import fill_vectors
from retrieval.ingest.base import Document, Fetched
from retrieval.ingest.chunk import passages
from retrieval.ingest.parse import parse
from retrieval.ingest.store import PageWrite, pages_store
from retrieval.models import Page, Site

LOCATION = "https://plant.example/"

PUMP = """<html lang="en"><head><title>Pumps</title>
<meta property="og:site_name" content="Plant handbook">
<link rel="icon" href="/icon.png"></head><body><main>
<h1>Pumps</h1><p>This page tells how the water pumps of the plant are run and serviced.</p>
<h2 id="pressure">Pressure</h2>
<p>{pressure}</p><p>{alarm}</p>
<h2 id="service">Service</h2><p>{service}</p></main></body></html>""".format(
    pressure=(
        "Each water pump delivers a pressure of five bar at its outlet. The gauge beside the motor "
        "shows the pressure, and the red mark on it stands for seven bar, which a pump must never "
        "reach. "
    )
    * 2,
    alarm="The pressure alarm sounds when the gauge falls below three bar for ten seconds.",
    service=(
        "A pump is serviced every spring. Close both valves first, let the pressure out and lock "
        "the motor, then change the seals and grease the bearings before it runs again. "
    )
    * 3,
)
VALVE = """<html lang="en"><head><title>Valves</title></head><body><main><h1>Valves</h1>
<p>A safety valve opens by itself when the pressure of the steam rises above nine bar, and closes
again below eight. Test it every month by lifting its lever for a moment.</p>
</main></body></html>"""
BOILER = """<html lang="en"><head><title>Boiler</title></head><body><main><h1>Boiler</h1>
<p>The boiler burns gas and heats water until it is steam. Light the burner only when the water
stands above the lower mark, and watch the flame through the small window.</p>
</main></body></html>"""
GERMAN = """<html lang="de"><head><title>Pumpen</title></head><body><main><h1>Pumpen</h1>
<p>Jede Wasserpumpe liefert einen Druck von fünf bar. Der Zeiger am Manometer zeigt den Druck, und
bei sieben bar muss die Pumpe sofort abgeschaltet werden.</p></main></body></html>"""
NOTES = """# Night shift

The night shift checks each gauge at two and at five o'clock and writes the pressure down.

## Tea

The kettle in the control room belongs to the night shift.
"""

PAGES = {
    "pumps": ("text/html", PUMP, 3),  # days since it was changed
    "valves": ("text/html", VALVE, 40),
    "boiler": ("text/html", BOILER, 400),
    "de/pumpen": ("text/html", GERMAN, 5),
    "notes.md": ("text/markdown", NOTES, 1),
}


def build() -> Site:
    site = Site.objects.create(location=LOCATION)
    pages_store(site, [_write(path, *PAGES[path][:2]) for path in PAGES])
    now = timezone.now()
    for path, (_, _, days) in PAGES.items():
        moment = now - timedelta(days=days)
        Page.objects.filter(url=f"{LOCATION}{path}").update(changed_at=moment, fetched_at=moment)
    fill_vectors()
    return site


def _write(path: str, media_type: str, text: str) -> PageWrite:
    url = f"{LOCATION}{path}"
    fetched = Fetched(
        url=url, requested_url=url, media_type=media_type, charset="utf-8", body=text.encode()
    )
    document = parse(fetched)
    assert isinstance(document, Document)
    return PageWrite(
        url=url,
        fetched=fetched,
        content_hash=path,
        recipe="test",
        document=document,
        passages=tuple(passages(document)),
    )
