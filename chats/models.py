"""Conversations. A message row exists only once its generation has finished.

Below: django.db. Above: chats.services writes, chats.selectors reads, the admin shows.
"""

from __future__ import annotations

from django.conf import settings
from django.db import models

from chats.events import FinishReason


class Chat(models.Model):
    """A conversation of one owner: a user, or an anonymous session."""

    id = models.UUIDField(primary_key=True, editable=False)
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.CASCADE
    )
    session_key = models.CharField(max_length=64, blank=True)  # anonymous owner, "" for a user
    title = models.CharField(max_length=200)
    created_at = models.DateTimeField(auto_now_add=True)
    active_at = models.DateTimeField()  # of the newest message

    class Meta:
        ordering = ("-active_at", "-id")
        indexes = (
            models.Index(fields=("-active_at", "-id"), name="chat_activity"),
            models.Index(fields=("user", "-active_at", "-id"), name="chat_of_user"),
            models.Index(fields=("session_key", "-active_at", "-id"), name="chat_of_session"),
        )

    def __str__(self) -> str:
        return self.title


class Message(models.Model):
    """A question or an answer. Answers that were written again stay, no longer current."""

    class Role(models.TextChoices):
        USER = "user", "user"
        ASSISTANT = "assistant", "assistant"

    id = models.UUIDField(primary_key=True, editable=False)
    chat = models.ForeignKey(Chat, on_delete=models.CASCADE, related_name="messages")
    position = models.PositiveIntegerField()  # user even, assistant odd
    is_current = models.BooleanField(default=True)  # the newest answer at its position
    role = models.CharField(max_length=16, choices=Role.choices)
    content = models.TextField(blank=True)
    created_at = models.DateTimeField()
    # Answers only.
    finish_reason = models.CharField(
        max_length=16, choices=[(reason.value, reason.value) for reason in FinishReason], blank=True
    )
    error_code = models.CharField(max_length=32, blank=True)
    error_message = models.CharField(max_length=500, blank=True)
    sources = models.JSONField(default=list, blank=True)  # as sent
    model = models.CharField(max_length=200, blank=True)
    prompt_tokens = models.PositiveIntegerField(null=True, blank=True)  # as the model counts
    completion_tokens = models.PositiveIntegerField(null=True, blank=True)
    first_token_ms = models.PositiveIntegerField(null=True, blank=True)
    duration_ms = models.PositiveIntegerField(null=True, blank=True)

    class Meta:
        ordering = ("chat_id", "position")
        constraints = (
            models.UniqueConstraint(
                fields=("chat", "position"),
                condition=models.Q(is_current=True),
                name="message_chat_position",
            ),
        )
        indexes = (
            # All that the totals by day read, so that they read the index alone.
            models.Index(
                fields=(
                    "role",
                    "created_at",
                    "finish_reason",
                    "prompt_tokens",
                    "completion_tokens",
                    "first_token_ms",
                    "duration_ms",
                ),
                name="message_usage",
            ),
        )

    def __str__(self) -> str:
        return f"{self.role} {self.position}"


class Feedback(models.Model):
    """What the owner of a chat thinks of one of its answers."""

    class Rating(models.TextChoices):
        UP = "up", "up"
        DOWN = "down", "down"

    message = models.OneToOneField(
        Message, on_delete=models.CASCADE, primary_key=True, related_name="feedback"
    )
    rating = models.CharField(max_length=8, choices=Rating.choices)
    comment = models.TextField(blank=True)
    given_at = models.DateTimeField()

    class Meta:
        verbose_name_plural = "feedback"

    def __str__(self) -> str:
        return self.rating


class Generation(models.Model):
    """Journal row of a running answer; gone in the transaction that stores the exchange."""

    message_id = models.UUIDField(primary_key=True, editable=False)  # of the answer to come
    user_message_id = models.UUIDField()
    chat_id = models.UUIDField(unique=True)  # one running answer a chat
    opens_chat = models.BooleanField(default=False)  # the chat is written with the exchange
    regenerates = models.BooleanField(default=False)  # the question is stored, with an answer
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.CASCADE
    )
    session_key = models.CharField(max_length=64, blank=True)
    question = models.TextField()
    said = models.TextField(blank=True)  # at the last heartbeat
    sources = models.JSONField(default=list, blank=True)
    model = models.CharField(max_length=200, blank=True)
    worker = models.CharField(max_length=200, blank=True)  # see workers.py
    stop_requested = models.BooleanField(default=False)
    started_at = models.DateTimeField()
    heartbeat_at = models.DateTimeField(db_index=True)

    def __str__(self) -> str:
        return f"generation {self.pk}"


class IdempotentRequest(models.Model):
    """A question that came with an Idempotency-Key, and the answer that was begun for it."""

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.CASCADE
    )
    session_key = models.CharField(max_length=64, blank=True)
    key = models.CharField(max_length=255)
    fingerprint = models.CharField(max_length=64)  # of what was asked, and where
    message_id = models.UUIDField()  # of the answer
    created_at = models.DateTimeField(db_index=True)

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=("user", "key"),
                condition=models.Q(user__isnull=False),
                name="idempotent_of_user",
            ),
            models.UniqueConstraint(
                fields=("session_key", "key"),
                condition=models.Q(user__isnull=True),
                name="idempotent_of_session",
            ),
        )

    def __str__(self) -> str:
        return f"request for {self.message_id}"
