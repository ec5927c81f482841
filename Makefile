# One command for each wish. `make` alone lists them.
# Everything that is built or downloaded goes to .venv, var/ or the user's cache folder.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed
T      ?=
# Nodes need root: namespaces, mounts, interfaces. Nothing else here does.
ROOT   := $(shell [ "$$(id -u)" -eq 0 ] || echo sudo --preserve-env=HOME,CI,NO_COLOR)
export PIP_DISABLE_PIP_VERSION_CHECK = 1

.DEFAULT_GOAL := help
.PHONY: help dev check fix test test-full test-share test-postgresql coverage demo demo-down docs bench clean lock

help: ## list the wishes
	@awk 'BEGIN {FS = ":.*## "} /^##@/ {printf "\n%s\n", substr($$0, 5)} /^[a-z-]+:.*## / {printf "  make %-15s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

##@ Try it
demo: $(STAMP) ## real edge nodes on this machine, storefront installed on them by a Git push
	@bash .ci/system-packages lab
	@$(ROOT) $(BIN)/margrave demo up

demo-down: $(STAMP) ## remove all that `make demo` made
	@$(ROOT) $(BIN)/margrave demo down --yes

##@ Work on it
dev: $(STAMP) ## the command, Ansible and the checkers in .venv

$(STAMP): requirements/dev.txt pyproject.toml
	@bash .ci/system-packages python
	@echo "==> Python environment in $(VENV) (locked, hashed: requirements/dev.txt)"
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --require-hashes -r requirements/dev.txt
	@$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --editable .
	@touch $(STAMP)

check: $(STAMP) ## lint, types, walls between the rooms, YAML, Ansible, links; changes nothing
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/yamllint --strict .
	$(BIN)/sphinx-build -qnW --keep-going -d var/docs/.doctrees docs var/docs
	PATH="$(CURDIR)/$(BIN):$$PATH" ANSIBLE_COLLECTIONS_PATH="$(CURDIR)/collections" $(BIN)/ansible-lint --offline --strict

fix: $(STAMP) ## let the formatters mend what they can
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

test: $(STAMP) ## everything that has to hold (T=path or -k words for a part)
	@bash .ci/system-packages lab test
	$(if $(strip $(T)),$(ROOT) $(BIN)/python -m pytest -m "not full" $(T),$(WHOLE))

# The server is Debian's, started and thrown away by the run; it refuses to be root's, and is not.
POSTGRESQL := tests/functional/controller tests/functional/postgres tests/functional/upgrade tests/functional/walk

# The tests of a file stay together. Those without a lab wait more than they compute, so there are
# three workers for two cores; each of the others has a lab of its own.
define WHOLE
$(COVERAGE)
$(ROOT) $(BIN)/python -m pytest -q -m "not full" -n 3 --dist loadfile --ignore tests/unit/collection tests/unit tests/functional
$(ROOT) $(BIN)/python -m pytest -v -m "not full" -n 2 --dist loadfile tests/integration tests/faults tests/escape tests/equivalence
endef

test-full: $(STAMP) ## what takes longer too: faults, scenarios, endurance
	@bash .ci/system-packages lab test
	$(ROOT) $(BIN)/python -m pytest $(T)

test-share: $(STAMP) ## a share of the full suite, another one each day, in at most 20 minutes
	@bash .ci/system-packages lab test
	$(ROOT) $(BIN)/python -m pytest -v -p tests.rotation -m full -n 2 --dist loadfile --no-loadscope-reorder tests

test-postgresql: $(STAMP) ## all that needs the controller's database, on a real PostgreSQL
	@bash .ci/system-packages test
	$(BIN)/python -m pytest -q -n 2 --dist loadfile -k postgres $(POSTGRESQL)

coverage: $(STAMP) ## what unit tests reach of the code that travels to nodes; fails below the floor in pyproject.toml
	$(COVERAGE)

define COVERAGE
@mkdir -p var/test
$(ROOT) $(BIN)/python -m coverage run -m pytest -q tests/unit/collection
$(ROOT) $(BIN)/python -m coverage report
endef

docs: $(STAMP) ## the documentation as pages: var/docs/index.html
	$(BIN)/python docs/generate.py
	$(BIN)/sphinx-build -qnW --keep-going -d var/docs/.doctrees docs var/docs

# Each beside its reference, in one run. Those of the second line make edge nodes, and need root.
# Not among them: `python -m bench.compare` has no bar, and fetches the community's modules first.
SERVERS := publish reports lists migrations reads edge resting pages heartbeats fleet_quiet poll runner_memory documents hostile
ON_NODES := push_to_healthy drift module gap operations fleet

bench: $(STAMP) ## measure against the bars of docs/quality.md; figures as JSON under var/bench
	@bash .ci/system-packages lab bench
	@set -e; for one in $(SERVERS); do echo "==> $$one"; $(BIN)/python -m bench.$$one; done
	@set -e; for one in $(ON_NODES); do echo "==> $$one"; $(ROOT) $(BIN)/python -m bench.$$one; done

##@ Keep it
lock: $(STAMP) ## write requirements/*.txt anew from pyproject.toml (needs uv)
	uv pip compile -q --upgrade --generate-hashes --universal --python-version 3.11 --no-emit-index-url --no-header pyproject.toml -o requirements/run.txt
	uv pip compile -q --upgrade --generate-hashes --universal --python-version 3.11 --no-emit-index-url --no-header pyproject.toml --group dev -o requirements/dev.txt

clean: ## remove what was built here (a running demo is left alone: make demo-down)
	rm -rf $(VENV) var/bench var/docs var/test .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis .ansible
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
