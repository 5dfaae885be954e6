"""Routes of the chat API, under /api. A trailing slash is optional on each."""

from __future__ import annotations

from django.urls import path

from chats.message_views import (
    ExportView,
    FeedbackView,
    MessagesView,
    RegenerateView,
    StopView,
)
from chats.views import ChatsView, ChatView

urlpatterns = [
    path("chats", ChatsView.as_view()),
    path("chats/<str:chat_id>", ChatView.as_view()),
    path("chats/<str:chat_id>/messages", MessagesView.as_view()),
    path("chats/<str:chat_id>/stop", StopView.as_view()),
    path("chats/<str:chat_id>/export", ExportView.as_view()),
    path(
        "chats/<str:chat_id>/messages/<str:message_id>/regenerate",
        RegenerateView.as_view(),
    ),
    path("chats/<str:chat_id>/messages/<str:message_id>/feedback", FeedbackView.as_view()),
]
