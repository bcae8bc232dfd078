"""The training step: cached losses against a plain mean squared error and against their bare operations, the fast step
for linear models, formulas on arrays, the look-up.

python benchmarks/step.py
"""

from __future__ import annotations

import sys

import numpy as np
import torch

from measure import interleaved, line
from regretless import Dataset, LeanAdam, SPOPlus, TwoStage, fit, make_loss
from regretless.cache import SolutionStore
from regretless.problems import BenchmarkProblem, load
from regretless.tensors import with_gradient

EPOCHS, BATCH = 5, 24
WIDTH, BATCHES, SIZES = 48, (24, 240, 1536), (700, 5_000, 50_000)


def torch_loop(model: torch.nn.Module, train: Dataset) -> None:
    """The training loop of torch's tutorials in its fastest form: data in memory, fused optimizer, squared error."""
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1, fused=True)
    features, costs = train.features.to(torch.float32), train.costs.to(torch.float32)
    for _ in range(EPOCHS):
        order = torch.randperm(len(train))
        for x, c in zip(features[order].split(BATCH), costs[order].split(BATCH), strict=True):
            optimizer.zero_grad()
            torch.nn.functional.mse_loss(model(x), c).backward()
            optimizer.step()


def cached_epochs(loaded: BenchmarkProblem) -> bool:
    """Epochs of cached losses against plain ones and against each other."""
    losses = {"mse": TwoStage()}
    for method in ("nce-c", "map-dc", "spo-cache"):
        losses[method] = make_loss(method, loaded.problem, loaded.train, p_solve=0.0)
    for method in ("map-dc", "soft"):
        losses[f"{method}, 5 %"] = make_loss(method, loaded.problem, loaded.train, p_solve=0.05)
    models = {name: loaded.model(0) for name in losses}

    def epochs(name: str) -> None:
        fit(models[name], losses[name], loaded.train, epochs=EPOCHS, batch_size=BATCH, progress=False)

    jobs = {name: lambda name=name: epochs(name) for name in losses}
    loop = loaded.model(0)
    seconds = interleaved(jobs | {"torch": lambda: torch_loop(loop, loaded.train)}, repeats=9)
    here, there = (1e3 * seconds[name] / EPOCHS for name in ("mse", "torch"))
    print(f"plain epoch: {here:.1f} ms of CPU in fit, {there:.1f} ms in a torch loop")
    line("plain epoch in a torch loop over one in fit", seconds["torch"] / seconds["mse"])
    line("plain epoch in a torch loop over a cached MAP epoch in fit", seconds["torch"] / seconds["map-dc"])
    good = line("cached MAP epoch without solves over a plain one", seconds["map-dc"] / seconds["mse"], at_most=1.6)
    good &= line("cached NCE epoch without solves over a plain one", seconds["nce-c"] / seconds["mse"], at_most=1.2)
    line("cached SPO+ epoch without solves over a plain one", seconds["spo-cache"] / seconds["mse"])
    ratio = seconds["soft, 5 %"] / seconds["map-dc, 5 %"]
    return good & line("cached soft epoch over a cached MAP epoch, 5 % solved", ratio, at_most=1.5)


def own_loop_over_bare_operations(loaded: BenchmarkProblem) -> bool:
    """A loop of one's own with cached SPO+ against the same loop with nothing but the operations of its formula.

    This bounds what any loss on torch can reach: the loop without a loss, then with the transformed cost, the product
    with S, the arg-min, the chosen members, value and gradient, without a check, a coin or a solve.

    The same loop with ``LeanAdam`` shows what that saves.
    """
    train = loaded.train
    loss = make_loss("spo-cache", loaded.problem, loaded.train, p_solve=0.0)
    solving = make_loss("spo-cache", loaded.problem, loaded.train, p_solve=0.05, grow_at="transformed")
    columns = loss.oracle.store.columns.clone()

    @torch.no_grad()
    def bare(predicted, true, solution):
        predicted, true, solution = -predicted.detach(), -true.to(predicted.dtype), solution.to(predicted.dtype)
        c = predicted + predicted - true
        best = torch.from_numpy(torch.mm(c, columns).numpy().argmin(axis=1))
        lead = solution - columns.T.index_select(0, best)
        return (c * lead).sum(1).mean(), (lead + lead) * (-1 / len(c))

    def bare_loss(predicted, true, solution):
        return with_gradient(predicted, *bare(predicted, true, solution))

    losses = {
        "no loss": lambda predicted, true, solution: (predicted * true).sum(),
        "bare operations": bare_loss,
        "SPO+ without solves": loss,
        "SPO+, 5 % solved": solving,
    }
    jobs = {}
    lean = "SPO+, 5 % solved, LeanAdam"
    losses[lean] = make_loss("spo-cache", loaded.problem, loaded.train, p_solve=0.05, grow_at="transformed")
    for name, one in losses.items():
        model = loaded.model(0)
        parameters = model.parameters()
        optimizer = LeanAdam(parameters, 0.1) if name == lean else torch.optim.Adam(parameters, 0.1, fused=True)

        def epoch(model=model, optimizer=optimizer, one=one) -> None:
            for batch in torch.randperm(len(train)).split(BATCH):
                value = one(model(train.features[batch]), train.costs[batch], train.solutions[batch])
                optimizer.zero_grad()
                value.backward()
                optimizer.step()

        jobs[name] = epoch
    seconds = interleaved(jobs, repeats=25)
    print("own loop, ms per epoch: " + ", ".join(f"{name} {1e3 * of:.1f}" for name, of in seconds.items()))
    for name in ("SPO+ without solves", "SPO+, 5 % solved"):
        line(f"own loop with {name} over one with its bare operations", seconds[name] / seconds["bare operations"])
    ratio = seconds["SPO+, 5 % solved"] / seconds[lean]
    return line("own loop with torch's fused Adam over one with LeanAdam, 5 % solved", ratio, at_least=1.1)


def perturbed_epoch() -> bool:
    """An epoch of cached perturbed Fenchel-Young, 10 perturbations per instance, against one of cached MAP."""
    loaded = load("shortest-path", train=1000, test=1)
    jobs = {}
    for method, options in (("map-dc", {}), ("pfy-cache", {"samples": 10})):
        model, loss = loaded.model(0), make_loss(method, loaded.problem, loaded.train, p_solve=0.05, **options)

        def epoch(model=model, loss=loss) -> None:
            fit(model, loss, loaded.train, epochs=1, batch_size=loaded.batch_size, progress=False)

        jobs[method] = epoch
    seconds = interleaved(jobs, repeats=9)
    ratio = seconds["pfy-cache"] / seconds["map-dc"]
    return line("cached PFY epoch (K = 10) over a cached MAP epoch, shortest path, 5 % solved", ratio, at_most=3.0)


def fast_step_pays(loaded: BenchmarkProblem) -> bool:
    """A cached MAP epoch, 5 % solved, with the fast step of ``training/fast_linear.py``, and with a graph."""
    optimizers = {
        "fast": lambda parameters: None,  # what fit takes by itself
        "graph": lambda parameters: None,
        "graph, torch's Adam": lambda parameters: torch.optim.Adam(parameters, lr=0.1),
        "graph, torch's fused Adam": lambda parameters: torch.optim.Adam(parameters, lr=0.1, fused=True),
    }
    jobs = {}
    for name, make in optimizers.items():
        model, loss = loaded.model(0), make_loss("map-dc", loaded.problem, loaded.train, p_solve=0.05)
        if name == "graph":
            model.register_forward_hook(lambda *_: None)  # a model with a hook goes through autograd

        def epochs(model=model, loss=loss, make=make) -> None:
            fit(
                model, loss, loaded.train, epochs=EPOCHS, batch_size=BATCH, progress=False,
                optimizer=make(model.parameters()),
            )  # fmt: skip

        jobs[name] = epochs
    seconds = interleaved(jobs, repeats=15)
    times = ", ".join(f"{name} {1e3 * of / EPOCHS:.1f} ms" for name, of in seconds.items())
    print(f"cached MAP epoch, 5 % solved: {times}")
    for name in list(jobs)[2:]:
        line(f"epoch with a {name} over one with the fast step", seconds[name] / seconds["fast"])
    ratio = seconds["graph"] / seconds["fast"]
    return line("epoch with a graph and LeanAdam over one with the fast step, 5 % solved", ratio, at_least=1.25)


class OnTensors(SPOPlus):
    """SPO+ computed with tensors, as the formula of every subclass is."""


def arrays_pay(loaded: BenchmarkProblem) -> bool:
    """A cached SPO+ epoch, 5 % solved, whose formula is computed with NumPy's arrays, and with tensors."""
    jobs = {}
    for name, kind in (("arrays", SPOPlus), ("tensors", OnTensors)):
        loss = make_loss("spo-cache", loaded.problem, loaded.train, p_solve=0.05, grow_at="transformed")
        model, loss = loaded.model(0), kind(loss.oracle)

        def epochs(model=model, loss=loss) -> None:
            fit(model, loss, loaded.train, epochs=EPOCHS, batch_size=BATCH, progress=False)

        jobs[name] = epochs
    seconds = interleaved(jobs, repeats=25)
    ratio = seconds["tensors"] / seconds["arrays"]
    return line("epoch with formulas on tensors over one with arrays, SPO+, 5 % solved", ratio, at_least=1.1)


def look_up_is_a_product() -> bool:
    """Look-ups (product and arg-min) over the faster of the bare products of NumPy and of torch."""
    generator = torch.Generator().manual_seed(0)
    ratios = []
    print("    |S|  batch   look-up (us)   numpy's product   torch's product   ratio")
    for size in SIZES:
        rows = (torch.rand(size, WIDTH, generator=generator) < 0.5).float()
        store = SolutionStore(WIDTH)
        store.add(rows)
        by_row, by_column = store.rows.contiguous().T, store.columns.contiguous()
        for batch in BATCHES:
            costs = torch.randn(batch, WIDTH, generator=generator)
            products = {
                "numpy, rows": lambda a=costs, b=by_row: np.matmul(a.numpy(), b.numpy()),
                "numpy, columns": lambda a=costs, b=by_column: np.matmul(a.numpy(), b.numpy()),
                "torch, rows": lambda a=costs, b=by_row: a @ b,
                "torch, columns": lambda a=costs, b=by_column: a @ b,
            }
            calls = max(1, 20_000_000 // (size * batch))
            seconds = interleaved({"look-up": lambda s=store, c=costs: s.look_up(c)} | products, repeats=9, calls=calls)
            bare = {name: min(s for key, s in seconds.items() if key.startswith(name)) for name in ("numpy", "torch")}
            ratios.append(seconds["look-up"] / min(bare.values()))
            times = (seconds["look-up"], bare["numpy"], bare["torch"])
            print(f"{size:>7,} {batch:>6} {1e6 * times[0]:>14.0f} {1e6 * times[1]:>17.0f} {1e6 * times[2]:>17.0f} "
                  f"{ratios[-1]:>7.2f}", flush=True)  # fmt: skip
    return line("look-up over the faster bare product, worst of the table", max(ratios), at_most=1.3)


def main() -> int:
    loaded = load("synthetic-knapsack-120")
    results = [
        own_loop_over_bare_operations(loaded),
        cached_epochs(loaded),
        perturbed_epoch(),
        fast_step_pays(loaded),
        arrays_pay(loaded),
        look_up_is_a_product(),
    ]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
