"""Routes of the search engine."""

from __future__ import annotations

from django.urls import path

from retrieval.rcp_views import RcpMethodView, RcpView
from retrieval.views import SearchView

urlpatterns = [
    path("rcp", RcpView.as_view(), name="rcp"),
    path("rcp/<path:method>", RcpMethodView.as_view(), name="rcp-method"),
    path("api/search", SearchView.as_view()),
]
