"""The real settings with the probe's routes, and compression that must not hold frames back."""

import os
from pathlib import Path

from fastrag_site.settings import *  # noqa: F403
from fastrag_site.settings import BASE_DIR, MIDDLEWARE

MIDDLEWARE = ["django.middleware.gzip.GZipMiddleware", *MIDDLEWARE]
ROOT_URLCONF = "tests.fastrag_site.probe.urls"
BASE_DIR = Path(os.environ.get("PROBE_BASE_DIR", BASE_DIR))  # what runserver watches
