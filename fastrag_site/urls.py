"""Routes of the site: the chat API, RCP, the admin, schema and health."""

from django.contrib import admin
from django.urls import path

urlpatterns = [
    path("admin/", admin.site.urls),
]
