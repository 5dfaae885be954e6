"""gunicorn's settings, which it reads by itself in this folder: `gunicorn` alone serves the site.

Each may be set in the environment or in .env; docs/deploy.md lists them.
"""

from pathlib import Path

import environ

env = environ.Env()
env.read_env(Path(__file__).resolve().parent / ".env")

wsgi_app = "fastrag_site.asgi:application"
worker_class = "uvicorn_worker.UvicornWorker"
bind = env.list("BIND", default=["127.0.0.1:8000"])
workers = env.int("WEB_CONCURRENCY", default=2)
forwarded_allow_ips = env.str("FORWARDED_ALLOW_IPS", default="127.0.0.1,::1")

# A worker that has taken so many requests ends like one that is told to, and a new one takes over.
max_requests = env.int("MAX_REQUESTS", default=0)
max_requests_jitter = max_requests // 10

# Open streams end by themselves within the grace time; then the worker closes what is left.
_grace = env.float("FASTRAG_SHUTDOWN_GRACE_SECONDS", default=10.0)
graceful_timeout = env.int("GRACEFUL_TIMEOUT", default=int(_grace) + 5)
# A worker that shuts down gives no sign of life, and the one before may be half of this old.
timeout = max(30, 2 * graceful_timeout + 10)

accesslog = env.str("ACCESS_LOG", default="") or None  # "-" is the standard output
worker_tmp_dir = (
    "/dev/shm" if Path("/dev/shm").is_dir() else None
)  # no sign of life waits for a disk
control_socket_disable = True
