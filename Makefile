# Everything runs in .venv, created in the checkout on first use.
# Needs only Python, make and a C++ compiler: cmake and ninja come with the build.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# -qq: errors only
PIP := $(BIN)/python -m pip --disable-pip-version-check -qq

CORE := pyproject.toml CMakeLists.txt $(wildcard cpp/*)

.DEFAULT_GOAL := help
.PHONY: help demo test lint docs bench wheel clean

help: ## show this list
	@grep -E '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## (.*)/  make \1\t\2/' | expand -t 16

demo: $(VENV)/.installed ## learn a provably optimal tree on a bundled dataset
	@$(BIN)/goct demo

test: $(VENV)/.installed ## run the whole test suite
	@$(BIN)/python -m pytest -n auto

lint: $(VENV)/.installed ## check style, formatting and types
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy

docs: $(VENV)/.installed-docs ## build the documentation into site/
	@$(BIN)/mkdocs build --strict --quiet

bench: $(VENV)/.installed ## time the merging of duplicate rows
	@$(BIN)/python benchmarks/merge.py

wheel: $(VENV)/.installed ## build a wheel into dist/
	@$(BIN)/python -m build --wheel

clean: ## remove everything that was generated, the virtual environment included
	@rm -rf $(VENV) build dist site .pytest_cache .mypy_cache .ruff_cache .hypothesis
	@find src tests benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +

$(BIN)/python:
	@echo "Creating the virtual environment $(VENV)"
	@$(PYTHON) -m venv $(VENV)

# The package is installed in editable mode: Python changes need no installation, these files do.
$(VENV)/.installed: $(CORE) | $(BIN)/python
	@echo "Installing goct and its development tools into $(VENV) (compiles the core)"
	@$(PIP) install --editable '.[dev]'
	@touch $@

$(VENV)/.installed-docs: $(VENV)/.installed
	@echo "Installing the documentation tools into $(VENV)"
	@$(PIP) install --editable '.[docs]'
	@touch $@
