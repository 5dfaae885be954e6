"""`GET /api/search`: retrieval alone. Below: services, serializers. Above: urls."""

from __future__ import annotations

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from retrieval import services
from retrieval.serializers import SearchRequestSerializer, SearchResultSerializer
from retrieval.types import Query


class SearchView(APIView):
    @extend_schema(  # type: ignore[untyped-decorator]
        operation_id="search",
        summary="Search without answering",
        parameters=[SearchRequestSerializer],
        responses=SearchResultSerializer,
    )
    def get(self, request: Request) -> Response:
        asked = SearchRequestSerializer(data=request.query_params)
        asked.is_valid(raise_exception=True)
        text, k = asked.validated_data["q"], asked.validated_data["k"]
        found = services.search(Query(text=text, k=k))
        result = {
            "query": text,
            "hits": found.hits,
            "confidence": found.confidence,
            "latency_ms": found.latency_ms,
            "notes": found.notes,
        }
        return Response(SearchResultSerializer(result).data)
