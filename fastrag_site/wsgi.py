"""There is no WSGI application: answers are streamed, and that takes an ASGI server."""

from django.core.exceptions import ImproperlyConfigured

raise ImproperlyConfigured(
    "Serve fastrag_site.asgi:application instead, with an ASGI server: "
    "`uvicorn fastrag_site.asgi:application`, or "
    "`gunicorn -k uvicorn_worker.UvicornWorker fastrag_site.asgi:application`."
)
