"""A client signed in as a superuser, without the seconds that hashing a password takes."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.test import Client


@pytest.fixture
def admin_client(client: Client, db: None) -> Client:
    user = User(username="admin", is_staff=True, is_superuser=True, password="!")
    user.save()
    client.force_login(user)
    return client
