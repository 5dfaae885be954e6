"""API keys in the admin: made there, shown once, revoked by deleting.

Below: models, knox. Above: the admin site.
"""

from __future__ import annotations

from typing import Any

from django.contrib import admin, messages
from django.forms import ModelForm
from django.http import HttpRequest
from knox.models import get_digest_token
from knox.settings import CONSTANTS

from fastrag_site.models import ApiKey

admin.site.site_header = admin.site.site_title = "Fastrag Site"


@admin.register(ApiKey)
class ApiKeyAdmin(admin.ModelAdmin[ApiKey]):
    list_display = ("name", "token_key", "user", "may_write", "created", "expiry")
    list_select_related = ("user",)
    search_fields = ("name", "token_key", "user__username")
    raw_id_fields = ("user",)
    fields = ("user", "name", "may_write", "expiry")

    def save_model(
        self, request: HttpRequest, obj: ApiKey, form: ModelForm[ApiKey], change: bool
    ) -> None:
        if not change:
            obj.digest, key = get_digest_token()
            obj.token_key = key[: CONSTANTS.TOKEN_KEY_LENGTH]
            shown = f"The key is {key} — copy it now, it is not shown again."
            messages.warning(request, shown)
        super().save_model(request, obj, form, change)

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> tuple[str, ...]:
        return () if obj is None else ("user",)
