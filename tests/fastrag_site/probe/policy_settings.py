"""The real settings with views that do one thing each."""

from fastrag_site.settings import *  # noqa: F403

ROOT_URLCONF = "tests.fastrag_site.probe.policy_urls"
