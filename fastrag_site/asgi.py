"""The ASGI application, for uvicorn, and gunicorn with uvicorn-worker."""

import os

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "fastrag_site.settings")
django.setup(set_prefix=False)

from fastrag_site.body_limit import BodyLimit  # noqa: E402
from fastrag_site.handler import Handler  # noqa: E402
from fastrag_site.lifespan import Lifespan  # noqa: E402
from fastrag_site.request_id import RequestId  # noqa: E402

application = Lifespan(RequestId(BodyLimit(Handler())))
