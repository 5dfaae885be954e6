"""Routes of the site: the page, the chat API, RCP, the admin, schema and health.

Machine routes are declared without a trailing slash; `middleware.optional_slash` takes one as well.
"""

from django.contrib import admin
from django.urls import include, path, re_path

from fastrag_site import health
from fastrag_site.docs_pages import docs_page
from fastrag_site.error_views import api_not_found
from fastrag_site.schema import DocsView, SchemaView

urlpatterns = [
    path("admin/", admin.site.urls),
    path("docs/", docs_page, name="docs"),
    path("docs/<slug:name>/", docs_page, name="docs-page"),
    path("api/schema", SchemaView.as_view(), name="schema"),
    path("api/docs", DocsView.as_view(), name="api-docs"),
    path("healthz", health.alive, name="healthz"),
    path("readyz", health.ready, name="readyz"),
    path("metrics", health.show_metrics, name="metrics"),
    path("api/", include("chats.urls")),
    path("", include("retrieval.urls")),
    path("", include("chats.page_urls")),
    re_path(r"^api(/.*)?$", api_not_found),
]

handler400 = "fastrag_site.error_views.bad_request"
handler403 = "fastrag_site.error_views.permission_denied"
handler404 = "fastrag_site.error_views.page_not_found"
handler500 = "fastrag_site.error_views.server_error"
