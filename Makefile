# Every verb does its own set-up: a plain machine with Python >= 3.11, make and git is enough.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
WEB := $(shell find viz/web/src viz/web/index.html viz/web/package.json viz/web/package-lock.json \
         viz/web/vite.config.ts viz/web/tsconfig.json -type f 2>/dev/null)
JOBS ?= auto
DEV := .[test,dev,examples]
# pip's own progress where a person looks on
PIP = $(BIN)/python -m pip install --disable-pip-version-check $$(test -t 1 || echo --quiet)
# $(call stage,TEXT,COMMAND): says what begins, and how long it took; neither has a comma
stage = echo "$(1) ..."; begun=$$(date +%s); { $(2); } || exit 1; \
  echo "$(1): took $$(($$(date +%s) - begun)) s"

.PHONY: help demo test test-all test-changed lint bench compare build conformance peers nightly gpu-check gpu-bench format screenshots clean

help:  ## list the verbs
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 16

$(VENV)/.python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "uopviz needs Python 3.11 or newer: make PYTHON=python3.12 ..." >&2; exit 1; }
	@$(call stage,making a Python environment (about 10 s),$(PYTHON) -m venv $(VENV) && $(PIP) --upgrade pip)
	@touch $@

$(VENV)/.demo: $(VENV)/.python pyproject.toml $(WEB)
	@$(call stage,installing Python packages and building the page (about 50 s),$(PIP) --editable '.[examples]')
	@touch $@

$(VENV)/.dev: $(VENV)/.python pyproject.toml $(WEB)
	@$(call stage,installing packages for tests and building the page (about 2 min),$(PIP) --editable '$(DEV)')
	@touch $@ $(VENV)/.demo

demo: $(VENV)/.demo  ## train a conv net on real digits with every rewrite recorded, and serve the page
	@VIZ=1 $(BIN)/python examples/digits.py

test: $(VENV)/.dev  ## test each property once, the page in a browser too (installed through apt where it is missing, as root)
	@$(BIN)/python tests/browser_setup.py
	@$(BIN)/python -m tests.webgpu_setup
	@$(BIN)/python -m tests.opencl_setup
	$(BIN)/python -m pytest -n $(JOBS) --dist loadgroup --quick
	$(BIN)/npm --prefix viz/web test --silent

test-all: $(VENV)/.dev  ## run all tests with all their cases, of those that take longest a quarter in turn
	@$(BIN)/python tests/browser_setup.py
	@$(BIN)/python -m tests.webgpu_setup
	@$(BIN)/python -m tests.opencl_setup
	$(BIN)/python -m pytest -n $(JOBS) --dist loadgroup --in-turn
	$(BIN)/npm --prefix viz/web test --silent

test-changed: $(VENV)/.dev  ## run the tests that your changes touch
	@$(BIN)/python tests/browser_setup.py
	@$(BIN)/python -m tests.webgpu_setup
	@$(BIN)/python -m tests.opencl_setup
	@JOBS=$(JOBS) $(BIN)/python -m tests.changed $(REV)

lint: $(VENV)/.dev  ## ruff, pyright (strict), the TypeScript compiler and linter
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright
	$(BIN)/npm --prefix viz/web run lint --silent

format: $(VENV)/.dev  ## format the code
	$(BIN)/ruff check --fix --select I .
	$(BIN)/ruff format .

$(VENV)/.conformance: $(VENV)/.python pyproject.toml
	$(PYTHON) -m venv $(VENV)/conformance
	$(VENV)/conformance/bin/python -m pip install --quiet --disable-pip-version-check \
	  --editable '.[conformance]'
	@touch $@

$(VENV)/.clusters: $(VENV)/.python pyproject.toml
	$(PYTHON) -m venv $(VENV)/clusters
	$(VENV)/clusters/bin/python -m pip install --quiet --disable-pip-version-check \
	  --editable '.[clusters]'
	@touch $@

conformance: $(VENV)/.conformance  ## compare every Tensor operation with PyTorch on the CPU
	$(VENV)/conformance/bin/python -m pytest -n $(JOBS) tests/conformance

peers: $(VENV)/.dev  ## install other compilers, each in an environment of its own, and record them
	$(BIN)/python -m pytest -q --all tests/peers

nightly: $(VENV)/.dev $(VENV)/.conformance $(VENV)/.clusters  ## all tests, many random cases, lesser processors, conformance (hours)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[test,compilers]'
	@$(VENV)/conformance/bin/python -m pip install --quiet --disable-pip-version-check \
	  --editable '.[conformance,webgpu,opencl]' \
	  $$(test "$$(uname -sm)" != "Linux x86_64" || echo pocl-binary-distribution)
	@$(BIN)/python tests/browser_setup.py
	@$(BIN)/python -m tests.webgpu_setup
	@$(BIN)/python -m tests.opencl_setup
	@JOBS=$(JOBS) $(BIN)/python -m tests.nightly

gpu-check: $(VENV)/.dev  ## check kernels, copies and training on the GPUs of this machine, if it has any
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[test,cuda,amd]'
	@$(BIN)/python -m tests.gpu $(DEVICES)

gpu-bench: $(VENV)/.dev  ## measure the GPUs of this machine beside their vendor's library
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[test,cuda,amd]'
	@if test -e /dev/nvidiactl; then \
	  echo "installing PyTorch, whose library and attention are measured, too ..."; \
	  $(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[conformance]'; fi
	@$(BIN)/python -m tests.bench.gpu $(DEVICES)
	@$(BIN)/python -m tests.bench.tiles $(DEVICES)

bench: $(VENV)/.dev  ## measure; prints figures, never fails on time
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[bench]'
	$(BIN)/python -m tests.bench

compare: $(VENV)/.dev  ## record the demo and programs a, b, c here and at REV (main~1), and open both side by side
	@$(BIN)/python -m tests.revisions $(or $(REV),main~1)

build: $(VENV)/.dev  ## make the wheel and the source archive in dist/
	$(BIN)/python -m build --outdir dist

screenshots: $(VENV)/.dev  ## take the pictures of the README and docs in real Chromium
	@$(BIN)/python tests/browser_setup.py
	$(BIN)/python -m tests.screenshots

clean:  ## remove what the other verbs made
	rm -rf $(VENV) dist viz/web/dist viz/web/node_modules .pytest_cache .ruff_cache .hypothesis
