"""Everything on the device of the costs: the same answers as on the CPU. Skips where there is no GPU."""

from __future__ import annotations

import copy
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
import torch
from torch import nn

from regretless import MAP, MILP, NCE, Dataset, Problem, SolutionCache, SPOPlus, auto, evaluate, fit
from regretless import train as train_method
from regretless.cache import SolutionStore
from regretless.cache import fp16_lookup as half
from regretless.errors import SolveError
from regretless.linear_programs import interior_point
from regretless.losses import QPTL, Blackbox, ExpectedRegret, Interior
from regretless.problems.knapsack.oracle import knapsack_problem
from regretless.problems.knapsack.synthetic import knapsack_data, standardized
from regretless.problems.settings import shared_linear
from regretless.search.candidates import Candidate
from regretless.training import methods, two_stage
from regretless.training.models import make_model

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU here")


def data(days: int = 60):
    features, values, weights = knapsack_data(days)
    problem = knapsack_problem(weights, 120)
    return problem, Dataset.solve(problem, standardized(features, days), values)


def test_knapsack_oracle_agrees_with_the_cpu():
    problem, train = data()
    costs = problem.to_minimization(train.costs)
    there, here = problem(costs.cuda()).cpu(), problem(costs)
    torch.testing.assert_close((there * costs).sum(1), (here * costs).sum(1))


@pytest.mark.parametrize("make", [NCE, MAP, SPOPlus, ExpectedRegret])
def test_cached_losses_agree_with_the_cpu(make):
    problem, train = data()
    true = train.costs.float()
    predicted = true + 20 * torch.randn(true.shape, generator=torch.Generator().manual_seed(0))
    found = {}
    for device in ("cpu", "cuda"):
        loss = make(SolutionCache(problem, train.solutions, p_solve=0.2))
        p = predicted.detach().clone().to(device).requires_grad_()
        value = loss(p, true.to(device), train.solutions.float().to(device))
        value.backward()
        found[device] = (value.detach().cpu(), p.grad.cpu())
    torch.testing.assert_close(found["cuda"], found["cpu"], rtol=1e-4, atol=1e-3)


@pytest.mark.parametrize("make", [MAP, SPOPlus, Blackbox])
def test_captured_steps_are_the_steps_of_the_cpu(make):
    """S outgrows its columns on the way, and is captured again."""
    problem, train = data(120)
    true, best = train.costs.float(), train.solutions.float()
    losses = {device: make(SolutionCache(problem, best[:10], p_solve=0.2)) for device in ("cpu", "cuda")}
    generator = torch.Generator().manual_seed(0)
    for _ in range(40):
        predicted = true + 20 * torch.randn(true.shape, generator=generator)
        here = losses["cpu"].loss_and_gradient(predicted, true, best)
        there = losses["cuda"].loss_and_gradient(predicted.cuda(), true.cuda(), best.cuda())
        torch.testing.assert_close([one.cpu() for one in there], list(here), rtol=1e-4, atol=1e-3)
    assert losses["cuda"]._graphs._graphs
    counted = [vars(loss.oracle.statistics) | {"seconds": 0.0} for loss in losses.values()]
    assert counted[0] == counted[1]


def test_a_captured_step_refuses_a_wrong_label():
    problem, train = data()
    true, best = train.costs.float().cuda(), train.solutions.float().cuda()
    loss = MAP(SolutionCache(problem, best.cpu(), p_solve=0.0), cost="c_hat")
    for _ in range(4):
        loss.loss_and_gradient(true, true, best)
    assert loss._graphs._graphs
    wrong = best.clone()
    wrong[5] = 0.0
    with pytest.raises(SolveError, match="instance 5 of the batch"):
        loss.loss_and_gradient(true, true, wrong)
    loss.loss_and_gradient(true, true, best)


@pytest.mark.parametrize("make", [QPTL, Interior])
def test_relaxations_agree_with_the_cpu(make):
    problem, train = data(12)
    found = {}
    for device in ("cpu", "cuda"):
        p = (train.costs.float() + 10.0).to(device).requires_grad_()
        make(problem)(p, train.costs.float().to(device), train.solutions.float().to(device)).backward()
        found[device] = p.grad.cpu()
    torch.testing.assert_close(found["cuda"], found["cpu"], rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("batch", [1, 5, 64])
@pytest.mark.parametrize("method", ["interior", "first-order"])
def test_linear_programs_agree_with_the_cpu(method, batch, monkeypatch):
    """Small batches run from CUDA graphs, large ones shrink: here 64 programs are large."""
    monkeypatch.setattr(interior_point, "LAUNCH_BOUND", 1000)
    generator = torch.Generator().manual_seed(0)
    rows = torch.rand(6, 30, generator=generator).numpy()
    problem = Problem(MILP(rows, row_upper=4.0, integer=False), engine="batched-lp", method=method)
    costs = -torch.rand(batch, 30, generator=generator, dtype=torch.float64)
    for _ in range(2):  # the second call replays
        there = problem(costs.cuda())
        assert there.is_cuda
        torch.testing.assert_close((there.cpu() * costs).sum(1), (problem(costs) * costs).sum(1), rtol=1e-6, atol=1e-6)


def test_threads_that_share_a_batched_engine_get_their_own_solutions():
    generator = torch.Generator().manual_seed(1)
    rows = torch.rand(8, 60, generator=generator).numpy()
    problem = Problem(MILP(rows, row_upper=6.0, integer=False), engine="batched-lp")
    costs = [-torch.rand(4, 60, generator=generator, dtype=torch.float64).cuda() for _ in range(40)]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(problem, costs))
    for there, alone in zip(found, map(problem, costs), strict=True):
        torch.testing.assert_close(there, alone, rtol=1e-6, atol=1e-6)


def test_costs_of_the_cpu_can_be_solved_on_the_gpu():
    program = MILP([[1.0, -1.0]], row_upper=1.0, upper=torch.inf, integer=False)
    found = Problem(program, engine="batched-lp", device="cuda").solve([[-1.0, 2.0], [-1.0, -1.0]])
    assert [str(status) for status in found.status] == ["optimal", "unbounded"]
    assert found.solution[0].tolist() == [1.0, 0.0]


def test_training_runs_on_the_device_of_the_model():
    problem, train = data()
    model = shared_linear(8)(0).cuda()
    loss = MAP(SolutionCache(problem, train.solutions))
    history = fit(model, loss, train, epochs=2, progress=False).history
    assert history.total("lookups") == 2 * len(train)
    assert loss.oracle.store.rows.is_cuda
    assert evaluate(model, train, problem).regret >= 0


def test_dropout_follows_the_seed_and_resumes_exactly(tmp_path):
    problem, train = data(12)
    start = nn.Sequential(nn.Dropout(0.5), shared_linear(8)(0)).cuda()

    def run(epochs, checkpoint=None):
        model = copy.deepcopy(start)
        fit(model, MAP(SolutionCache(problem, train.solutions)), train, epochs=epochs, checkpoint=checkpoint)
        return torch.cat([parameter.detach().flatten() for parameter in model.parameters()])

    first = run(3)
    torch.rand(1, device="cuda")
    before = torch.cuda.get_rng_state()
    assert torch.equal(run(3), first)
    run(1, tmp_path / "run")
    assert torch.equal(run(3, tmp_path / "run"), first)
    assert torch.equal(torch.cuda.get_rng_state(), before)


@pytest.mark.parametrize(
    ("kind", "terms"),
    [("linear", ()), ("linear", ("products",)), ("linear", ("products", "splines", "intercepts")), ("mlp", ())],
)
def test_two_stage_and_a_search_run_on_the_device_of_the_model(kind, terms, monkeypatch):
    monkeypatch.setattr(two_stage, "EPOCHS", 3)
    problem, train = data()
    flat = train if "intercepts" in terms else Dataset(train.features[:, 0], train.costs, train.solutions)
    candidates = [Candidate("map-dc", 0.01), Candidate("soft", 0.01), Candidate("spo-cache", 0.03, anchor=0.3)]
    candidates += [replace(one, terms=terms) for one in candidates] if terms else []
    found = {}
    for device in ("cpu", "cuda"):
        model = make_model(flat.features, 48, costs=flat.costs, kind=kind, hidden=4).to(device)
        search = auto(problem, flat, model, candidates=candidates, epochs=2, growth=0.0, progress=False)
        assert {parameter.device.type for parameter in search.model.parameters()} == {device}
        found[device] = (search.model, search.two_stage)
    for there, here in zip(found["cuda"], found["cpu"], strict=True):
        here, there = (evaluate(model, flat, problem).regret for model in (here, there))
        assert there == pytest.approx(here, rel=0.05)  # of many ties, rounding decides


@pytest.mark.parametrize("method", [name for name in methods.names() if name not in ("auto", "spo-relax", "direct")])
def test_every_method_trains_on_the_device_of_the_model(method):
    problem, train = data(12)
    found = train_method(problem, train, shared_linear(8)(0).cuda(), method=method, epochs=1, progress=False)
    assert next(found.model.parameters()).is_cuda
    assert evaluate(found.model, train, problem).regret >= 0


def test_large_look_up_in_half_precision_loses_nothing(monkeypatch):
    monkeypatch.setattr(half, "SMALLEST", 1000)
    generator = torch.Generator("cuda").manual_seed(0)
    store = SolutionStore(300)
    store.to(torch.device("cuda"))
    store.add((torch.rand(200_000, 300, generator=generator, device="cuda") < 0.3).float())
    costs = torch.randn(64, 300, generator=generator, device="cuda")
    found = store.take(store.look_up(costs)).double()
    assert float(store._lookup._half.look_up(costs, len(store))[1].float().mean()) > 0.9
    best = (costs.double() @ store.rows.double().T).min(dim=1).values
    torch.testing.assert_close((costs.double() * found).sum(1), best, rtol=1e-6, atol=1e-5)


def test_eviction_keeps_the_mirror_right(monkeypatch):
    monkeypatch.setattr(half, "SMALLEST", 1)
    store = SolutionStore(4, capacity=50, evict="oldest")
    store.to(torch.device("cuda"))
    for k in range(10):
        store.add(torch.randint(0, 3, (20, 4), device="cuda").float() + k)
        store.look_up(torch.randn(2, 4, device="cuda"))
    torch.testing.assert_close(store._lookup._half._rows[: store.size, :4].float(), store.rows)


def test_staged_solutions_are_found_at_once_and_counted_later():
    generator = torch.Generator().manual_seed(0)
    there, here, new = SolutionStore(5), SolutionStore(5), 0
    there.to(torch.device("cuda"))
    for _ in range(60):
        rows = torch.randint(0, 3, (50, 5), generator=generator).double()
        there.stage(rows.cuda())
        new += here.add(rows)
        costs = torch.randn(7, 5, generator=generator)
        assert torch.equal(there.take(there.look_up(costs.cuda())).cpu(), here.take(here.look_up(costs)))
    assert there.columns_searched > len(here)  # repeated ones are still there
    assert there.collect() == (new, 60 * 50 - new)
    assert torch.equal(there.rows.cpu(), here.rows)
