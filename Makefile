# Two commands do everything on a fresh machine with Python 3.11+, git and make: `make demo` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check install --quiet -c constraints.txt
PEERS := pyscipopt ortools gurobipy cpmpy pyomo cvxpy linopy cma optuna proxsuite playwright twine lightning
# Small steps are faster with one thread each; the solver has its own workers.
export OMP_NUM_THREADS ?= 1

.PHONY: demo test test-all lint bench bench-peers install dev clean

# torch first and pinned: a range would pull the newest build with gigabytes of CUDA packages.
$(VENV)/.installed: pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) torch
	$(PIP) -e .
	touch $@

$(VENV)/.developed: $(VENV)/.installed
	$(PIP) -e '.[dev,test]'
	@# Packages that some platforms do not have: their tests skip with a reason.
	@for package in $(PEERS); do $(PIP) $$package || echo "$$package is not to be had here: its tests will skip"; done
	touch $@

install: $(VENV)/.installed

dev: $(VENV)/.developed

demo: install
	$(BIN)/regretless demo --out demo

# A page's examples build on each other, so one worker takes a whole file.
test: dev
	$(BIN)/python -m pytest -n 2 --dist loadfile -m "not slow"

test-all: dev
	$(BIN)/python -m pytest -n 2 --dist loadfile

lint: dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: dev
	$(BIN)/python benchmarks/run.py

# PyEPO lives in an environment of its own: it is a peer to measure, not something the library needs.
PEERS_VENV := .venv-peers
$(PEERS_VENV)/.installed: benchmarks/peers/requirements.txt
	test -x $(PEERS_VENV)/bin/python || $(PYTHON) -m venv $(PEERS_VENV)
	$(PEERS_VENV)/bin/python -m pip --disable-pip-version-check install --quiet -r benchmarks/peers/requirements.txt
	touch $@

bench-peers: dev $(PEERS_VENV)/.installed
	$(BIN)/python benchmarks/peers/compare.py

clean:
	rm -rf $(VENV) demo build dist
