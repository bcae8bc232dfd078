from __future__ import annotations

import pytest

from regretless import MILP
from regretless.errors import InputError
from regretless.solvers import EnginePool, engine_backend
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
