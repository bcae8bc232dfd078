from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.utils.data import DataLoader, TensorDataset

from regretless import Dataset, SPOPlus, fit, make_model
from regretless.cache import SolutionCache
from regretless.errors import InputError, TrainingError
from regretless.family import Family
from regretless.losses import MAP
from regretless.milp import MILP
from regretless.problem import Problem
from regretless.training.batches import RankBatches, streamed, total_row


def ranks(size: int) -> list[Any]:
    return [SimpleNamespace(rank=rank, size=size) for rank in range(size)]


@given(n=st.integers(1, 80), batch_size=st.integers(1, 9), size=st.integers(1, 5), seed=st.integers(0, 9))
def test_ranks_see_every_instance_once_and_do_the_same_number_of_steps(
    n: int, batch_size: int, size: int, seed: int
) -> None:
    order = torch.randperm(n, generator=torch.Generator().manual_seed(seed))
    if n < size:
        with pytest.raises(InputError, match=f"{size} ranks need at least {size} training instances, got {n}"):
            RankBatches(n, batch_size, ranks(size)[0])
        return
    batches = [RankBatches(n, batch_size, rank) for rank in ranks(size)]
    cut = [one.cut(torch.arange(n), order) for one in batches]
    assert len({len(parts) for parts in cut}) == 1
    assert sorted(torch.cat([part for parts in cut for part in parts]).tolist()) == list(range(n))
    for step in range(len(cut[0])):
        joint = torch.cat([parts[step] for parts in cut])
        first = batches[0].start(step)
        assert joint.tolist() == order[first : first + len(joint)].tolist()
        # The mean over ranks of weighted means is the mean over the joint batch.
        values = order.to(torch.float64)
        means = [one.weight(step, "mean") * values[parts[step]].mean() for one, parts in zip(batches, cut, strict=True)]
        torch.testing.assert_close(torch.stack(means).mean(), values[joint].mean())


def test_without_ranks_batches_are_consecutive_parts() -> None:
    batches = RankBatches(7, 3, None)
    assert [part.tolist() for part in batches.cut(torch.arange(7), torch.arange(7))] == [[0, 1, 2], [3, 4, 5], [6]]
    assert [batches.start(step) for step in range(3)] == [0, 3, 6]
    assert batches.weight(2, "mean") == batches.weight(2, "sum") == 1.0


def test_a_sum_over_instances_is_a_sum_over_ranks() -> None:
    assert RankBatches(10, 2, ranks(2)[0]).weight(0, "sum") == 2.0


def test_counts_add_up_and_times_do_not() -> None:
    rows = [
        {"loss": 1.0, "solves": 2, "not_optimal": 0, "failed": 1, "seconds": 5.0, "solver_seconds": 1.0, "lookups": 9},
        {"loss": 2.0, "solves": 3, "not_optimal": 1, "failed": 0, "seconds": 4.0, "solver_seconds": 2.0, "lookups": 9},
    ]
    gathering: Any = SimpleNamespace(gather_objects=lambda own: rows)
    assert total_row(rows[0], gathering) == {
        "loss": 3.0, "solves": 5, "not_optimal": 1, "failed": 1, "seconds": 5.0, "solver_seconds": 2.0,
    }  # fmt: skip


@pytest.mark.parametrize(("n", "sizes"), [(9, [4, 5]), (10, [4, 4, 2]), (8, [4, 4]), (1, [1])])
def test_a_last_batch_that_is_too_small_joins_the_one_before(n: int, sizes: list[int]) -> None:
    batches = RankBatches(n, 4, None, least=2)
    parts = batches.cut(torch.arange(n), torch.arange(n))
    assert [len(part) for part in parts] == sizes
    assert [batches.start(step) for step in range(len(sizes))] == [int(part[0]) for part in parts]


BAG = MILP([[3.0, 4.0, 5.0]], row_upper=7.0)


def data(problem: Problem, n: int = 12, instance: Any = None) -> Dataset:
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(n, 2, generator=generator)
    return Dataset.solve(problem, x, 3 + x @ torch.randn(2, 3, generator=generator), instance=instance)


def weights(model: torch.nn.Module) -> list[float]:
    return torch.cat([p.detach().flatten() for p in model.parameters()]).tolist()


def parts(train: Dataset) -> tuple[torch.Tensor, ...]:
    every = (train.features, train.costs, train.solutions, train.instance)
    return tuple(part for part in every if part is not None)


def test_a_loader_trains_as_the_same_batches_in_memory_do(tmp_path: Path) -> None:
    problem = Problem(BAG, sense="max")
    train = data(problem)
    batches = [parts(train[i : i + 4]) for i in (0, 4, 8)]
    found = []
    for source in (batches, [train[i : i + 4] for i in (0, 4, 8)], DataLoader(TensorDataset(*parts(train)), 4)):
        model = make_model(train.features, 3, seed=0)
        fitted = fit(model, SPOPlus(problem), source, epochs=3, lr=0.05)
        found.append(weights(fitted.model))
        assert [row["epoch"] for row in fitted.history.rows] == [1, 2, 3]
    assert found[0] == found[1] == found[2]
    model = make_model(train.features, 3, seed=0)
    fit(model, SPOPlus(problem), batches, epochs=2, lr=0.05, checkpoint=tmp_path / "c")
    again = make_model(train.features, 3, seed=0)
    fit(again, SPOPlus(problem), batches, epochs=3, lr=0.05, checkpoint=tmp_path / "c")
    assert weights(again) == found[0], "a run continues from its last epoch"


def test_ids_of_a_family_come_with_the_batches() -> None:
    family = Family.vary(BAG, row_upper=[[7.0], [4.0]])
    problem = Problem(family, sense="max")
    train = data(problem, instance=[0, 1] * 6)
    loss = MAP(SolutionCache(problem, train.solutions, instance=train.instance))
    loader = DataLoader(TensorDataset(*parts(train)), 4, shuffle=True, generator=torch.Generator().manual_seed(1))
    fitted = fit(make_model(train.features, 3), loss, loader, epochs=2)
    assert all(row["loss"] == row["loss"] for row in fitted.history.rows)


@pytest.mark.parametrize(
    ("batches", "said"),
    [
        ([torch.zeros(2, 2)], r"batch 0 of the loader must be \(features, costs, solutions\)"),
        ([(torch.zeros(2, 2), torch.zeros(2, 3))], "batch 0 of the loader must be"),
        (
            [(torch.zeros(2, 2), torch.zeros(1, 3), torch.zeros(2, 3))],
            "batch 0 of the loader must have the same",
        ),
        ([(torch.zeros(2, 2), torch.zeros(2, 3), None)], "batch 0 of the loader must be"),
        ([], "the loader yields no batch"),
    ],
)
def test_other_batches_are_refused(batches: list[Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        fit(make_model(torch.zeros(2, 2), 3), SPOPlus(Problem(BAG)), batches, epochs=1)


def test_a_bad_prediction_is_named_by_row_and_batch() -> None:
    train = data(Problem(BAG))
    features = train.features.double()
    features[5] = 1e300  # infinite in the precision of the model
    features = features.where(features < 1e300, 3e38)
    batches = [(features[i : i + 4], train.costs[i : i + 4], train.solutions[i : i + 4]) for i in (0, 4)]
    with pytest.raises(TrainingError, match="training instance 1 of batch 1"):
        fit(make_model(train.features, 3), SPOPlus(Problem(BAG)), batches, epochs=1)


def test_batches_are_moved_to_the_precision_of_the_model() -> None:
    train = data(Problem(BAG))
    ((x, c, v, ids, _),) = streamed([train], torch.zeros(1, dtype=torch.float64))
    assert {x.dtype, c.dtype, v.dtype} == {torch.float64}
    assert ids is None


def test_gradients_are_clipped_and_a_scheduler_steps_after_every_epoch() -> None:
    problem = Problem(BAG, sense="max")
    train = data(problem)
    model = make_model(train.features, 3, seed=0)
    before = torch.tensor(weights(model))
    optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
    fit(model, SPOPlus(problem), train, epochs=1, batch_size=12, optimizer=optimizer, clip=0.01)
    assert torch.linalg.vector_norm(torch.tensor(weights(model)) - before) == pytest.approx(0.01, rel=1e-3)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=1, gamma=0.5)
    fit(model, SPOPlus(problem), train, epochs=2, optimizer=optimizer, scheduler=scheduler)
    assert optimizer.param_groups[0]["lr"] == 0.25
    with pytest.raises(InputError, match="scheduler belongs to an optimizer: pass that optimizer, too"):
        fit(model, SPOPlus(problem), train, scheduler=scheduler)
    with pytest.raises(InputError, match="clip must be a finite number above 0, got 0"):
        fit(model, SPOPlus(problem), train, clip=0.0)


def test_a_loader_with_its_own_generator_continues_its_shuffles(tmp_path: Path) -> None:
    train = data(Problem(BAG))

    def go(epochs: int, path: Path | None) -> list[float]:
        own = torch.Generator().manual_seed(5)
        parts = TensorDataset(train.features, train.costs, train.solutions)
        loader = DataLoader(parts, batch_size=5, shuffle=True, generator=own)
        model = make_model(train.features, 3)
        fit(model, SPOPlus(Problem(BAG)), loader, epochs=epochs, checkpoint=path)
        return weights(model)

    go(1, tmp_path / "run")
    assert go(3, tmp_path / "run") == go(3, None)
