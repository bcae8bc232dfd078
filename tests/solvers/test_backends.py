from __future__ import annotations

import pytest

from regretless import MILP
from regretless.errors import InputError
from regretless.solvers import EnginePool, FunctionBackend, engine_backend
from regretless.solvers.backends import oracle_backend
from regretless.solvers.batch_backend import BatchBackend

PROGRAM = MILP([[1.0, 1.0]], row_upper=1.0, integer=False)


def test_the_table_decides_between_workers_and_batches():
    assert isinstance(engine_backend(PROGRAM), EnginePool)
    assert isinstance(engine_backend(PROGRAM, engine="batched-lp"), BatchBackend)


def test_an_unknown_engine_is_refused():
    with pytest.raises(InputError, match="engine must be one of"):
        engine_backend(PROGRAM, engine="abacus")


@pytest.mark.parametrize("how", [{"workers": 2}, {"executor": "processes"}])
def test_workers_are_refused_for_an_engine_that_solves_batches(how):
    with pytest.raises(InputError, match="leave out workers= and executor="):
        engine_backend(PROGRAM, engine="batched-lp", **how)


HOW = {"workers": 1, "time_limit": None, "executor": "threads"}


def test_a_function_is_called_per_instance_and_an_object_with_solve_is_taken_as_it_is():
    class Own:
        def solve(self, costs, instance=None, *, decision=False): ...

    own = Own()
    assert oracle_backend(own, settings={}, **HOW) is own
    assert isinstance(oracle_backend(lambda c: c, settings={"width": 2, "sign": 1.0}, **HOW), FunctionBackend)
    with pytest.raises(InputError, match="Own solves batches by itself: set its own time limit and workers"):
        oracle_backend(own, settings={}, **HOW | {"workers": 2})


def test_an_object_whose_solve_takes_no_batch_is_refused():
    class OptModel:  # as of PyEPO
        def solve(self): ...

    class WithoutDecision:
        def solve(self, costs, instance=None): ...

    for own in (OptModel(), WithoutDecision()):
        with pytest.raises(InputError, match=r"solve must take a batch, .*, or pass a function costs -> solution"):
            oracle_backend(own, settings={}, **HOW)
