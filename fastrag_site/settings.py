"""Environment → Django settings. The only reader of os.environ; docs/configuration.md lists it."""

from dataclasses import fields
from pathlib import Path
from typing import Any

import environ
from corsheaders.defaults import default_headers
from csp.constants import NONE, SELF

from fastrag_site.conf import Conf

BASE_DIR = Path(__file__).resolve().parent.parent
env = environ.Env()
environ.Env.read_env(BASE_DIR / ".env")
# Empty is unset: that is how compose files pass on what nobody has set.
env.ENVIRON = {name: value for name, value in env.ENVIRON.items() if value.strip()}

VAR_DIR = Path(env.str("FASTRAG_VAR_DIR", default=str(BASE_DIR / "var")))
VAR_DIR.mkdir(parents=True, exist_ok=True)


def _fastrag_from_environment() -> dict[str, Any]:
    """FASTRAG_<KEY> for every key of Conf, cast by its type."""
    casts = {"bool": env.bool, "int": env.int, "float": env.float, "str": env.str}
    found: dict[str, Any] = {}
    for field in fields(Conf):
        name = f"FASTRAG_{field.name.upper()}"
        if name in env:
            found[field.name.upper()] = casts.get(str(field.type), env.json)(name)
    return found


FASTRAG = _fastrag_from_environment()

# Where the site is reached, and by whom

DEBUG = env.bool("DEBUG", default=False)
HTTPS = env.bool("HTTPS", default=False)  # reached over TLS only
ALLOWED_HOSTS = env.list("ALLOWED_HOSTS", default=["localhost", "127.0.0.1", "[::1]"])
USE_X_FORWARDED_HOST = env.bool("USE_X_FORWARDED_HOST", default=False)
CSRF_TRUSTED_ORIGINS = env.list("CSRF_TRUSTED_ORIGINS", default=[])
CORS_ALLOWED_ORIGINS = env.list("CORS_ALLOWED_ORIGINS", default=[])
CORS_ALLOW_CREDENTIALS = env.bool("CORS_ALLOW_CREDENTIALS", default=False)
CORS_URLS_REGEX = r"^/(api|rcp)(/|$)"
CORS_ALLOW_HEADERS = (*default_headers, "idempotency-key", "rcp-session", "x-request-id")
CORS_EXPOSE_HEADERS = ("retry-after", "rcp-session", "x-request-id")

ROOT_URLCONF = "fastrag_site.urls"
ASGI_APPLICATION = "fastrag_site.asgi.application"
LOGIN_URL = "admin:login"


def _secret_key() -> str:
    """SECRET_KEY, else one made once and kept in the var folder, so that sessions survive."""
    given: str = env.str("SECRET_KEY", default="")
    if given:
        return given
    path = VAR_DIR / "secret_key"
    if not path.exists():
        from django.core.management.utils import get_random_secret_key

        path.touch(mode=0o600)
        path.write_text(get_random_secret_key())
    return path.read_text()


SECRET_KEY = _secret_key()

# Parts

INSTALLED_APPS = [
    "fastrag_site",  # before staticfiles: its runserver is the one
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "corsheaders",
    "csp",
    "rest_framework",
    "knox",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "django_tasks",
    "django_tasks_db",
    "retrieval",
    "chats",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "fastrag_site.middleware.StaticFiles",
    "fastrag_site.middleware.optional_slash",
    "corsheaders.middleware.CorsMiddleware",
    "csp.middleware.CSPMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "fastrag_site.language.Language",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [VAR_DIR / "templates", BASE_DIR / "templates"],  # the owner's own go first
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    },
]

# Stores

DATABASES: dict[str, Any] = {
    "default": env.db("DATABASE_URL", default=f"sqlite:///{VAR_DIR / 'fastrag.sqlite3'}")
}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
if DATABASES["default"]["ENGINE"] == "django.db.backends.sqlite3":
    _database_defaults: dict[str, Any] = {
        # Writers queue at BEGIN instead of failing at their first write.
        "transaction_mode": "IMMEDIATE",
        "timeout": 20,
        "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;",
    }
else:
    _database_defaults = {
        "pool": {"min_size": 0, "max_size": env.int("DATABASE_POOL", default=20), "timeout": 5},
        "connect_timeout": 10,
    }
    DATABASES["default"]["CONN_HEALTH_CHECKS"] = True
DATABASES["default"]["OPTIONS"] = _database_defaults | DATABASES["default"].get("OPTIONS", {})

CACHES: dict[str, Any] = {
    "default": env.cache("CACHE_URL")
    if "CACHE_URL" in env
    else {
        "BACKEND": "fastrag_site.machine_cache.MachineCache",
        "LOCATION": str(VAR_DIR / "cache.sqlite3"),
    }
}

TASKS = {"default": {"BACKEND": "django_tasks_db.DatabaseBackend"}}

STATIC_URL = "/static/"
STATIC_ROOT = VAR_DIR / "static"
STATIC_ROOT.mkdir(exist_ok=True)
WHITENOISE_USE_FINDERS = True  # without collectstatic as well
WHITENOISE_MAX_AGE = 0  # a page never meets scripts of the release before: asked again, mostly 304
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "whitenoise.storage.CompressedStaticFilesStorage"},
}

# Security

AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
        "NumericPasswordValidator",
    )
]
CSRF_FAILURE_VIEW = "fastrag_site.error_views.csrf_failure"
SESSION_COOKIE_SAMESITE = CSRF_COOKIE_SAMESITE = "Lax"  # authentication.py relies on it
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = HTTPS
SECURE_SSL_REDIRECT = env.bool("SECURE_SSL_REDIRECT", default=HTTPS)
SECURE_REDIRECT_EXEMPT = [r"^(healthz|readyz|metrics)/?$"]  # asked from inside
SECURE_HSTS_SECONDS = env.int("SECURE_HSTS_SECONDS", default=31_536_000 if HTTPS else 0)
# The body limit reads up to one byte above this; Django refuses what is longer.
DATA_UPLOAD_MAX_MEMORY_SIZE = FASTRAG.get("REQUEST_MAX_BYTES", Conf().request_max_bytes)
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [SELF],
        "img-src": [SELF, "data:", "https:", "http:"],  # icons of the sites that are cited
        "object-src": [NONE],
        "base-uri": [NONE],
        "form-action": [SELF],
        "frame-ancestors": [NONE],
    }
}
KNOX_TOKEN_MODEL = "fastrag_site.ApiKey"
MIGRATION_MODULES = {"knox": None}  # its own table, which nothing uses, would refer to users
REST_KNOX = {"AUTH_HEADER_PREFIX": "Bearer", "TOKEN_PREFIX": "frs_", "TOKEN_TTL": None}

# The API

REST_FRAMEWORK: dict[str, Any] = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "fastrag_site.authentication.ApiKeyAuthentication",
        "fastrag_site.authentication.BrowserAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["fastrag_site.authentication.MayAsk"],
    "DEFAULT_THROTTLE_CLASSES": ["fastrag_site.throttling.CallerThrottle"],
    "DEFAULT_CONTENT_NEGOTIATION_CLASS": "fastrag_site.negotiation.AlwaysFirst",
    "DEFAULT_PARSER_CLASSES": ["fastrag_site.parsers.StrictJsonParser"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "EXCEPTION_HANDLER": "fastrag_site.api_errors.exception_handler",
    "URL_FORMAT_OVERRIDE": None,
    "TEST_REQUEST_DEFAULT_FORMAT": "json",
    "TEST_REQUEST_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
}

SCHEMA_DESCRIPTION = """Ask your pages: cited answers, streamed and stored.

A trailing slash is optional on every route. A refusal is `{"error": {"code", "message"}}`, always
as JSON; `code` says what to do. An address that is not listed answers 404 `NOT_FOUND`, a method
that an address does not take 405 `METHOD_NOT_ALLOWED` with `Allow`. Without an API key or a session
that is signed in, the cookie of an anonymous session owns what it asks, where that is allowed."""
SPECTACULAR_SETTINGS: dict[str, Any] = {
    "TITLE": "Fastrag Site",
    "DESCRIPTION": SCHEMA_DESCRIPTION,
    "VERSION": "0.1.0",
    "SCHEMA_PATH_PREFIX": "/api",
    "SERVE_INCLUDE_SCHEMA": False,
    "SERVE_AUTHENTICATION": [],
    "COMPONENT_SPLIT_REQUEST": True,
    "COMPONENT_SPLIT_PATCH": False,  # a change names all that it changes
    "ENUM_GENERATE_CHOICE_DESCRIPTION": False,
    "PREPROCESSING_HOOKS": ["fastrag_site.schema.only_machine_routes"],
    "POSTPROCESSING_HOOKS": [
        "drf_spectacular.hooks.postprocess_schema_enums",
        "chats.event_schemas.add_frames",
        "chats.schema.describe_chats",
        "retrieval.rcp_schema.add_messages",
        "fastrag_site.schema.add_errors",
        "fastrag_site.schema.add_routes",
        "fastrag_site.schema_headers.add_headers",
    ],
    "ENUM_NAME_OVERRIDES": {
        "FinishReason": "chats.event_schemas.FINISH_REASONS",
        "StreamErrorCode": "chats.event_schemas.STREAM_ERROR_CODES",
    },
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
}

# Words and times

LANGUAGE_CODE = "en"
LANGUAGES = [("en", "English"), ("es", "Español")]  # of the page; see docs/web-page.md
LOCALE_PATHS = [VAR_DIR / "locale", BASE_DIR / "locale"]  # the owner's own go first
USE_I18N = True
TIME_ZONE = "UTC"
USE_TZ = True

# What operators see

METRICS_TOKEN = env.str("METRICS_TOKEN", default="")
PROMETHEUS_MULTIPROC_DIR = env.str("PROMETHEUS_MULTIPROC_DIR", default="")

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "filters": {
        "request_id": {"()": "fastrag_site.request_id.RequestIdFilter"},
        "one_line_refusals": {"()": "fastrag_site.request_id.OneLineRefusals"},
    },
    "formatters": {
        "text": {"format": "%(asctime)s %(levelname)s %(name)s [%(request_id)s] %(message)s"},
        "json": {"()": "fastrag_site.request_id.JsonFormatter"},
    },
    "handlers": {
        "stderr": {
            "class": "logging.StreamHandler",
            "filters": ["request_id", "one_line_refusals"],
            "formatter": "json" if env.bool("LOG_JSON", default=False) else "text",
        },
    },
    "root": {"handlers": ["stderr"], "level": env.str("LOG_LEVEL", default="WARNING")},
    "loggers": {
        # Django's own handler writes on the console in DEBUG only, and mails.
        "django": {"handlers": [], "level": "INFO", "propagate": True},
        "django.request": {"level": "ERROR"},  # refusals are in the access log
        **{name: {"level": "INFO"} for name in ("chats", "fastrag_site", "retrieval")},
    },
}
