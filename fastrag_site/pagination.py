"""Cursor pages: `{results, next, previous}`, stable while rows are added.

Below: errors. Above: list views, which subclass it with an `ordering`.
"""

from __future__ import annotations

from typing import Any

from rest_framework.exceptions import NotFound
from rest_framework.pagination import CursorPagination
from rest_framework.request import Request

from fastrag_site.errors import ValidationFailed


class CursorPages(CursorPagination):
    page_size = 50
    max_page_size = 200
    page_size_query_param = "limit"
    page_size_query_description = "Most results of a page: 1 to 200, else 50."
    cursor_query_description = "From `next` or `previous` of an earlier page."
    ordering = "-pk"

    def get_paginated_response_schema(self, schema: dict[str, Any]) -> dict[str, Any]:
        address = {"type": "string", "format": "uri", "nullable": True}
        return {
            "type": "object",
            "properties": {"results": schema, "next": address, "previous": address},
            "required": ["results", "next", "previous"],
        }

    def decode_cursor(self, request: Request) -> Any:
        try:
            return super().decode_cursor(request)
        except NotFound as error:
            problem = ["Take it from `next` or `previous` of an earlier page."]
            raise ValidationFailed(fields={"cursor": problem}) from error
