# Everything this repository can do, on a machine with Python 3.11 or newer and make. `make help` lists it.
SHELL := /bin/sh
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

UV_VERSION := 0.13.9
STAGE ?= dev

find-python = $(shell for name in $(1); do \
	"$$name" -c 'import sys; sys.version_info < (3, 11) and sys.exit(1); print(sys.executable)' 2>/dev/null && break; done)
PYTHON := $(or $(PYTHON),$(call find-python,python3 python3.14 python3.13 python3.12 python3.11))
LAMBDA_PYTHON := $(call find-python,python3.13 $(wildcard $(HOME)/.pyenv/versions/3.13*/bin/python3.13))

UV := $(CURDIR)/.tools/bin/uv
SAM := $(CURDIR)/.venv-sam/bin/sam
RUN := $(CURDIR)/.venv/bin/python -m
# What checks the pages for accessibility comes from npm; without npm (and outside of CI) those tests are skipped.
AXE := $(if $(shell command -v npm 2>/dev/null),tests/browser/node_modules/.synced)

export UV
export UV_PYTHON := $(PYTHON)
export UV_PYTHON_DOWNLOADS := never
export SAM_CLI_TELEMETRY := 0
unexport VIRTUAL_ENV PYTHONPATH

.PHONY: help
help: ## List what can be done
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-11s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

.PHONY: run
run: env ## Start the local stack and send a sample request (PORT=…, DEMO=0, AUTH=true)
	@$(RUN) local.run $(if $(PORT),--port $(PORT)) $(if $(filter 0,$(DEMO)),--no-demo)

.PHONY: sam-local
sam-local: env ## The same, with the API's functions in Docker through `sam local start-api`
	@$(RUN) local.run --sam-local $(if $(PORT),--port $(PORT)) $(if $(filter 0,$(DEMO)),--no-demo)

# What drives a browser or the whole local stack mostly waits: it runs beside the other tests.
DRIVEN := tests/browser tests/e2e

.PHONY: test
test: env $(AXE) ## Run all tests, then the unit tests once more on Lambda's Python
	$(RUN) tests.side_by_side tests $(DRIVEN:%=--ignore=%) -- $(DRIVEN)
ifeq ($(LAMBDA_PYTHON),)
	@echo "There is no Python 3.13, Lambda's, on this machine: the unit tests ran on $$($(PYTHON) --version) only."
else ifneq ($(LAMBDA_PYTHON),$(PYTHON))
	UV_PYTHON=$(LAMBDA_PYTHON) UV_PROJECT_ENVIRONMENT=.venv-3.13 $(UV) sync --quiet --locked
	.venv-3.13/bin/python -m pytest tests/unit
endif

ON_ONE_CORE := $(addprefix tests/faults/test_,tier0_schedules.py tier2_machine.py invariants.py wire.py)

.PHONY: faults
faults: env ## Run every schedule of faults, on two cores; make test runs a sample
	FAULTS=thorough $(RUN) tests.side_by_side -q -m faults tests/faults $(ON_ONE_CORE:%=--ignore=%) -- -q -m faults $(ON_ONE_CORE)

# What draws is not installed for anything else.
BENCH = UV_PROJECT_ENVIRONMENT=.venv $(UV) run --quiet --locked --group bench python -m

.PHONY: benchmarks
benchmarks: env ## Measure what a pause, a click and a cold start cost, for docs/performance.md
	mkdir -p .cache/benchmarks
	$(BENCH) benchmarks.pause_resume --json .cache/benchmarks/pause_resume.json --svg docs/img/cost.svg
	$(BENCH) benchmarks.click --json .cache/benchmarks/click.json
	$(BENCH) benchmarks.cold_start --json .cache/benchmarks/cold_start.json
ifneq ($(LAMBDA_PYTHON),)
	$(LAMBDA_PYTHON) -m benchmarks.cold_start
endif

.PHONY: check
check: env ## Lint, types, formatting, locks, and the template
	$(RUN) ruff check
	$(RUN) ruff format --check
	$(RUN) mypy
	$(UV) lock --check --quiet
	@$(EXPORT) | diff layers/pausepoint/requirements.txt - || \
		{ echo "layers/pausepoint/requirements.txt is not what uv.lock says: run make lock." >&2; exit 1; }
	$(RUN) tools.openapi --check
	$(SAM) validate --lint --region us-east-1

.PHONY: screenshots
screenshots: .venv/.synced ## Take the pictures of the documentation anew
	$(RUN) tests.browser.shots

.PHONY: fmt
fmt: .venv/.synced ## Format the code, and mend what can be mended
	$(RUN) ruff check --fix
	$(RUN) ruff format

.PHONY: lock
lock: $(UV) ## Lock the dependencies again after a change in pyproject.toml
	$(UV) lock
	$(EXPORT) > layers/pausepoint/requirements.txt

.PHONY: openapi
openapi: .venv/.synced ## Write docs/openapi.yaml again after a change of the API
	$(RUN) tools.openapi

.PHONY: build
build: .venv/.synced .venv-sam/.synced ## Build the deployment for Lambda (STAGE=dev)
	@find functions -name __pycache__ -type d -prune -exec rm -rf {} +
	target=$$($(RUN) local.target $(STAGE)) && env $$target $(SAM) build --config-env $(STAGE)

.PHONY: deploy
deploy: build ## Deploy to AWS (STAGE=dev)
	$(SAM) deploy --config-env $(STAGE)

.PHONY: destroy
destroy: .venv-sam/.synced ## Remove the deployment from AWS (STAGE=dev)
	$(SAM) delete --config-env $(STAGE)

# --- Environments: three, because SAM and MiniStack pin older versions of boto3 than the layer needs ------------------

EXPORT = $(UV) export --quiet --locked --no-default-groups --no-emit-project --no-header

.PHONY: env
env: .venv/.synced .venv-sam/.synced .venv-emulator/.synced

.venv/.synced: pyproject.toml uv.lock | $(UV)
	UV_PROJECT_ENVIRONMENT=.venv $(UV) sync --quiet --locked
	@touch $@

.venv-sam/.synced: pyproject.toml uv.lock | $(UV)
	UV_PROJECT_ENVIRONMENT=.venv-sam $(UV) sync --quiet --locked --only-group sam
	@touch $@

.venv-emulator/.synced: pyproject.toml uv.lock | $(UV)
	UV_PROJECT_ENVIRONMENT=.venv-emulator $(UV) sync --quiet --locked --only-group emulator
	@touch $@

tests/browser/node_modules/.synced: tests/browser/package.json tests/browser/package-lock.json
	cd tests/browser && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error
	@touch $@

$(UV):
	@"$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || \
		{ echo "Pausepoint needs Python 3.11 or newer, and found none; PYTHON=… names one." >&2; exit 1; }
	@"$(PYTHON)" -c 'import ensurepip, venv' 2>/dev/null || \
		{ echo "Pausepoint needs Python's venv module (on Debian and Ubuntu: apt-get install python3-venv)." >&2; exit 1; }
	"$(PYTHON)" -m venv .tools
	.tools/bin/python -m pip install --quiet --disable-pip-version-check uv==$(UV_VERSION)
