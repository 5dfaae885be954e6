"""API keys: knox tokens with a name. Only a hash is stored; the key itself is shown once.

Below: knox. Above: authentication, the apikey command, the admin.
"""

from __future__ import annotations

from django.db import models
from knox.models import AbstractAuthToken


class ApiKey(AbstractAuthToken):  # type: ignore[misc]
    name = models.CharField(max_length=100, help_text="What the key is for.")
    may_write = models.BooleanField(
        default=False, help_text="May add and delete documents over RCP, not only read."
    )

    class Meta:
        ordering = ("-created",)
        verbose_name = "API key"

    def __str__(self) -> str:
        return f"{self.name} ({self.token_key}…)"
