from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from regretless.errors import FileError, InputError, SolveError
from regretless.family import Family
from regretless.milp import MILP
from regretless.problem import Problem
from regretless.runs import Spec, run
from regretless.runs.decide import SOLVE_BATCH, LoadedRun, decider
from regretless.runs.new_rows import Rows
from regretless.tables import Features
from regretless.tables.saved_data import load_saved_data
from regretless.types import Status

MODEL = "maximize\n v: x_0 + x_1 + x_2\nsubject to\n one: x_0 + x_1 + x_2 <= 1\nbinary\n x_0 x_1 x_2\nend\n"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("decide")
    generator = np.random.default_rng(0)
    (folder / "m.lp").write_text(MODEL)
    x = generator.normal(size=(30, 2))
    np.savez(folder / "x.npz", features=x)
    np.savez(folder / "c.npz", costs=5 + x @ generator.normal(size=(2, 3)))
    options = {"features": str(folder / "x.npz"), "costs": str(folder / "c.npz")}
    run(Spec(str(folder / "m.lp"), "spo", epochs=10, options=options), folder / "run", progress=False)
    (folder / "m.lp").unlink()
    return folder


def test_a_run_decides_and_is_labelled_without_its_model_file(folder: Path) -> None:
    ready = decider(folder / "run")
    features, ids = ready.read(folder / "x.npz")
    assert ids is None
    predicted, decisions = ready.decide(features)
    assert decisions.decision.sum(dim=1).tolist() == [1.0] * 30
    assert torch.equal(decisions.decision.argmax(dim=1), predicted.argmax(dim=1))
    assert ready.variable_names == ready.cost_names == ("x_0", "x_1", "x_2")
    data = ready.labelled(ready.rows(folder / "x.npz", folder / "c.npz"))
    assert len(data) == 30


def test_features_are_encoded_as_in_training_whatever_the_levels_are_called(tmp_path: Path) -> None:
    (tmp_path / "m.lp").write_text(MODEL)
    zones = ["other", "north", "south"] * 10 + ["rare"]
    (tmp_path / "x.csv").write_text("zone\n" + "\n".join(zones) + "\n")
    rows = [f"{5 * (z == 'other')},{3 * (z == 'north')},{2 * (z == 'rare')}" for z in zones]
    (tmp_path / "c.csv").write_text("x_0,x_1,x_2\n" + "\n".join(rows) + "\n")
    options = {"features": str(tmp_path / "x.csv"), "costs": str(tmp_path / "c.csv")}
    run(Spec(str(tmp_path / "m.lp"), "spo", epochs=1, options=options), tmp_path / "run", progress=False)
    features, _ = decider(tmp_path / "run").read(tmp_path / "x.csv")
    trained = load_saved_data(tmp_path / "run").train.features
    assert features.values.tolist() == trained.tolist()


def test_batches_are_joined_in_order(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ready = decider(folder / "run")
    features, _ = ready.read(folder / "x.npz")
    predicted, whole = ready.decide(features)
    monkeypatch.setattr("regretless.runs.decide.SOLVE_BATCH", 7)
    again, parts = ready.decide(features)
    assert torch.equal(predicted, again)
    assert torch.equal(whole.decision, parts.decision)
    assert torch.equal(whole.objective, parts.objective)
    assert len(parts.status) == 30


def sometimes(costs: np.ndarray) -> np.ndarray:
    if costs.argmax() == 1:
        raise RuntimeError("no luck")
    return (costs == costs.max()) * 1.0


def test_messages_stay_with_their_rows_when_batches_are_joined(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    problem = Problem(oracle=sometimes, dimension=3, sense="max", on_failure="skip")
    ready = replace(decider(folder / "run"), problem=problem)
    features, _ = ready.read(folder / "x.npz")
    monkeypatch.setattr("regretless.runs.decide.SOLVE_BATCH", 7)
    predicted, decisions = ready.decide(features)
    failed = (predicted.argmax(dim=1) == 1).nonzero().flatten().tolist()
    assert failed[-1] > 7
    assert decisions.message == dict.fromkeys(failed, "RuntimeError: no luck")
    assert [row for row, status in enumerate(decisions.status) if status is Status.ERROR] == failed


@pytest.mark.parametrize(("names", "named"), [(None, r"row 1 \(counted from 0\)"), (("a", "b"), "instance 'b'")])
def test_a_row_that_cannot_be_labelled_is_named(folder: Path, names: tuple[str, ...] | None, named: str) -> None:
    ready = replace(decider(folder / "run"), problem=Problem(oracle=sometimes, dimension=3, sense="max"))
    costs = torch.tensor([[9.0, 1.0, 1.0], [1.0, 9.0, 1.0]], dtype=torch.float64)
    with pytest.raises(SolveError, match=rf"no solution for {named}: error.* no luck: leave it out, or use a run"):
        ready.labelled(Rows(torch.zeros(2, 2), costs, None, names))


def test_named_features_of_an_array_are_put_into_the_order_of_training(folder: Path, tmp_path: Path) -> None:
    ready = decider(folder / "run")
    assert ready.saved is not None
    named = replace(ready, saved=replace(ready.saved, feature_names=("a", "b")))
    values = np.load(folder / "x.npz")["features"]
    np.savez(tmp_path / "x.npz", features=values[:, ::-1], feature_names=np.array(["b", "a"]))
    assert np.array_equal(named.read(tmp_path / "x.npz")[0].values, values)
    np.savez(tmp_path / "x.npz", features=values, feature_names=np.array(["a", "c"]))
    with pytest.raises(InputError, match="missing: b; unknown: c"):
        named.read(tmp_path / "x.npz")


def test_a_problem_by_name_has_its_own_model_and_names(tmp_path: Path) -> None:
    options = {"items": 4, "k": 1, "train": 8, "test": 4}
    run(Spec("top-k", "two-stage", options=options), tmp_path / "run", progress=False)
    ready = decider(tmp_path / "run")
    assert len(ready.cost_names) == len(ready.variable_names) == 4
    assert (ready.saved, ready.needs_constraints) == (None, False)
    for wrong in ({"model": "m.lp"}, {"family": True}):
        with pytest.raises(InputError, match="--model and --constraints are for runs on model files"):
            decider(tmp_path / "run", **wrong)  # type: ignore[arg-type]
    for wrong in ({"engine": "highs"}, {"time_limit": 1.0}, {"gap": 0.1}):
        with pytest.raises(InputError, match="--engine, --time-limit and --gap are for runs on model files"):
            decider(tmp_path / "run", **wrong)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="--constraints is for runs on model files"):
        ready.read(tmp_path / "x.npz", "r.csv")


def test_features_of_another_shape_are_refused(folder: Path, tmp_path: Path) -> None:
    ready = decider(folder / "run")
    np.savez(tmp_path / "x.npz", features=np.zeros((2, 5)))
    with pytest.raises(InputError, match="expected 2 features as in training, got 5"):
        ready.read(tmp_path / "x.npz")
    np.savez(tmp_path / "x.npz", features=np.zeros((2, 3, 2)))
    with pytest.raises(InputError, match="trained with one row per instance"):
        ready.read(tmp_path / "x.npz")


def test_another_engine_gives_the_same_objectives(folder: Path) -> None:
    pytest.importorskip("pyscipopt")
    first, second = decider(folder / "run"), decider(folder / "run", engine="scip")
    features, _ = first.read(folder / "x.npz")
    assert torch.allclose(first.decide(features)[1].objective, second.decide(features)[1].objective)


def test_a_folder_without_a_run_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="is no run"):
        decider(tmp_path)


def test_a_family_takes_the_ids_of_its_instances_and_nothing_else(tmp_path: Path) -> None:
    family = Family([MILP([[1.0, 1.0]], row_upper=1.0), MILP([[1.0, 1.0]], row_upper=2.0)])
    model = torch.nn.Linear(2, 2)
    ready = LoadedRun(Problem(family, sense="max"), model, ("a", "b"), ("a", "b"), torch.zeros(0, 2), torch.nn.Identity)
    with torch.no_grad():
        model.weight.copy_(torch.eye(2))
        model.bias.zero_()
    np.savez(tmp_path / "x.npz", features=np.array([[2.0, 1.0], [2.0, 1.0]]), instance=np.array([0, 1]))
    _, decisions = ready.decide(*ready.read(tmp_path / "x.npz"))
    assert decisions.decision.tolist() == [[1.0, 0.0], [1.0, 1.0]]
    np.savez(tmp_path / "x.npz", features=np.ones((2, 2)), instance=np.array([0.0, 0.9]))
    with pytest.raises(InputError, match=r"instance must be integers, got .* such as \[0.0, 0.9\]"):
        ready.read(tmp_path / "x.npz")
    np.savez(tmp_path / "x.npz", features=np.array([[1.0, np.nan]]))
    with pytest.raises(InputError, match=r"x\.npz: .*'features'.*nan"):
        ready.read(tmp_path / "x.npz")
    np.savez(tmp_path / "x.npz", features=np.ones((0, 2)))
    with pytest.raises(InputError, match=r"'features' must have shape \(n, 2\), got \(0, 2\)"):
        ready.read(tmp_path / "x.npz")


@pytest.mark.parametrize(("instance", "shape"), [([0], "(1,)"), ([0, 1, 1], "(3,)"), ([[0], [1]], "(2, 1)")])
def test_ids_of_a_family_are_as_many_as_the_rows(instance: list[int], shape: str, tmp_path: Path) -> None:
    problem = Problem(Family([MILP([[1.0, 1.0]], row_upper=bound) for bound in (1.0, 2.0)]), sense="max")
    ready = LoadedRun(problem, torch.nn.Linear(2, 2), ("a", "b"), ("a", "b"), torch.zeros(0, 2), torch.nn.Identity)
    np.savez(tmp_path / "x.npz", features=np.ones((2, 2)), instance=np.array(instance))
    np.savez(tmp_path / "c.npz", costs=np.ones((2, 2)))
    said = re.escape(f"x.npz: 'instance' must have shape (2,), one id per row of 'features', got {shape}")
    with pytest.raises(InputError, match=said):
        ready.rows(tmp_path / "x.npz", tmp_path / "c.npz")


def test_features_costs_and_constraints_are_matched_by_the_names_of_their_rows(tmp_path: Path) -> None:
    limit = {"a": 0, "b": 1, "c": 2, "d": 3}  # how many of the three are chosen, since all costs are positive

    def write(name: str, order: str, header: str, row: Callable[[str], str]) -> str:
        lines = [f"instance,{header}", *(f"{key},{row(key)}" for key in order)]
        (tmp_path / name).write_text("\n".join(lines) + "\n")
        return str(tmp_path / name)

    files = {
        "features": write("x.csv", "abcd", "f", lambda key: f"{limit[key]}.5"),
        "costs": write("c.csv", "dbca", "x_0,x_1,x_2", lambda key: f"1,2,{limit[key] + 3}"),
        "constraints": write("r.csv", "cadb", "row:one", lambda key: f"{limit[key]}"),
    }
    (tmp_path / "m.lp").write_text(MODEL)
    run(Spec(str(tmp_path / "m.lp"), "two-stage", epochs=1, options=files), tmp_path / "run", progress=False)
    ready = decider(tmp_path / "run")
    data = ready.labelled(ready.rows(files["features"], files["costs"], files["constraints"]))
    assert data.names is not None
    assert set(data.names) == set(limit)
    for name, x, costs, solution in zip(data.names, data.features, data.costs, data.solutions, strict=True):
        wanted = limit[name] + 0.5, limit[name] + 3, limit[name]
        assert (x[0].item(), costs[2].item(), solution.sum().item()) == wanted


def test_a_prediction_that_is_not_finite_is_named_by_its_row_before_anything_is_solved(folder: Path) -> None:
    ready = decider(folder / "run")
    values = np.zeros((SOLVE_BATCH + 9, 2))
    values[SOLVE_BATCH + 5] = 3e38, -3e38
    with torch.no_grad():
        next(iter(ready.model.parameters())).mul_(1e6)
    with pytest.raises(InputError, match=rf"costs must be finite, got .* at row {SOLVE_BATCH + 5}, column"):
        ready.decide(Features(values, None, None))
    assert not ready.problem.statistics.by_purpose.get("decisions")
