from __future__ import annotations

import gzip
import warnings
from pathlib import Path

import numpy as np
import pytest
import torch

from regretless.errors import InputError, RegretlessWarning, SolveError
from regretless.problems import load
from regretless.tables.user_problem import is_model_file

MODEL = """minimize
 cost: x_0 + x_1 + x_2 + 3 y + 5
subject to
 cover: x_0 + x_1 + x_2 + y >= 2
binary
 x_0 x_1 x_2 y
end
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    generator = np.random.default_rng(0)
    (tmp_path / "m.lp").write_text(MODEL)
    features = generator.normal(size=(20, 2))
    np.savez(tmp_path / "x.npz", features=features)
    np.savez(tmp_path / "c.npz", costs=3 + features @ generator.normal(size=(2, 3)))
    return tmp_path


def loaded(folder: Path, **options: object):
    files = {"features": str(folder / "x.npz"), "costs": str(folder / "c.npz"), "cost_variables": "x_*"}
    return load(str(folder / "m.lp"), **(files | options))


def test_model_files_are_distinguished_from_named_problems() -> None:
    assert all(is_model_file(name) for name in ("a.mps", "A.LP", "b.mps.gz", "c.lp.gz"))
    assert not any(is_model_file(name) for name in ("knapsack-60", "energy:a.lp", "mps"))


def test_the_model_keeps_its_known_costs_and_its_constant(folder: Path) -> None:
    found = loaded(folder)
    answer = found.problem.solve([[10.0, 1.0, 10.0]])
    assert answer.objective.tolist() == [1 + 3 + 5]
    assert found.problem.found is not None
    assert len(found.problem.found) > 0, "a decider falls back on the decisions of the labels"
    assert (found.problem.sense, found.problem.dimension) == ("min", 3)


def test_parts_are_cut_in_order_or_at_random(folder: Path) -> None:
    every = loaded(folder).train
    found = loaded(folder, validation=0.1, test=0.2)
    assert [len(part) for part in (found.train, found.validation, found.test)] == [14, 2, 4]
    assert torch.equal(found.test.costs, every.costs[16:])
    shuffled = loaded(folder, validation=0.1, test=0.2, split="random", seed=1)
    assert not torch.equal(shuffled.test.costs, found.test.costs)
    assert torch.equal(shuffled.test.costs, loaded(folder, validation=0.1, test=0.2, split="random", seed=1).test.costs)
    assert found.evaluated_on == "test"


def test_rows_that_are_not_in_the_order_of_their_dates_are_reported(folder: Path) -> None:
    days = [f"2024-01-{20 - i:02d}" for i in range(20)]
    for name in ("features", "costs"):
        arrays = dict(np.load(folder / f"{name[0].replace('f', 'x')}.npz"))
        np.savez(folder / f"{name}.npz", **arrays, instance=days)
    named = {"features": str(folder / "features.npz"), "costs": str(folder / "costs.npz")}
    with pytest.warns(RegretlessWarning, match=r"costs\.npz are held out.*2024-01-19 comes after 2024-01-20"):
        loaded(folder, test=0.2, **named)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        loaded(folder, **named)
        loaded(folder, test=0.2, split="random", **named)


def test_figures_without_test_data_are_on_the_next_best(folder: Path) -> None:
    found = loaded(folder, validation=0.5)
    assert found.evaluated_on == "validation"
    assert found.test is found.validation
    found = loaded(folder)
    assert (found.evaluated_on, found.validation) == ("train", None)
    assert found.test is found.train


def test_only_training_data_set_the_scales(folder: Path) -> None:
    found = loaded(folder, test=0.5)
    weights = found.model(0).state_dict()
    assert torch.allclose(weights["mean"], found.train.costs.mean(dim=0).float())
    assert torch.allclose(weights["inner.mean"], found.train.features.mean(dim=0), atol=1e-6)


def test_a_gzipped_model_is_the_same(folder: Path) -> None:
    (folder / "m.lp.gz").write_bytes(gzip.compress(MODEL.encode()))
    files = {"features": str(folder / "x.npz"), "costs": str(folder / "c.npz"), "cost_variables": "x_*"}
    packed = load(str(folder / "m.lp.gz"), **files)
    assert packed.problem.fingerprint == loaded(folder).problem.fingerprint


def test_what_cannot_be_trained_on_is_refused(folder: Path) -> None:
    with pytest.raises(InputError, match="needs --features and --costs"):
        load(str(folder / "m.lp"))
    with pytest.raises(InputError, match="has no option 'days'"):
        loaded(folder, days=3)
    with pytest.raises(InputError, match="'chronological' or 'random'"):
        loaded(folder, split="paper")
    with pytest.raises(InputError, match="leave a part of 20 instances empty"):
        loaded(folder, validation=0.001)
    (folder / "m.lp").write_text(MODEL.replace(">= 2", ">= 9"))
    with pytest.raises(SolveError, match=r"m\.lp is infeasible at the costs of the first instance"):
        loaded(folder)
    unbounded = MODEL.replace("binary\n x_0 x_1 x_2 y", "bounds\n x_0 free\n x_1 free")
    (folder / "m.lp").write_text(unbounded)
    with pytest.raises(SolveError, match=r"m\.lp is unbounded"):
        loaded(folder)


def with_demand(folder: Path, demand: list[int]) -> str:
    path = folder / "r.csv"
    path.write_text("row:cover\n" + "".join(f"{one}\n" for one in demand))
    return str(path)


def test_constraints_without_a_solution_are_named_and_not_the_costs(folder: Path) -> None:
    for rows, which in (([9] * 20, 0), ([2] * 12 + [9] * 8, 12)):
        with pytest.raises(SolveError) as error:
            loaded(folder, constraints=with_demand(folder, rows))
        said = str(error.value)
        assert "m.lp is infeasible" in said
        assert (
            f"with the constraints of instance {which} (counted from 0) in {folder / 'r.csv'}: correct the row" in said
        )
        assert not any(word in said for word in ("c.npz", "batch", "member", "Infeasible"))


def test_a_named_instance_is_called_by_its_name(folder: Path) -> None:
    days = np.array([f"day {i}" for i in range(20)])
    for name, what in (("x", "features"), ("c", "costs")):
        with np.load(folder / f"{name}.npz") as file:
            content = file[what]
        np.savez(folder / f"{name}.npz", **{what: content, "instance": days})
    table = folder / "r.csv"
    table.write_text("instance,row:cover\n" + "".join(f"day {i},{9 if i == 7 else 2}\n" for i in range(20)))
    with pytest.raises(SolveError, match=r"m\.lp is infeasible with the constraints of 'day 7' in .*r\.csv: correct"):
        loaded(folder, constraints=str(table))


def test_instances_without_a_solution_are_left_out_the_first_one_too(folder: Path) -> None:
    with pytest.warns(RegretlessWarning, match="1 of 20 instances have no solution"):
        found = loaded(folder, constraints=with_demand(folder, [9] + [2] * 19), on_failure="skip")
    assert len(found.train) == 19
    with (
        pytest.warns(RegretlessWarning, match="20 of 20"),
        pytest.raises(SolveError, match=r"m\.lp has no solution for any instance of .*r\.csv"),
    ):
        loaded(folder, constraints=with_demand(folder, [9] * 20), on_failure="skip", test=0.2)


def test_an_encoding_is_learned_from_the_training_rows_in_whatever_order_the_features_are(folder: Path) -> None:
    days = [f"2024-01-{day:02d}" for day in range(1, 21)]
    rows = [f"{day},{'late' if k >= 15 else 'ab'[k % 2]}" for k, day in enumerate(days)]
    (folder / "x.csv").write_text("\n".join(["instance,zone", *rows[::-1]]) + "\n")
    (folder / "c.csv").write_text("\n".join(["instance,x_0,x_1,x_2", *(f"{day},1,2,3" for day in days)]) + "\n")
    files = {"features": str(folder / "x.csv"), "costs": str(folder / "c.csv"), "unseen": "other"}
    found = loaded(folder, **files, test=0.25, seed=3)
    assert found.kept is not None
    assert found.kept["feature_names"] == ["zone=a", "zone=b"]
    assert found.train.features.sum(dim=1).tolist() == [1.0] * 15
    assert found.test.features.sum(dim=1).tolist() == [0.0] * 5
