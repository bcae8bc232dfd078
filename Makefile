# Two commands do everything on a fresh machine with Python 3.11+, git and make: `make demo` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check install --quiet -c constraints.txt
PEERS := pyscipopt ortools gurobipy cpmpy pyomo cvxpy linopy cma optuna proxsuite playwright
# Small steps are faster with one thread each; the solver has its own workers.
export OMP_NUM_THREADS ?= 1

.PHONY: demo test test-all lint bench install dev clean

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

test: dev
	$(BIN)/python -m pytest -n 2 -m "not slow"

test-all: dev
	$(BIN)/python -m pytest -n 2

lint: dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: dev
	$(BIN)/python benchmarks/run.py

clean:
	rm -rf $(VENV) demo build dist
