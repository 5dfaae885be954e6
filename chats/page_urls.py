"""Routes of the page, at the root of the site. The API's are in urls."""

from __future__ import annotations

from django.urls import path

from chats import pages

urlpatterns = [
    path("", pages.start, name="start"),
    path("catalog.js", pages.catalog, name="catalog"),
    path("chats/<str:chat_id>", pages.chat, name="chat"),
    path("chats/<str:chat_id>/thread", pages.thread, name="chat-thread"),
    path("chats/<str:chat_id>/answers/<str:message_id>", pages.answer, name="chat-answer"),
]
