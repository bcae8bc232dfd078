from __future__ import annotations

from pathlib import Path

import pytest
import torch

from regretless.benchmark_problem import BenchmarkProblem
from regretless.errors import FileError, InputError
from regretless.losses import MAP, NCE
from regretless.metrics import auc, regret
from regretless.problems.matching.load import load_matching


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Labels of the paper's split, which the first test that needs them solves."""
    return tmp_path_factory.mktemp("labels")


@pytest.fixture(scope="module")
def loaded(store: Path) -> BenchmarkProblem:
    """The smallest matching problem, with the split of the paper."""
    return load_matching("matching-10", store=store)


@pytest.mark.data
def test_matching_10_has_its_instances_labels_and_model(loaded: BenchmarkProblem, store: Path) -> None:
    assert loaded.validation is not None
    assert [len(part) for part in (loaded.train, loaded.validation, loaded.test)] == [19, 3, 5]
    assert loaded.batch_size == 1
    assert loaded.problem.sense == "max"
    assert loaded.test.instance is not None
    assert loaded.test.instance.tolist() == [22, 23, 24, 25, 26]
    assert loaded.train.features.shape == (19, 2, 50)
    assert loaded.train.features.dtype == torch.int64
    assert loaded.train.status is None
    predicted = loaded.model(0)(loaded.test.features)
    assert predicted.shape == (5, 2500)
    lost = regret(loaded.problem, predicted, loaded.test.costs, loaded.test.solutions, loaded.test.instance)
    assert (lost > 0).all()
    assert lost.tolist() == lost.round().tolist()  # links lost are integers
    assert len(list(store.iterdir())) == 1


@pytest.mark.data
def test_the_product_of_words_separates_links_and_the_words_alone_do_not(loaded: BenchmarkProblem, store: Path) -> None:
    plain, product = loaded, load_matching("matching-10", product=True, store=store)
    true = plain.train.costs
    with torch.no_grad():
        assert float(auc(product.model(0)(product.train.features), true)) > 0.7
        assert abs(float(auc(plain.model(0)(plain.train.features), true)) - 0.5) < 0.1


@pytest.mark.data
def test_random_split_follows_its_seed(tmp_path: Path) -> None:
    first, again, other = (load_matching("matching-10", split="random", seed=s, store=tmp_path) for s in (1, 1, 2))
    for part in (first, again, other):
        assert part.test.instance is not None
    assert first.test.instance.tolist() == again.test.instance.tolist()  # type: ignore[union-attr]
    assert first.test.instance.tolist() != other.test.instance.tolist()  # type: ignore[union-attr]


@pytest.mark.data
def test_unknown_names_splits_and_fields_are_refused() -> None:
    with pytest.raises(InputError, match="matching-10, matching-25, matching-50, got 'matching-5'"):
        load_matching("matching-5")
    with pytest.raises(InputError, match="paper, random, got 'chronological'"):
        load_matching("matching-10", split="chronological")
    with pytest.raises(InputError, match="'paper' or 'position'"):
        load_matching("matching-10", same_field="author")  # type: ignore[arg-type]


def test_missing_files_say_how_to_get_them(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from regretless.problems.matching.cora import citation_network

    citation_network.cache_clear()
    monkeypatch.setenv("REGRETLESS_DATA", str(tmp_path))
    with pytest.raises(FileError, match="regretless data fetch cora"):
        load_matching("matching-25")


@pytest.mark.data
@pytest.mark.parametrize("loss_class", [NCE, MAP])
def test_a_training_step_with_a_cache_works_on_the_family(store: Path, loss_class: type) -> None:
    from regretless.cache import SolutionCache

    loaded = load_matching("matching-10", product=True, store=store)
    cache = SolutionCache(loaded.problem, p_solve=0.5, seed=0)
    data = loaded.train
    cache.add(data.solutions, data.instance)
    model = loaded.model(0)
    part = data[:1]
    value = loss_class(cache)(model(part.features), part.costs, part.solutions, part.instance)
    value.backward()
    assert torch.isfinite(value)
    assert all(weight.grad is not None for weight in model.parameters())
