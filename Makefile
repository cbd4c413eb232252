# The two commands of the README. Each makes .venv where it is missing, installs what it needs
# (again only when the project's own list changes), and runs.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Most modules of what is installed are never imported: Python compiles the others by itself.
INSTALL := $(BIN)/python -m pip --disable-pip-version-check --quiet install --no-compile -c constraints.txt

# What Python compiled is kept: some machines forbid it, and then each of the hundreds of processes
# that tests start compiles everything again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test types suite slow bench docs site results research clean

demo: $(VENV)/.run
	$(BIN)/realtalk demo

test: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(MAKE) -j 2 types suite

types:
	$(BIN)/mypy

# Three workers on two cores: tests wait a part of the time, for servers, browsers and locks;
# each further worker loads everything once more, which takes it twenty seconds.
suite:
	$(BIN)/pytest -n 3 --dist worksteal -m "not slow"

# Every test, the long ones too, and all examples of the property-based ones.
slow: $(VENV)/.dev
	REALTALK_TRIES=all $(BIN)/pytest -n 2 --dist worksteal

bench: $(VENV)/.bench
	$(BIN)/python bench/whatsapp.py

# The pages that the package's own code writes: terms, references, outputs of examples, pictures.
docs: $(VENV)/.dev
	$(BIN)/python -m research.results.terms
	$(BIN)/python -m research.results.command_reference > docs/reference.md
	$(BIN)/python -m research.results.python_reference > docs/reference-python.md
	$(BIN)/python -m research.results.run_pages
	$(BIN)/python -m research.results.pictures
	$(BIN)/python -m research.results.screenshots

# docs/ as a website with search, in build/site; no network is needed to build or read it.
site: $(VENV)/.site
	$(BIN)/python -m research.site

# The pages of docs/results, from the rows that are committed in research/results/rows.
results: $(VENV)/.dev
	$(BIN)/python -m research.results

# Tests of research/: papers, result pages, experiments, training. The wheel has none of it.
research: $(VENV)/.dev
	$(BIN)/pytest -n 2 --dist worksteal research/tests

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "realtalk needs Python 3.11 or newer: make PYTHON=python3.12 …" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/.run: $(BIN)/python pyproject.toml constraints.txt
	$(INSTALL) -e .
	@touch $@

# What tests import is compiled once here, and not by all workers at the same time.
$(VENV)/.dev: $(BIN)/python pyproject.toml constraints.txt
	$(INSTALL) -e '.[dev,llm,mcp,studio]'
	-@$(BIN)/pytest --collect-only -qq > /dev/null
	@touch $@ $(VENV)/.run

$(VENV)/.site: $(BIN)/python constraints.txt
	$(INSTALL) zensical
	@touch $@

$(VENV)/.bench: $(VENV)/.dev
	$(INSTALL) -e '.[bench]'
	@touch $@

clean:
	rm -rf .venv* demo .mypy_cache .ruff_cache .pytest_cache .hypothesis
