"""Search results as JSON. Above: retrieval.views, chats.event_schemas (sources share the parts)."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from fastrag_site.conf import conf
from retrieval.types import Hit


class FragmentSerializer(serializers.Serializer[Any]):
    """Text fragment terms of a passage: link to `url#:~:text=start,end`."""

    start = serializers.CharField()
    end = serializers.CharField(allow_null=True, help_text="null for a short passage")


class ScoresSerializer(serializers.Serializer[Any]):
    """A passage's score on each leg of the search; null where the leg did not return it."""

    dense = serializers.FloatField(allow_null=True)
    sparse = serializers.FloatField(allow_null=True)
    rerank = serializers.FloatField(allow_null=True)


class PageSerializer(serializers.Serializer[Any]):
    """The page that a passage stands on."""

    url = serializers.CharField()
    title = serializers.CharField()
    site_name = serializers.CharField(allow_null=True)
    favicon_url = serializers.CharField(allow_null=True)


class SearchHitSerializer(serializers.Serializer[Any]):
    source = PageSerializer()  # type: ignore[assignment]
    text = serializers.CharField(help_text="verbatim; a block a line, cells of a row by tabs")
    section = serializers.ListField(child=serializers.CharField(), help_text="heading path")
    anchor = serializers.CharField(allow_null=True)
    position = serializers.IntegerField(help_text="of the passage in its page, from 0")
    fragments = FragmentSerializer(many=True, help_text="empty where a browser cannot search")
    score = serializers.FloatField()
    confidence = serializers.FloatField(help_text="0 to 1: how likely it bears on the query")
    scores = ScoresSerializer()

    def to_representation(self, instance: Hit) -> dict[str, Any]:
        data: dict[str, Any] = super().to_representation(
            {
                "source": instance,
                "text": instance.text,
                "section": instance.section,
                "anchor": instance.anchor,
                "position": instance.position,
                "fragments": [instance.fragment] if instance.fragment else [],
                "score": instance.score,
                "confidence": instance.confidence,
                "scores": instance.scores,
            }
        )
        return data


class SearchResultSerializer(serializers.Serializer[Any]):
    query = serializers.CharField()
    hits = SearchHitSerializer(many=True)
    confidence = serializers.FloatField(help_text="of the best hit; 0 with none")
    latency_ms = serializers.FloatField()
    notes = serializers.ListField(
        child=serializers.CharField(), help_text="what the search had to do without"
    )


class SearchRequestSerializer(serializers.Serializer[Any]):
    """The query string of `GET /api/search`."""

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        """Bounded by conf."""
        most_chars, most_k = conf().query_max_chars, conf().search_max_k
        return {
            "q": serializers.CharField(
                trim_whitespace=False,
                allow_blank=True,
                max_length=most_chars,
                error_messages={"max_length": f"At most {most_chars} characters."},
            ),
            "k": serializers.IntegerField(
                min_value=1,
                max_value=most_k,
                default=8,
                error_messages={"max_value": f"At most {most_k}."},
            ),
        }
