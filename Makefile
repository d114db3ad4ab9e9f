# Each target sets up what it needs: a virtual environment with pinned, hashed packages.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
export PIP_DISABLE_PIP_VERSION_CHECK = 1

.PHONY: demo test check bench calibrate lock clean

demo: $(READY)  ## simulate a survey, synthesize it, measure, write demo/
	@$(BIN)/stead demo --output demo

test: $(READY)  ## all tests
	@$(BIN)/python -m pytest -n 2

check: $(READY)  ## lint, strict types, architecture
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/python -m pytest tests/architecture

bench: $(READY)  ## speed, written to docs/reference/benchmarks.md
	@$(BIN)/python -m bench

calibrate: $(READY)  ## 4,000 simulation-based replicates per model, written to docs/reference/calibration.md
	@$(BIN)/python -m tests.calibration.long

lock:  ## pin every package with its hashes
	$(BIN)/python -m pip install --quiet uv
	$(BIN)/uv pip compile --quiet --universal --generate-hashes --no-header --extra dev --output-file requirements.lock pyproject.toml

clean:
	rm -rf $(VENV) demo

$(READY): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "stead needs Python 3.11 or newer: make PYTHON=python3.12 ...")'
	@echo "setting up $(VENV) (about a minute, once)"
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --require-hashes -r requirements.lock
	@$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation -e .
	@touch $(READY)
