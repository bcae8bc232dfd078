from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from regretless.errors import FileError
from regretless.milp import MILP
from regretless.storage import save_state
from regretless.tables.saved_problem import FILE, KIND, SavedProblem, has_saved_problem, load_saved_problem

SMALL = MILP(
    [[1.0, 0.0, 2.5], [0.0, -1.0, 0.0]],
    row_lower=[-np.inf, -3.0],
    row_upper=[4.0, np.inf],
    lower=[-np.inf, 0.0, 0.0],
    upper=[np.inf, 5.0, 1.0],
    integer=[False, True, True],
    cost_map=[[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]],
    fixed_cost=[0.0, 2.0, 0.0],
    constant=1.5,
    names=("a", "b", "c"),
)


@pytest.mark.parametrize("milp", [SMALL, MILP([[1.0, 2.0]], row_upper=2.0), MILP([[1e-5, 2e-5]], row_upper=2e-5)])
def test_what_is_kept_comes_back(milp: MILP, tmp_path: Path) -> None:
    names = tuple(f"c{i}" for i in range(milp.dimension))
    kept = SavedProblem(
        milp, "max", names, ("f",), (1,), "mlp", 7, "scip", 2.5, {"model": "abc"}, True, None, True, 0.1
    )
    assert not has_saved_problem(tmp_path)
    save_state(tmp_path / FILE, kept.state(), kind=KIND)
    assert has_saved_problem(tmp_path)
    again = load_saved_problem(tmp_path)
    assert again.milp.fingerprint == milp.fingerprint
    assert again.milp.names == milp.names
    assert (again.milp.row_scale == milp.row_scale).all()
    assert again.problem().engine == "scip"
    limits = [again.problem(time_limit=given).backend.time_limit for given in (None, 1.0)]  # type: ignore[attr-defined]
    assert limits == [2.5, 1.0]
    assert (again.problem(engine="highs").engine, again.problem(engine="highs").sense) == ("highs", "max")
    for name in ("sense", "cost_names", "feature_names", "shape", "model", "hidden", "engine", "time_limit", "gap"):
        assert getattr(again, name) == getattr(kept, name)
    assert (again.family, again.intercepts, again.files) == (True, True, {"model": "abc"})
    assert again.problem().solver == "scip(gap=0.1)"


def test_weights_fit_a_blank_model_and_bring_their_scales(tmp_path: Path) -> None:
    kept = SavedProblem(MILP([[1.0, 2.0]], row_upper=2.0), "min", ("a", "b"), None, (2, 3))
    generator = torch.Generator().manual_seed(0)
    features, costs = torch.randn(9, 2, 3, generator=generator), 50 + torch.randn(9, 2, generator=generator)
    model, blank = kept.build(features, costs, seed=3), kept.blank()
    blank.load_state_dict(model.state_dict())
    assert torch.equal(model(features), blank(features))


def test_a_state_that_holds_no_problem_is_an_error_that_names_the_file(tmp_path: Path) -> None:
    save_state(tmp_path / FILE, {"A": None}, kind=KIND)
    with pytest.raises(FileError, match=FILE):
        load_saved_problem(tmp_path)


def test_a_shape_beyond_all_integers_is_an_error_that_names_the_file(tmp_path: Path) -> None:
    state = SavedProblem(MILP([[1.0, 2.0]], row_upper=2.0), "min", ("a", "b"), None, (2, 3)).state()
    state["A"]["shape"] = [2**70, 2]
    save_state(tmp_path / FILE, state, kind=KIND)
    with pytest.raises(FileError, match=FILE):
        load_saved_problem(tmp_path)


def test_a_problem_that_was_saved_without_a_gap_has_none(tmp_path: Path) -> None:
    state = SavedProblem(MILP([[1.0, 2.0]], row_upper=2.0), "min", ("a", "b"), None, (3,)).state()
    del state["engine"]["gap"]
    save_state(tmp_path / FILE, state, kind=KIND)
    again = load_saved_problem(tmp_path)
    assert (again.gap, again.problem().solver) == (0.0, "highs()")
