"""Django middleware of the site: addresses with or without a slash, static files without threads.

Below: error_views, whitenoise. Above: MIDDLEWARE in settings.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import IO, Any

from asgiref.sync import iscoroutinefunction, markcoroutinefunction
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.utils.decorators import sync_and_async_middleware
from whitenoise.middleware import WhiteNoiseMiddleware

from fastrag_site.error_views import is_machine_path

FILE_CHUNK = 65_536


@sync_and_async_middleware
def optional_slash(get_response: Callable[[HttpRequest], Any]) -> Callable[[HttpRequest], Any]:
    """Machine routes are declared without a trailing slash and answer with one as well.

    No redirect: a client would repeat a redirected POST as a GET, without its body.
    """

    def strip(request: HttpRequest) -> None:
        if is_machine_path(request.path_info):
            request.path_info = request.path_info.rstrip("/")

    if iscoroutinefunction(get_response):

        async def middleware(request: HttpRequest) -> HttpResponseBase:
            strip(request)
            response: HttpResponseBase = await get_response(request)
            return response

        return middleware

    def sync_middleware(request: HttpRequest) -> HttpResponseBase:
        strip(request)
        response: HttpResponseBase = get_response(request)
        return response

    return sync_middleware


class StaticFiles(WhiteNoiseMiddleware):  # type: ignore[misc]
    """WhiteNoise, async: the original would send every request through a thread, and its files are
    synchronous iterators, which Django reads whole with a warning.
    """

    sync_capable = True
    async_capable = True

    def __init__(self, get_response: Callable[[HttpRequest], Any]) -> None:
        super().__init__(get_response)
        self._is_async = iscoroutinefunction(get_response)
        if self._is_async:
            markcoroutinefunction(self)

    def __call__(self, request: HttpRequest) -> Any:
        return self._answer(request) if self._is_async else super().__call__(request)

    async def _answer(self, request: HttpRequest) -> HttpResponseBase:
        found = None
        if request.path_info.startswith(self.static_prefix):
            if self.autorefresh:
                found = await asyncio.to_thread(self.find_file, request.path_info)
            else:
                found = self.files.get(request.path_info)
        if found is None:
            response: HttpResponseBase = await self.get_response(request)
            return response
        return await asyncio.to_thread(_file_response, found, request)


def _file_response(found: Any, request: HttpRequest) -> HttpResponseBase:
    answer = found.get_response(request.method, request.META)
    response: HttpResponseBase
    if answer.file is None:
        response = HttpResponse(status=int(answer.status))
    else:
        response = StreamingHttpResponse(_chunks(answer.file), status=int(answer.status))
    del response["Content-Type"]
    for name, value in answer.headers:
        response[name] = value
    return response


async def _chunks(file: IO[bytes]) -> AsyncIterator[bytes]:
    with file:
        while chunk := await asyncio.to_thread(file.read, FILE_CHUNK):
            yield chunk
