from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest
import torch

from regretless.errors import InputError, SolveError
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
