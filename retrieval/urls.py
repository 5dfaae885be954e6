"""Routes of the search engine."""

from __future__ import annotations

from django.urls import path

from retrieval.views import SearchView

urlpatterns = [
    path("api/search", SearchView.as_view()),
]
