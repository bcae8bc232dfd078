from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from regretless.benchmark_problem import BenchmarkProblem
from regretless.data import Dataset
from regretless.errors import FileError, InputError
from regretless.problems import irish_market
from regretless.problems.energy import load_energy
from regretless.problems.energy.load import energy_instance

TASKS = "1\n0 4 0 48 10.5\n3\n"


@pytest.fixture(scope="module")
def energy(instances_folder: Path) -> BenchmarkProblem:
    return load_energy("energy-1")


def test_least_squares_and_zero_have_the_published_errors(energy: BenchmarkProblem) -> None:
    def design(data: Dataset) -> np.ndarray:
        x = data.features.reshape(-1, 8).to(torch.float64).numpy()
        return np.concatenate([x, np.ones((len(x), 1))], axis=1)

    weights = np.linalg.lstsq(design(energy.train), energy.train.costs.numpy().ravel(), rcond=None)[0]
    true = energy.test.costs.numpy().ravel()
    assert f"{((design(energy.test) @ weights - true) ** 2).mean():.1f}" == "767.6"
    assert f"{(true**2).mean():.0f}" == "5460"


def test_a_loaded_problem_is_ready_to_train_on(energy: BenchmarkProblem) -> None:
    assert (len(energy.train), len(energy.test)) == (552, 177)
    assert energy.validation is not None
    assert len(energy.validation) == 60
    assert (energy.name, energy.batch_size, energy.problem.sense) == ("energy-1", 24, "min")
    assert energy.train.not_optimal == 0
    predicted = energy.model(0)(energy.train.features[:5])
    assert predicted.shape == (5, 48)
    assert energy.problem(predicted).shape == (5, 48)


def test_an_engine_gives_the_oracles_optima(energy: BenchmarkProblem) -> None:
    from regretless.problem import Problem

    costs = energy.test.costs[:3]
    problem = Problem(energy.problem.model, engine="highs")
    np.testing.assert_allclose(
        (problem(costs) * costs).sum(dim=1), (energy.test.solutions[:3] * costs).sum(dim=1), rtol=1e-9
    )


def test_any_instance_file_is_loaded_by_its_path(
    instances_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    split_days = irish_market.split_days
    monkeypatch.setattr(
        irish_market, "split_days", lambda kind, seed: [days[:9] for days in split_days(kind, seed=seed)]
    )
    path = tmp_path / "mine.txt"
    path.write_text("30\n1\n1\n0 1 1 1\n3\n" + TASKS)
    loaded = load_energy(f"energy:{path}", split="chronological", engine="highs", time_limit=10.0)
    assert (loaded.name, len(loaded.train)) == (f"energy:{path}", 9)
    assert loaded.problem.engine == "highs"
    assert loaded.train.solutions.sum(dim=1).tolist() == [4 * 10.5 * 0.5] * 9


def test_slots_of_another_length_than_the_prices_are_refused(instances_folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "mine.txt"
    path.write_text("15\n1\n1\n0 1 1 1\n3\n" + TASKS)
    with pytest.raises(InputError, match=r"48 slots per day, but .* has 96 slots of 15 minutes"):
        load_energy(f"energy:{path}")


def test_unknown_names_and_files_are_refused(tmp_path: Path) -> None:
    for name in ("energy-4", "energy", "energy:", "knapsack-60"):
        with pytest.raises(InputError, match="energy-1, energy-2, energy-3, or energy:PATH, got"):
            energy_instance(name)
    with pytest.raises(FileError, match="nowhere"):
        energy_instance(f"energy:{tmp_path}/nowhere.txt")


def test_public_instances_are_looked_for_in_the_data_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REGRETLESS_DATA", str(tmp_path))
    with pytest.raises(FileError, match=r"energy-2\.txt"):
        energy_instance("energy-2")
