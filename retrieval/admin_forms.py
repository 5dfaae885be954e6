"""The admin's form of a site: the same checks as the command line.

Below: ingest.sites. Above: admin.
"""

from __future__ import annotations

from typing import Any, ClassVar

from django import forms

from retrieval.ingest.sites import COUNT_MAX, BadSource, base_url_check, source_resolve
from retrieval.models import Site


class SiteForm(forms.ModelForm[Site]):
    depth = forms.IntegerField(
        required=False,
        min_value=0,
        max_value=COUNT_MAX,
        help_text=Site._meta.get_field("depth").help_text,
    )
    max_pages = forms.IntegerField(required=False, min_value=1, max_value=COUNT_MAX)

    class Meta:
        model = Site
        fields = (
            "location",
            "kind",
            "base_url",
            "strip_suffix",
            "depth",
            "max_pages",
            "enabled",
        )
        widgets: ClassVar[dict[str, forms.Widget]] = {
            "location": forms.TextInput(attrs={"size": 80}),
            "base_url": forms.TextInput(attrs={"size": 80}),
        }

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        kind = cleaned.get("kind", Site.Kind.SITE)
        if kind == Site.Kind.DOCUMENTS:
            raise forms.ValidationError({"kind": "Documents come over RCP, with index/add."})
        if not cleaned.get("location"):  # the field has said what is wrong
            return cleaned
        try:
            found, location = source_resolve(cleaned["location"], single=kind == Site.Kind.URL)
        except BadSource as error:
            raise forms.ValidationError({"location": _words_of(error)}) from error
        if (found == Site.Kind.FOLDER) != (kind == Site.Kind.FOLDER) or kind == Site.Kind.SITE:
            kind = found
        try:
            base_url = base_url_check(kind, cleaned.get("base_url", ""))
        except BadSource as error:
            raise forms.ValidationError({"base_url": _words_of(error)}) from error
        return {**cleaned, "kind": kind, "location": location, "base_url": base_url}


def _words_of(error: BadSource) -> str:
    """What the command line takes as an option is a field here."""
    return str(error).replace("--base-url", "Base URL")
