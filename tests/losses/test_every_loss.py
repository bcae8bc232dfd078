"""What every loss promises, proven for each row of one table. A new loss is one more row."""

from __future__ import annotations

import copy
import io
import pickle
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from regretless.cache import SolutionCache
from regretless.data import Dataset
from regretless.errors import InputError, SolveError
from regretless.losses import (
    LAVA,
    MAP,
    NCE,
    QPTL,
    AdaptiveImplicitMLE,
    Blackbox,
    ConeAlignment,
    ExpectedRegret,
    ImplicitMLE,
    Interior,
    Listwise,
    Loss,
    NegativeIdentity,
    Pairwise,
    PairwiseDifference,
    PerturbationGradient,
    PerturbedFenchelYoung,
    PerturbedOptimizer,
    Pointwise,
    RegularizedFenchelYoung,
    RegularizedOptimizer,
    SmoothedContrastive,
    SPOPlus,
    TwoStage,
    WarmUp,
)
from regretless.oracle import Oracle
from regretless.relaxation.linear_relaxation import LinearRelaxation
from regretless.training import fit
from regretless.types import Solved, Status

from .tiny import KINDS, Batch, Kind, batch, best, cache, members, value_and_gradient

COSTS: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "c_hat": lambda p, c: p,
    "c_hat-c": lambda p, c: p - c,
    "2c_hat-c": lambda p, c: 2 * p - c,
}
FACTOR = {"c_hat": 1.0, "c_hat-c": 1.0, "2c_hat-c": 2.0}


@dataclass(frozen=True)
class Row:
    """A loss: how it is built on an oracle, its value and gradient by definition, and what is true of it.

    Attributes:
        build: ``(oracle, **reduction) -> Loss``.
        by_definition: ``(predicted, true, solution, S or V) -> value, gradient`` of one instance, minimizing.
        needs: the oracle it takes: ``"any"``, ``"cache"``, ``"problem"`` or ``"none"``.
        differentiable: whether finite differences give its gradient at almost every point.
        solves: exact solves per instance where the oracle is the problem; ``None`` where their number varies.
        tolerance: of comparisons; looser where an iterative method is inside.
        noise: whether it draws noise, which depends on the place in the batch and on the precision.
        mapped: whether it takes models with a cost map.
    """

    build: Callable[..., Loss]
    by_definition: Callable[[Tensor, Tensor, Tensor, Tensor], tuple[Tensor, Tensor]] | None = None
    needs: str = "cache"
    differentiable: bool = True
    solves: int | None = 1
    tolerance: float = 1e-9
    noise: bool = False
    mapped: bool = True


def nce(cost: str, over: str = "mean") -> Row:
    def by_definition(p, c, v, members):
        margins = (v - members) @ COSTS[cost](p, c)
        gradient = FACTOR[cost] * (v - members)
        return (margins.mean(), gradient.mean(0)) if over == "mean" else (margins.sum(), gradient.sum(0))

    return Row(lambda oracle, **o: NCE(oracle, cost=cost, over=over, **o), by_definition)


def map_(cost: str, select: str = "shifted") -> Row:
    def by_definition(p, c, v, members):
        shifted = COSTS[cost](p, c)
        chosen = best(members, shifted if select == "shifted" else p)
        return (v - chosen) @ shifted, FACTOR[cost] * (v - chosen)

    return Row(lambda oracle, **o: MAP(oracle, cost=cost, select=select, **o), by_definition, needs="any")


def spo(p, c, v, members):
    chosen = best(members, 2 * p - c)
    return (2 * p - c) @ (v - chosen), 2 * (v - chosen)


def blackbox(lambda_: float):
    def by_definition(p, c, v, members):
        here, there = best(members, p), best(members, p + lambda_ * c)
        return c @ (here - v), (there - here) / lambda_

    return by_definition


def perturbation_gradient(width: float, *, central: bool):
    def by_definition(p, c, v, members):
        ahead, back = (p + width * c if central else p), p - width * c
        distance = 2 * width if central else width
        above, below = best(members, ahead), best(members, back)
        return (ahead @ above - back @ below) / distance, (above - below) / distance

    return by_definition


def negative_identity(p, c, v, members):
    regret = c @ (best(members, p) - v)
    return regret, -c * (regret > 0)


def lava(p, c, v, members):
    def between(w, u):
        return bool(((torch.minimum(u, v) <= w) & (w <= torch.maximum(u, v))).all())

    others = [u for u in members if not torch.equal(u, v)]
    leads = [v - u for u in others if not any(between(w, u) for w in others if not torch.equal(w, u))]
    value = sum(((p @ lead).clamp(min=-0.1) for lead in leads), torch.zeros((), dtype=p.dtype))
    return value, sum((lead * (p @ lead > -0.1) for lead in leads), torch.zeros_like(p))


def two_stage(p, c, v, members):
    return (p - c).square().mean(), 2 * (p - c) / len(p)


def soft(p, c, v, members):
    probability = torch.softmax(-(members @ p) / 0.7, dim=0)
    values = members @ c
    expected = probability @ values
    return expected - v @ c, -((probability * (values - expected)) @ members) / 0.7


def warm_up(*, taken: int) -> Callable[..., Loss]:
    """MAP for 100 steps, then the expected regret, after a number of steps."""

    def build(oracle: Oracle, **o: Any) -> Loss:
        then = ExpectedRegret(oracle, scale="fixed", temperature=0.7, **o)
        loss = WarmUp(MAP(oracle, cost="c_hat-c", **o), then, steps=100)
        loss.load_running_state({"taken": taken, "losses": [{}, {"steps": 0}]})
        return loss

    return build


def perturbed(loss: type[Loss], solves: int, **settings: Any) -> Row:
    """A loss with two perturbations."""
    return Row(
        lambda oracle, **o: loss(oracle, samples=2, **settings, **o),
        needs="any",
        differentiable=False,
        solves=solves,
        noise=True,
    )


def regularized(loss: type[Loss]) -> Row:
    """A loss of the regularized solution, with few iterations; its own test continues them to the minimum."""
    return Row(
        lambda oracle, **o: loss(oracle, lambda_=0.7, max_iterations=4, **o),
        needs="any",
        differentiable=False,
        solves=None,
        tolerance=1e-7,
    )


TABLE: dict[str, Row] = {
    "two-stage": Row(lambda _, **o: TwoStage(**o), two_stage, needs="none", solves=0),
    "spo": Row(SPOPlus, spo, needs="any"),
    "blackbox": Row(Blackbox, blackbox(1.0), needs="any", differentiable=False, solves=2),
    "blackbox 3": Row(
        lambda oracle, **o: Blackbox(oracle, lambda_=3.0, **o), blackbox(3.0), "any", differentiable=False, solves=2
    ),
    "nce-c": nce("c_hat"),
    "nce-dc": nce("c_hat-c"),
    "nce-2c": nce("2c_hat-c"),
    "nce-c sum": nce("c_hat", "sum"),
    "map-c": map_("c_hat"),
    "map-dc": map_("c_hat-c"),
    "map-2c": map_("2c_hat-c"),
    "map-dc predicted": map_("c_hat-c", "predicted"),
    "map-2c predicted": map_("2c_hat-c", "predicted"),
    "soft": Row(lambda oracle, **o: ExpectedRegret(oracle, scale="fixed", temperature=0.7, **o), soft),
    "soft relative": Row(ExpectedRegret, differentiable=False),  # the unit of its temperature is held fixed
    "soft annealed": Row(
        lambda oracle, **o: ExpectedRegret(
            oracle, scale="fixed", temperature=0.7, final_temperature=0.7, anneal_steps=3, **o
        ),
        soft,
    ),
    "warm-up": Row(warm_up(taken=0), map_("c_hat-c").by_definition),
    "warmed up": Row(warm_up(taken=100), soft),
    "pfy": perturbed(PerturbedFenchelYoung, 2),
    "pfy multiplicative": perturbed(PerturbedFenchelYoung, 2, noise="multiplicative"),
    "dpo": perturbed(PerturbedOptimizer, 2),
    "dpo multiplicative": perturbed(PerturbedOptimizer, 2, noise="multiplicative", task="regret"),
    "imle": perturbed(ImplicitMLE, 4),
    "imle central": perturbed(ImplicitMLE, 6, central=True, task="regret"),
    "aimle": perturbed(AdaptiveImplicitMLE, 4),
    "nid": Row(NegativeIdentity, needs="any", differentiable=False),
    "nid regret": Row(
        lambda oracle, **o: NegativeIdentity(oracle, task="regret", **o),
        negative_identity,
        needs="any",
        differentiable=False,
    ),
    "pg": Row(
        lambda oracle, **o: PerturbationGradient(oracle, width=1.0, **o),
        perturbation_gradient(1.0, central=False),
        needs="any",
        solves=2,
    ),
    "pg central": Row(
        lambda oracle, **o: PerturbationGradient(oracle, width=1.0, central=True, **o),
        perturbation_gradient(1.0, central=True),
        needs="any",
        solves=2,
    ),
    "rfy": regularized(RegularizedFenchelYoung),
    "rfw": regularized(RegularizedOptimizer),
    "cave": Row(lambda oracle, **o: ConeAlignment(oracle, inner=0.0, **o), needs="problem", mapped=False),
    "cave inner": Row(ConeAlignment, needs="problem", differentiable=False, mapped=False),
    "lava": Row(LAVA, lava),
    "sce": Row(lambda oracle, **o: SmoothedContrastive(oracle, tau=0.5, **o), needs="problem", tolerance=1e-5),
    "pointwise": Row(Pointwise),
    "pairwise": Row(lambda oracle, **o: Pairwise(oracle, margin=0.1, **o)),
    "pairwise difference": Row(PairwiseDifference),
    "listwise": Row(Listwise),
    "spo-relax": Row(lambda oracle, **o: SPOPlus(LinearRelaxation(oracle), **o), needs="problem"),
    "qptl": Row(lambda oracle, **o: QPTL(oracle, tau=0.5, **o), needs="problem", tolerance=1e-5),
    "interior": Row(lambda oracle, **o: Interior(oracle, cutoff=0.3, **o), needs="problem", tolerance=1e-5),
}
EVERY = pytest.mark.parametrize("name", TABLE)
# These are on the layer of qptl, or another setting of a class that the table has already: what does not depend on the
# formula is a heavier check for them. Their values and gradients are always tested.
SIMILAR = (
    "sce", "interior", "blackbox 3", "nce-c", "nce-2c", "map-c", "map-2c", "map-2c predicted", "pfy multiplicative",
    "dpo multiplicative", "imle central", "nid", "pg central", "soft relative",
)  # fmt: skip
ONE_PER_CLASS = pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] * (name in SIMILAR)) for name in TABLE]
)
CACHED = pytest.mark.parametrize("name", [name for name, row in TABLE.items() if row.needs in ("any", "cache")])
EXACT = pytest.mark.parametrize("name", [name for name, row in TABLE.items() if row.needs == "any"])
WITHOUT_NOISE = pytest.mark.parametrize("name", [name for name, row in TABLE.items() if not row.noise])
DEFINED = pytest.mark.parametrize("name", [name for name, row in TABLE.items() if row.by_definition is not None])
BOTH_PATHS = pytest.mark.parametrize("path", ["fit", "autograd"])
# That both paths have one loss and one gradient is a test of its own: it says the rest of the second path.
ONE_PATH = pytest.mark.parametrize("path", ["fit", pytest.param("autograd", marks=pytest.mark.slow)])
# One kind has both a cost map and known costs, and a family is plain but for its several limits: the others are heavier
# checks.
PARTS = ("plain", "mapped", "known")
EVERY_KIND = pytest.mark.parametrize(
    "kind", [pytest.param(kind, marks=[pytest.mark.slow] * (kind in PARTS)) for kind in KINDS]
)


def oracle_of(row: Row, kind: Kind, b: Batch, *, sense: str = "min", **settings: Any) -> Oracle:
    """The oracle that the loss takes, over S where it can take a cache."""
    if kind.cost_map is not None and not row.mapped:
        pytest.skip("takes no model with a cost map")
    problem = kind.problem(sense)
    return problem if row.needs in ("problem", "none") else cache(problem, b, **settings)


# --- value and gradient -------------------------------------------------------------------------------------------


@DEFINED
@EVERY_KIND
@ONE_PATH
def test_value_and_gradient_over_a_cache_are_the_definition_by_brute_force(name, kind, path):
    row, kind = TABLE[name], KINDS[kind]
    for seed in range(3):
        b = batch(kind, seed=seed)
        loss = row.build(oracle_of(row, kind, b), reduction="none")
        values, gradient = value_and_gradient(loss, b, path=path)
        p, c = (
            (b.predicted, b.true)
            if row.needs == "none"
            else (kind.to_minimization(b.predicted), kind.to_minimization(b.true))
        )
        for i in range(len(values)):
            value, slope = row.by_definition(p[i], c[i], b.solution[i], members(kind, b, i))
            assert torch.allclose(values[i], value)
            assert torch.allclose(gradient[i], slope[: gradient.shape[1]])


@pytest.mark.parametrize("name", [name for name, row in TABLE.items() if row.by_definition and row.needs == "any"])
@EVERY_KIND
@ONE_PATH
def test_value_and_gradient_over_the_problem_are_the_definition_over_all_of_v(name, kind, path):
    row, kind = TABLE[name], KINDS[kind]
    b, problem = batch(kind, seed=4), kind.problem()
    values, gradient = value_and_gradient(row.build(problem, reduction="none"), b, path=path)
    assert problem.statistics.solves == row.solves * len(values)
    p, c = kind.to_minimization(b.predicted), kind.to_minimization(b.true)
    for i in range(len(values)):
        points = kind.points(0 if b.instance is None else int(b.instance[i]))
        value, slope = row.by_definition(p[i], c[i], b.solution[i], points)
        assert torch.allclose(values[i], value)
        assert torch.allclose(gradient[i], slope[: gradient.shape[1]])


@pytest.mark.parametrize("name", [name for name, row in TABLE.items() if row.differentiable])
@EVERY_KIND
def test_the_gradient_is_that_of_finite_differences(name, kind):
    row, kind = TABLE[name], KINDS[kind]
    b = batch(kind, n=3, seed=1)
    loss = row.build(oracle_of(row, kind, b), reduction="none")
    gradients = [value_and_gradient(loss, b, path=path)[1] for path in ("fit", "autograd")]
    step = 1e-6 if row.tolerance < 1e-6 else 1e-4
    for j in range(b.predicted.shape[1]):
        ahead, back = b.predicted.clone(), b.predicted.clone()
        ahead[:, j] += step
        back[:, j] -= step
        with torch.no_grad():
            change = loss(ahead, b.true, b.solution, b.instance) - loss(back, b.true, b.solution, b.instance)
        for gradient in gradients:
            assert torch.allclose(gradient[:, j], change / (2 * step), atol=max(1e-6, 100 * row.tolerance))


@EVERY
@EVERY_KIND
def test_the_mirrored_problem_has_the_same_loss_and_the_mirrored_gradient(name, kind):
    row, kind = TABLE[name], KINDS[kind]
    b = batch(kind, seed=2)
    mirror = b.mirrored(kind.known is not None)
    value, gradient = value_and_gradient(row.build(oracle_of(row, kind, b), reduction="none"), b)
    value_of_mirror, gradient_of_mirror = value_and_gradient(
        row.build(oracle_of(row, kind, mirror, sense="max"), reduction="none"), mirror
    )
    assert torch.allclose(value, value_of_mirror, atol=row.tolerance)
    assert torch.allclose(gradient, -gradient_of_mirror, atol=row.tolerance)
    assert not row.differentiable or gradient.abs().max() > 0


@WITHOUT_NOISE
@EVERY_KIND
def test_a_batch_is_its_instances_one_by_one(name, kind):
    row, kind = TABLE[name], KINDS[kind]
    b = batch(kind, seed=3)
    loss = row.build(oracle_of(row, kind, b), reduction="none")
    values, gradient = value_and_gradient(loss, b)
    for i in range(len(values)):
        one = slice(i, i + 1)
        part = replace(
            b,
            predicted=b.predicted[one],
            true=b.true[one],
            solution=b.solution[one],
            instance=None if b.instance is None else b.instance[one],
        )
        value, slope = value_and_gradient(loss, part)
        assert torch.allclose(value, values[one], atol=row.tolerance)
        assert torch.allclose(slope, gradient[one], atol=row.tolerance)


@ONE_PER_CLASS
@pytest.mark.parametrize("reduction", ["none", "mean", pytest.param("sum", marks=pytest.mark.slow)])
def test_fit_and_autograd_have_one_loss_and_one_gradient(name, reduction):
    row, kind = TABLE[name], KINDS["family"]
    b = batch(kind, seed=6)
    # A coin decides about growth: both paths flip it once per instance.
    by_fit, by_autograd = (
        value_and_gradient(row.build(oracle_of(row, kind, b, p_solve=0.5), reduction=reduction), b, path=path)
        for path in ("fit", "autograd")
    )
    assert not any(tensor.requires_grad for tensor in by_fit)
    assert by_fit[1].shape == b.predicted.shape
    assert all(torch.equal(x, y) for x, y in zip(by_fit, by_autograd, strict=True))


@ONE_PER_CLASS
@BOTH_PATHS
def test_a_weight_is_a_factor_of_the_loss_of_its_instance(name, path):
    row, kind = TABLE[name], KINDS["plain"]
    b = batch(kind, seed=2)
    weight = torch.arange(len(b.predicted), dtype=torch.float64)
    plain = row.build(oracle_of(row, kind, b), reduction="none")
    values, gradient = value_and_gradient(plain, b, path=path)
    for reduction, count in (("mean", len(values)), ("sum", 1), ("none", 1)):
        loss = row.build(oracle_of(row, kind, b), reduction=reduction)
        leaf = b.predicted.clone().requires_grad_()
        if path == "fit":
            found, slope = loss.loss_and_gradient(b.predicted, b.true, b.solution, b.instance, weight)
        else:
            found = loss(leaf, b.true, b.solution, b.instance, weight=weight.tolist())
            (slope,) = torch.autograd.grad(found.sum(), leaf)
        expected = weight * values
        assert torch.allclose(found, expected if reduction == "none" else expected.sum() / count)
        assert torch.allclose(slope, weight[:, None] * gradient / count)
    with pytest.raises(InputError, match=r"weight must have shape \(\d,\), got \(2,\)"):
        loss.loss_and_gradient(b.predicted, b.true, b.solution, b.instance, weight[:2])


@ONE_PER_CLASS
@ONE_PATH
def test_reductions_agree(name, path):
    row, kind = TABLE[name], KINDS["plain"]
    b = batch(kind)
    per_instance, by_sum, by_mean = (
        value_and_gradient(row.build(oracle_of(row, kind, b), reduction=reduction), b, path=path)
        for reduction in ("none", "sum", "mean")
    )
    n = len(b.true)
    assert per_instance[0].shape == (n,)
    assert by_mean[0].shape == by_sum[0].shape == ()
    assert torch.allclose(per_instance[0].sum(), by_sum[0])
    assert torch.allclose(by_sum[0] / n, by_mean[0])
    assert torch.allclose(by_sum[1] / n, by_mean[1])
    assert torch.allclose(per_instance[1], by_sum[1])


@ONE_PER_CLASS
@pytest.mark.parametrize(
    ("kind", "path"),
    [
        ("plain", "fit"),
        ("family", "autograd"),
        pytest.param("plain", "autograd", marks=pytest.mark.slow),
        pytest.param("family", "fit", marks=pytest.mark.slow),
    ],
)
@pytest.mark.parametrize(
    "reduction", ["mean", *(pytest.param(name, marks=pytest.mark.slow) for name in ("none", "sum"))]
)
def test_an_empty_batch_has_no_loss_and_no_gradient(name, kind, path, reduction):
    row, kind = TABLE[name], KINDS[kind]
    b = batch(kind)
    instance = None if b.instance is None else b.instance[:0]
    empty = replace(b, predicted=b.predicted[:0], true=b.true[:0], solution=b.solution[:0], instance=instance)
    loss = row.build(oracle_of(row, kind, b, p_solve=1.0), reduction=reduction)
    value, gradient = value_and_gradient(loss, empty, path=path)
    assert value.tolist() == ([] if reduction == "none" else 0.0)
    assert gradient.shape == empty.predicted.shape
    assert len(value_and_gradient(loss, b, path=path)[1]) == len(b.true), "the next batch is as usual"


# --- precision ----------------------------------------------------------------------------------------------------


def in_precision(b: Batch, predicted: torch.dtype, data: torch.dtype) -> Batch:
    return replace(b, predicted=b.predicted.to(predicted), true=b.true.to(data), solution=b.solution.to(data))


@WITHOUT_NOISE
@BOTH_PATHS
def test_single_and_double_precision_agree(name, path):
    row, kind = TABLE[name], KINDS["mapped and known"]
    b = batch(kind, seed=5)
    exact = value_and_gradient(row.build(oracle_of(row, kind, b), reduction="none"), b, path=path)
    loss = row.build(oracle_of(row, kind, b, dtype=torch.float32), reduction="none")
    found = value_and_gradient(loss, in_precision(b, torch.float32, torch.float32), path=path)
    for mine, its in zip(found, exact, strict=True):
        assert mine.dtype == torch.float32
        assert torch.allclose(mine.double(), its, rtol=1e-3, atol=1e-4)


@ONE_PER_CLASS
@BOTH_PATHS
@pytest.mark.parametrize("kind", ["mapped and known", pytest.param("family", marks=pytest.mark.slow)])
@pytest.mark.parametrize(("predicted", "data"), [(torch.float32, torch.float64), (torch.float64, torch.float32)])
def test_a_loss_computes_in_the_precision_of_the_prediction_whatever_the_data_have(name, path, kind, predicted, data):
    row, kind = TABLE[name], KINDS[kind]
    b = in_precision(batch(kind, n=3, seed=5), torch.float32, torch.float32)  # numbers that both precisions hold
    mixed, plain = (
        value_and_gradient(row.build(oracle_of(row, kind, b)), in_precision(b, predicted, of), path=path)
        for of in (data, predicted)
    )
    assert mixed[0].dtype == mixed[1].dtype == predicted
    assert all(torch.equal(x, y) for x, y in zip(mixed, plain, strict=True))


@ONE_PER_CLASS
@BOTH_PATHS
def test_under_autocast_a_loss_computes_in_single_precision(name, path):
    row, kind = TABLE[name], KINDS["mapped and known"]
    b = batch(kind, seed=5)
    expected_loss, loss, half_loss = (row.build(oracle_of(row, kind, b, dtype=torch.float32)) for _ in range(3))
    with torch.autocast("cpu", dtype=torch.bfloat16):
        half = replace(b, predicted=b.predicted.float() @ torch.eye(b.predicted.shape[1]))
    single = replace(b, predicted=half.predicted.float())
    value, gradient = value_and_gradient(expected_loss, single)
    found = under_autocast(loss, single, path)
    assert torch.equal(found[0], value)
    assert torch.equal(found[1], gradient)
    found = under_autocast(half_loss, half, path)
    assert (found[0].dtype, found[1].dtype) == (torch.float32, torch.bfloat16)
    assert torch.equal(found[0], value)
    assert torch.equal(found[1], gradient.bfloat16())


def under_autocast(loss: Loss, b: Batch, path: str) -> tuple[Tensor, Tensor]:
    """Loss under autocast, with the backward pass outside of it, as torch recommends."""
    predicted = b.predicted.clone().requires_grad_()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        if path == "fit":
            return loss.loss_and_gradient(predicted, b.true, b.solution, b.instance)
        value = loss(predicted, b.true, b.solution, b.instance)
    (gradient,) = torch.autograd.grad(value, predicted)
    return value.detach(), gradient


# --- the door -----------------------------------------------------------------------------------------------------


@ONE_PER_CLASS
def test_wrong_shapes_are_named(name):
    row, kind = TABLE[name], KINDS["known"]
    b = batch(kind)
    loss = row.build(oracle_of(row, kind, b))
    with pytest.raises(InputError, match=r"predicted must have shape \(batch, .*got \(4,\)"):
        loss(b.predicted[0], b.true, b.solution)
    with pytest.raises(InputError, match=r"true must have the shape of predicted, \(6, 4\), got \(5, 4\)"):
        loss(b.predicted, b.true[:5], b.solution)
    if row.needs != "none":
        with pytest.raises(InputError, match=r"predicted must have shape \(batch, 4\), got \(6, 3\)"):
            loss(b.predicted[:, :3], b.true[:, :3], b.solution)
        with pytest.raises(InputError, match=r"solution must have shape \(6, 5\), got \(6, 4\)"):
            loss(b.predicted, b.true, b.solution[:, :4])
    with pytest.raises(InputError, match="reduction must be"):
        row.build(oracle_of(row, kind, b), reduction="max")


@ONE_PER_CLASS
@ONE_PATH
def test_labels_may_be_arrays_and_ids_a_list(name, path):
    row, kind = TABLE[name], KINDS["family"]
    b = batch(kind)
    given = replace(b, true=b.true.numpy(), solution=b.solution.tolist(), instance=b.instance.tolist())
    found, expected = (value_and_gradient(row.build(oracle_of(row, kind, b)), one, path=path) for one in (given, b))
    assert all(torch.equal(x, y) for x, y in zip(found, expected, strict=True))


@ONE_PER_CLASS
def test_what_is_no_oracle_is_refused(name):
    row, kind = TABLE[name], KINDS["plain"]
    b = batch(kind)
    for wrong, what in ((None, "none|NoneType"), (Dataset(b.true, b.true, b.solution), "Dataset"), (len, "builtin")):
        if row.needs != "none":
            with pytest.raises(InputError, match=rf"needs .*(Problem|SolutionCache), got ({what})"):
                row.build(wrong)


@ONE_PER_CLASS
def test_a_loss_can_be_pickled_and_copied(name):
    row, kind = TABLE[name], KINDS["plain"]
    b = batch(kind)
    loss = row.build(oracle_of(row, kind, b))
    others = [pickle.loads(pickle.dumps(loss)), copy.deepcopy(loss)]
    expected = value_and_gradient(loss, b)
    for other in others:
        assert all(torch.equal(x, y) for x, y in zip(value_and_gradient(other, b), expected, strict=True))


# --- caches -------------------------------------------------------------------------------------------------------


class Raiser:
    def solve(self, costs, instance=None, *, decision=False):
        raise AssertionError("the solver was called")


@CACHED
@pytest.mark.parametrize(("grow_at", "kind"), [("predicted", "plain"), ("transformed", "family")])
def test_at_p_0_the_solver_is_never_called(name, grow_at, kind):
    row, kind = TABLE[name], KINDS[kind]
    b = batch(kind)
    problem = kind.problem()
    problem.backend = Raiser()
    loss = row.build(cache(problem, b, p_solve=0.0, grow_at=grow_at))
    for _ in range(3):
        value_and_gradient(loss, b)
    assert problem.statistics.solves == 0


@pytest.mark.parametrize(
    ("name", "p_solve"),
    [
        pytest.param(name, p, marks=[pytest.mark.slow] * (name in SIMILAR))
        for name, row in TABLE.items()
        for p in ([0.0, 1.0] if row.needs in ("any", "cache") else [1.0])
    ],
)
def test_a_member_that_joins_a_family_later_has_the_loss_of_its_equal(name, p_solve):
    row, kind = TABLE[name], KINDS["family"]
    b = batch(kind, seed=9)
    oracle = oracle_of(row, kind, b, p_solve=p_solve)
    loss, before = (row.build(one, reduction="none") for one in (oracle, oracle_of(row, kind, b, p_solve=p_solve)))
    (new,) = oracle.problem.family.extend([kind.milps(1.0)[1]])
    renamed = replace(b, instance=torch.where(b.instance == 1, new, b.instance))
    found, expected = value_and_gradient(loss, renamed), value_and_gradient(before, b)
    assert all(torch.allclose(x, y, atol=row.tolerance) for x, y in zip(found, expected, strict=True))


@ONE_PER_CLASS
@pytest.mark.parametrize("kind", [pytest.param("plain", marks=pytest.mark.slow), "family"])
def test_a_state_dict_of_torch_holds_cache_coin_and_counters(name, kind):
    row, kind = TABLE[name], KINDS[kind]
    b = batch(kind, seed=8)

    def module(start: Batch) -> nn.ModuleDict:
        """A loss inside of another module, as in Lightning."""
        return nn.ModuleDict({"loss": row.build(oracle_of(row, kind, start, p_solve=0.4, seed=5))})

    here, file = module(b), io.BytesIO()
    for _ in range(2):
        value_and_gradient(here["loss"], b)
    torch.save(here.state_dict(), file)
    file.seek(0)
    there = module(replace(b, cached=b.cached[:6], cached_for=None if b.cached_for is None else b.cached_for[:6]))
    there.load_state_dict(torch.load(file, weights_only=True))
    for _ in range(3):
        mine, its = value_and_gradient(there["loss"], b), value_and_gradient(here["loss"], b)
        assert all(torch.equal(x, y) for x, y in zip(mine, its, strict=True))
    assert same(there["loss"].running_state(), here["loss"].running_state())
    if isinstance(cache := there["loss"].oracle, SolutionCache):
        other = here["loss"].oracle
        assert torch.equal(cache.solutions, other.solutions)
        assert cache.statistics.solves == other.statistics.solves > 0
        assert cache.state_dict()["coin"] == other.state_dict()["coin"]


def same(one: Any, other: Any) -> bool:
    """Whether two states are equal, tensors included."""
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    return torch.equal(one, other) if isinstance(one, Tensor) else bool(one == other)


def data(kind: Kind, n: int = 10) -> Dataset:
    """Features that explain the costs with noise, as a data set."""
    b = batch(kind, n=n, seed=7)
    features = (
        torch.cat([b.true, torch.ones(n, 1)], dim=1)
        + 0.5 * torch.sin(torch.arange(n * 5.0)).reshape(n, -1)[:, : b.true.shape[1] + 1]
    )
    return Dataset(features.float(), b.true, b.solution, b.instance)


def trained(loss: Loss, train: Dataset, epochs: int = 2) -> Tensor:
    """Change of the weights by training from small ones; from zero a factor or a relative width would move nothing."""
    model = nn.Linear(train.features.shape[1], train.costs.shape[1])
    with torch.no_grad():
        model.weight.copy_(0.3 * torch.arange(model.weight.numel()).cos().reshape(model.weight.shape))
        model.bias.fill_(0.3)
    start = torch.cat([model.weight.detach().flatten(), model.bias.detach()])
    fit(model, loss, train, epochs=epochs, lr=0.05, batch_size=4, seed=1)
    return torch.cat([model.weight.detach().flatten(), model.bias.detach()]) - start


@EXACT
@pytest.mark.parametrize(
    "kind", [*(pytest.param(name, marks=pytest.mark.slow) for name in ("plain", "mapped and known")), "family"]
)
def test_a_cache_at_p_1_transformed_trains_bit_for_bit_like_no_cache(name, kind):
    row, kind = TABLE[name], KINDS[kind]
    train = data(kind)
    without = trained(row.build(kind.problem()), train)
    memory = SolutionCache(kind.problem(), train.solutions, instance=train.instance, p_solve=1.0, grow_at="transformed")
    with_cache = trained(row.build(memory), train)
    assert torch.equal(without, with_cache)
    assert without.abs().max() > 0
    assert memory.statistics.lookups == 0
    assert row.solves is None or memory.statistics.solves == row.solves * 2 * len(train)


@ONE_PER_CLASS
@pytest.mark.slow  # tests/robustness/test_determinism.py is fast
def test_the_number_of_workers_does_not_change_the_weights(name):
    row, kind = TABLE[name], KINDS["plain"]
    train = data(kind)
    weights = []
    for workers in (1, 2):
        problem = kind.problem(workers=workers)
        oracle: Oracle = problem
        if row.needs == "cache":
            oracle = SolutionCache(problem, train.solutions, p_solve=0.5, seed=3)
        weights.append(trained(row.build(oracle), train))
    assert torch.equal(weights[0], weights[1])
    assert torch.isfinite(weights[0]).all()


# --- failures -----------------------------------------------------------------------------------------------------


class Failing:
    """Solves by the problem's own backend, but not where the first cost is above a limit."""

    def __init__(self, backend) -> None:
        self.backend = backend

    def solve(self, costs, instance=None, *, decision=False):
        solved = self.backend.solve(costs, instance)
        bad = costs[:, 0] > 50
        status = [Status.ERROR if b else Status.OPTIMAL for b in bad.tolist()]
        solution = torch.where(bad[:, None], torch.nan, solved.solution)
        return Solved(solution, status if bad.any() else None, message={})


def failing(b: Batch, on_failure: str) -> tuple[Any, Batch]:
    problem = KINDS["plain"].problem(on_failure=on_failure)
    problem.backend = Failing(problem.backend)
    predicted = b.predicted.clone()
    predicted[[1, 4], 0] = 100.0
    return problem, replace(b, predicted=predicted)


@pytest.mark.parametrize(
    "name", [name for name, row in TABLE.items() if row.needs in ("any", "cache") and not row.noise]
)
@pytest.mark.parametrize("grow_at", ["predicted", "transformed"])
def test_skipped_instances_have_no_gradient_and_the_mean_is_over_the_rest(name, grow_at):
    row = TABLE[name]
    problem, b = failing(batch(KINDS["plain"]), "skip")
    rest = torch.tensor([0, 2, 3, 5])
    memory = cache(problem, b, p_solve=1.0, grow_at=grow_at)
    value, gradient = value_and_gradient(row.build(memory), b)
    assert torch.isfinite(memory.solutions).all()
    assert memory.statistics.failed >= 2
    assert torch.isfinite(gradient).all()
    assert (gradient[[1, 4]] == 0).all()
    # The same S, without the failures: the mean over the four that are left.
    part = replace(b, predicted=b.predicted[rest], true=b.true[rest], solution=b.solution[rest])
    other = cache(KINDS["plain"].problem(), b, p_solve=1.0, grow_at=grow_at)
    value_of_rest, gradient_of_rest = value_and_gradient(row.build(other), part)
    assert torch.allclose(value, value_of_rest)
    assert torch.allclose(gradient[rest], gradient_of_rest)


@pytest.mark.parametrize("name", [name for name, row in TABLE.items() if row.needs == "any" and not row.noise])
def test_without_a_cache_failures_are_left_out_too(name):
    row = TABLE[name]
    for on_failure in ("skip", "cache"):
        problem, b = failing(batch(KINDS["plain"]), on_failure)
        rest = torch.tensor([0, 2, 3, 5])
        value, gradient = value_and_gradient(row.build(problem), b)
        part = replace(b, predicted=b.predicted[rest], true=b.true[rest], solution=b.solution[rest])
        value_of_rest, gradient_of_rest = value_and_gradient(row.build(KINDS["plain"].problem()), part)
        assert torch.allclose(value, value_of_rest)
        assert torch.allclose(gradient[rest], gradient_of_rest)
        assert (gradient[[1, 4]] == 0).all()


@CACHED
def test_failures_fall_back_on_the_cache_where_the_problem_says_so(name):
    row = TABLE[name]
    problem, b = failing(batch(KINDS["plain"]), "cache")
    memory = cache(problem, b, p_solve=1.0, grow_at="predicted")
    value, gradient = value_and_gradient(row.build(memory, reduction="none"), b)
    assert torch.isfinite(value).all()
    assert torch.isfinite(gradient).all()
    assert memory.statistics.failed == 2
    # S is grown now: with no solver at all the same losses come out of it.
    frozen = cache(KINDS["plain"].problem(), replace(b, cached=memory.solutions), p_solve=0.0)
    again, slope = value_and_gradient(row.build(frozen, reduction="none"), b)
    assert torch.allclose(value, again)
    assert torch.allclose(gradient, slope)


@CACHED
def test_failures_are_raised_by_default_and_name_the_row(name):
    problem, b = failing(batch(KINDS["plain"]), "raise")
    with pytest.raises(SolveError, match="instance 1 of the batch"):
        TABLE[name].build(cache(problem, b, p_solve=1.0, grow_at="predicted"))(b.predicted, b.true, b.solution)
