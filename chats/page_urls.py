"""Routes of the page, at the root of the site. The API's are in urls."""

from __future__ import annotations

from django.urls import path

from chats import pages, widget

urlpatterns = [
    path("", pages.start, name="start"),
    path("catalog.js", pages.catalog, name="catalog"),
    path("worker.js", pages.worker, name="worker"),
    path("chats/<str:chat_id>", pages.chat, name="chat"),
    path("chats/<str:chat_id>/thread", pages.thread, name="chat-thread"),
    path("chats/<str:chat_id>/answers/<str:message_id>", pages.answer, name="chat-answer"),
    path(
        "chats/<str:chat_id>/answers/<str:message_id>/passages/<int:number>",
        pages.passages,
        name="chat-passages",
    ),
    path("widget.js", widget.script, name="widget"),
    path("embed/", widget.start, name="widget-start"),
    path("embed/chats/<str:chat_id>", widget.chat, name="widget-chat"),
    path("embed/theme/<str:accent>.css", widget.theme, name="widget-theme"),
]
