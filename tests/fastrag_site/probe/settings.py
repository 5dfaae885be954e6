"""The real settings with the probe's routes, and compression that must not hold frames back."""

from fastrag_site.settings import *  # noqa: F403
from fastrag_site.settings import MIDDLEWARE

MIDDLEWARE = ["django.middleware.gzip.GZipMiddleware", *MIDDLEWARE]
ROOT_URLCONF = "tests.fastrag_site.probe.urls"
