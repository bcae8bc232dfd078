from __future__ import annotations

import pickle

import pytest
import torch

from regretless.problems.matching.pair_perceptron import PairPerceptron, pair_perceptron

WORDS = (torch.rand(20, 9, generator=torch.Generator().manual_seed(0)) < 0.4).float()
IDS = torch.arange(20)[torch.randperm(20, generator=torch.Generator().manual_seed(1))].reshape(2, 2, 5)


@pytest.mark.parametrize("product", [False, True])
def test_model_equals_the_perceptron_on_built_pairs(product: bool) -> None:
    model = PairPerceptron(WORDS, hidden=7, product=product)
    predicted = model(IDS).detach()
    assert predicted.shape == (2, 25)
    for k in range(2):
        for i in range(5):
            for j in range(5):
                left, right = WORDS[IDS[k, 0, i]], WORDS[IDS[k, 1, j]]
                logit = model.last(torch.relu(model.first(torch.cat([left, right]))))[0]
                if model.product is not None:
                    lengths = (left.norm() * right.norm()).clamp(min=1.0)  # one paper has no words
                    logit = logit + (model.product * left * right).sum() / lengths
                assert float(predicted[k, 5 * i + j]) == pytest.approx(float(torch.sigmoid(logit).detach()), abs=1e-6)


def test_every_weight_gets_a_gradient() -> None:
    model = PairPerceptron(WORDS, hidden=7, product=True)
    model(IDS).sum().backward()
    assert all(weight.grad is not None and weight.grad.abs().sum() > 0 for weight in model.parameters())


def test_words_are_no_part_of_the_state() -> None:
    model = PairPerceptron(WORDS, hidden=7)
    assert set(model.state_dict()) == {"first.weight", "first.bias", "last.weight", "last.bias"}
    again = PairPerceptron(WORDS, hidden=7)
    again.load_state_dict(model.state_dict())
    assert (again(IDS) == model(IDS)).all()
    assert (pickle.loads(pickle.dumps(model))(IDS) == model(IDS)).all()


def test_factory_follows_its_seed_and_leaves_the_global_generator_alone() -> None:
    make = pair_perceptron(WORDS)
    state = torch.random.get_rng_state()
    assert (make(3)(IDS) == make(3)(IDS)).all()
    assert (make(3)(IDS) != make(4)(IDS)).any()
    assert (torch.random.get_rng_state() == state).all()
    assert (pickle.loads(pickle.dumps(make))(3)(IDS) == make(3)(IDS)).all()


def test_a_double_model_predicts_doubles() -> None:
    assert PairPerceptron(WORDS, product=True).double()(IDS).dtype == torch.float64
