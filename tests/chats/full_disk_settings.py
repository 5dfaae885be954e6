"""The site's settings on a disk that is full from some page of the database on."""

import os

from fastrag_site.settings import *  # noqa: F403
from fastrag_site.settings import DATABASES

DATABASES["default"]["OPTIONS"]["init_command"] += (
    f"PRAGMA max_page_count={int(os.environ['FULL_AT_PAGE'])};"
)
