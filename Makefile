# `make help` lists the targets. Everything lands in .venv; as root on Debian or Ubuntu also PostgreSQL and pg_cron.

SHELL := /bin/bash
PYTHON ?= $(shell for p in python3 python3.14 python3.13 python3.12 python3.11; do \
  $$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && { echo $$p; break; }; done)
VENV := .venv
BIN := $(VENV)/bin
PYTEST := $(BIN)/python -m pytest
# Each worker has a server of its own; one more than there are cores, since some tests wait for the clock.
PARALLEL := -n $(shell echo $$(( $$(nproc 2>/dev/null || echo 2) + 1 ))) --dist worksteal

.DEFAULT_GOAL := help
.PHONY: help demo test lint lint-supabase format pgtap bench soak proof monitoring test-matrix release-check wheel extension schema picture dashboard clean system-demo system-test

help: ## what there is to make
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

demo: $(VENV)/.demo ## yesterday, played on a server of its own that is gone again after a minute
	@$(BIN)/lf-sql demo

test: $(VENV)/.test $(VENV)/.npm lint ## every test: lint, then pytest with the pgTAP files
	@$(PYTEST) $(PARALLEL)

lint: $(VENV)/.test ## ruff, mypy, sqlfluff, the SQL style, squawk, pgspot, hadolint, shellcheck
	@$(BIN)/ruff check installer tests
	@$(BIN)/ruff format --check --quiet installer tests
	@$(BIN)/mypy --no-error-summary
	@$(BIN)/sqlfluff lint --disable-progress-bar --processes -1 --nocolor --quiet sql
	@$(BIN)/python -m tests.support.style
	@out=$$($(BIN)/squawk --config .squawk.toml sql/migrations/*.sql 2>&1) || { echo "$$out"; exit 1; }
	@$(BIN)/python -m tests.support.spot
	@$(BIN)/hadolint docker/Dockerfile
	@$(BIN)/shellcheck .ci/run docker/entrypoint.sh tests/support/*.sh

lint-supabase: $(VENV)/.test ## Supabase's own linter, over a database like Supabase's
	@bash tests/support/npm-install.sh $(VENV)/supabase tests/support/supabase/package.json
	@$(BIN)/python -m tests.support.supabase.lint

format: $(VENV)/.test ## ruff's fixes and format
	@$(BIN)/ruff check --fix installer tests
	@$(BIN)/ruff format installer tests

pgtap: $(VENV)/.test ## the pgTAP files alone, with pg_prove
	@$(BIN)/python -m tests.support.prove

bench: $(VENV)/.test $(VENV)/.bench ## the figures, side by side with their references
	@$(BIN)/python -m tests.bench

soak: $(VENV)/.test ## 75 played days at 10,000 schedules a minute: what grows? About half an hour
	@$(BIN)/python -m tests.bench soak

proof: $(VENV)/.test $(VENV)/.npm $(VENV)/.monitoring ## the long tests: crashes, concurrency, real minutes
	@$(PYTEST) -m slow tests

monitoring: $(VENV)/.test $(VENV)/.monitoring ## promtool on the alerts, a real Prometheus on the dashboard
	@$(PYTEST) -m '' tests/surface/test_monitoring.py

test-matrix: $(VENV)/.test $(VENV)/.npm ## the tests on PostgreSQL 15, 16, 17 and 18 from PyPI wheels
	@$(BIN)/python -m tests.support.matrix $(PARALLEL)

release-check: $(VENV)/.test ## what a version passes before its release, a verdict a step; ONLY="NAME …" runs some of it
	@$(BIN)/python -m tests.support.release $(ONLY:%=--only %)

wheel: $(VENV)/.test ## dist/*.whl
	@SOURCE_DATE_EPOCH=$${SOURCE_DATE_EPOCH:-$$($(BIN)/python -c 'from tests.support.release_steps import epoch; print(epoch())')} \
	  $(BIN)/python -m build --wheel --outdir dist .

extension: $(VENV)/.test ## dist/extension: lf_sql.control and its script, for servers where files may be placed
	@$(BIN)/python -m lf_sql.extension dist/extension

schema: $(VENV)/.test ## sql/schema.sql, the tables as a fresh install has them
	@$(BIN)/python -m tests.support.schema

picture: $(VENV)/.test ## installer/pictures/console.png, from the demonstration's data
	@$(BIN)/python -m tests.support.picture

dashboard: $(VENV)/.monitoring $(VENV)/.plots ## docker/monitoring/dashboard.png: a played hour, from a real Prometheus
	@$(BIN)/python -m tests.support.dashboard

clean: ## everything that make made
	@rm -rf $(VENV) dist build .pytest_cache .ruff_cache .mypy_cache

$(VENV)/.venv:
	@test -n "$(PYTHON)" || { echo "Python 3.11 or newer is needed" >&2; exit 1; }
	@bash tests/support/system-packages.sh python
	@$(PYTHON) -m venv $(VENV) && touch $@

$(VENV)/.demo: pyproject.toml $(VENV)/.venv
	@bash tests/support/system-packages.sh server
	@bash tests/support/pip-install.sh $(BIN) demo
	@touch $@

$(VENV)/.test: pyproject.toml $(VENV)/.venv
	@bash tests/support/system-packages.sh server test
	@bash tests/support/pip-install.sh $(BIN) dev
	@touch $@

$(VENV)/.bench: tests/bench/package.json tests/bench/requirements.txt $(VENV)/.test
	@bash tests/support/npm-install.sh $(VENV)/bench $<
	@$(BIN)/python -m venv $(VENV)/bench/python
	@$(VENV)/bench/python/bin/pip install -qq --disable-pip-version-check -r tests/bench/requirements.txt
	@touch $@

$(VENV)/.monitoring: $(VENV)/.test
	@bash tests/support/system-packages.sh monitoring
	@touch $@

$(VENV)/.plots: tests/support/plots.txt $(VENV)/.test
	@$(BIN)/pip install -qq --disable-pip-version-check -r $<
	@touch $@

$(VENV)/.npm: tests/surface/package.json $(VENV)/.test
	@bash tests/support/npm-install.sh $(VENV)/node $<
	@touch $@
