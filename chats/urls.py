"""Routes of the chat API, under /api. A trailing slash is optional on each."""

from __future__ import annotations

from django.urls import path

from chats.views import ChatsView, ChatView, MessagesView

urlpatterns = [
    path("chats", ChatsView.as_view()),
    path("chats/<str:chat_id>", ChatView.as_view()),
    path("chats/<str:chat_id>/messages", MessagesView.as_view()),
]
