# On a new machine with Python 3.11+, git and make, run `make demo` or `make test`. Both install what they need.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check install --quiet -c constraints.txt
PEERS := pyscipopt ortools gurobipy cpmpy pyomo cvxpy linopy cma optuna proxsuite playwright twine lightning accelerate ray
# Small training steps are faster with one thread. The solver has its own worker threads.
export OMP_NUM_THREADS ?= 1
# Tests start many processes, which would compile the library and the tests again and again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo docs package test test-all lint bench bench-peers bench-losses install dev clean

# torch first, at the pinned version. Which build of it (CPU or CUDA) depends on pip's index; see docs/start.md.
$(VENV)/.installed: pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) torch
	$(PIP) -e .
	touch $@

$(VENV)/.developed: $(VENV)/.installed
	$(PIP) -e '.[dev,test]'
	@# Some platforms do not have these packages. Their tests are then skipped with a reason.
	@for package in $(PEERS); do $(PIP) $$package || echo "$$package is not available here: its tests will be skipped"; done
	touch $@

install: $(VENV)/.installed

dev: $(VENV)/.developed

demo: install
	$(BIN)/regretless demo --out demo

# Many tests start processes, each of which would compile the library again if no bytecode was written.
test test-all: export PYTHONDONTWRITEBYTECODE :=
# Later examples of a page depend on earlier ones, so one worker runs all tests of a file. By default the files with the
# most tests go first, and the long tests, which stand alone in their files, go last, where a worker waits for another.
PYTEST := $(BIN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder
test: dev
	$(PYTEST) -m "not slow"

test-all: dev
	HYPOTHESIS_PROFILE=thorough $(PYTEST)

lint: dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

docs: $(VENV)/.documented
	$(BIN)/python -m sphinx -W --keep-going -q -b html docs docs/_build/html
	@echo "open docs/_build/html/index.html"

$(VENV)/.documented: $(VENV)/.installed
	$(PIP) -e '.[docs]'
	touch $@

# The wheel and the source archive, checked, and the wheel installed into an empty environment.
package: $(VENV)/.installed
	$(PIP) build hatchling twine
	rm -rf dist && $(BIN)/python -m build --no-isolation --outdir dist . >/dev/null
	$(BIN)/python -m twine check --strict dist/*
	rm -rf build/empty && $(PYTHON) -m venv build/empty
	build/empty/bin/python -m pip --disable-pip-version-check install --quiet -c constraints.txt dist/*.whl
	cd build && empty/bin/regretless demo --out demo

bench: dev
	$(BIN)/python benchmarks/run.py

# PyEPO is installed in a separate environment. It is measured for comparison; the library does not need it.
PEERS_VENV := .venv-peers
$(PEERS_VENV)/.installed: benchmarks/peers/requirements.txt
	test -x $(PEERS_VENV)/bin/python || $(PYTHON) -m venv $(PEERS_VENV)
	$(PEERS_VENV)/bin/python -m pip --disable-pip-version-check install --quiet -r benchmarks/peers/requirements.txt
	touch $@

bench-peers: dev $(PEERS_VENV)/.installed
	$(BIN)/python benchmarks/peers/compare.py

bench-losses: dev $(PEERS_VENV)/.installed
	$(BIN)/python benchmarks/peers/compare_losses.py

clean:
	rm -rf $(VENV) demo build dist docs/_build docs/gallery
