"""Stacked runs on a GPU: thousands of training runs over one shared cache against one."""

from __future__ import annotations

import time
from itertools import pairwise

import torch
from torch import nn

from measure import line
from regretless import MAP, Dataset, SolutionCache
from regretless.problems.knapsack.oracle import knapsack_problem
from regretless.problems.knapsack.synthetic import knapsack_data, standardized
from regretless.problems.settings import shared_linear
from regretless.training.stacked_fit import fit_stacked
from regretless.training.stacked_models import Setting

DAYS, EPOCHS, CAPACITY, FEATURES, SLOTS = 552, 20, 120, 8, 48


def searches_on_gpu() -> bool:
    """Times of one run and of many, linear models and perceptrons."""
    features, values, weights = knapsack_data(DAYS)
    problem = knapsack_problem(weights, CAPACITY)
    train = Dataset.solve(problem, standardized(features, DAYS), values)
    good = True
    for name, model, many, at_most in (
        ("linear models", shared_linear(FEATURES)(0), 4000, 3.0),
        ("perceptrons with two layers of 64", perceptron(), 1000, 10.0),
    ):
        seconds(problem, train, model, 1, epochs=2)  # warm-up
        one, all_of_them = (min(seconds(problem, train, model, runs) for _ in range(3)) for runs in (1, many))
        print(f"map-dc, {EPOCHS} epochs of {DAYS} days: one run {one:.2f} s, {many:,} {name} {all_of_them:.2f} s")
        good &= line(f"{many:,} {name} over one", all_of_them / one, at_most=at_most)
    return good


def perceptron() -> nn.Module:
    """Two hidden layers of 64, from all features of a day to its 48 values."""
    torch.manual_seed(0)
    sizes = (FEATURES * SLOTS, 64, 64, SLOTS)
    layers = [layer for a, b in pairwise(sizes) for layer in (nn.Linear(a, b), nn.ReLU())]
    return nn.Sequential(nn.Flatten(), *layers[:-1])


def seconds(problem, train: Dataset, model: nn.Module, runs: int, epochs: int = EPOCHS) -> float:
    """Wall-clock seconds of a stack whose runs share a cache with the expected solves of one run at 5 %."""
    cache = SolutionCache(problem, train.solutions, p_solve=0.05 / runs)
    grid = [Setting(0, float(rate)) for rate in torch.logspace(-3.5, -1.5, runs)]
    losses = [MAP(cache, reduction="none")]
    torch.cuda.synchronize()
    start = time.perf_counter()
    fit_stacked([model.cuda()], losses, grid, train, [torch.arange(len(train))], epochs=epochs, progress=False)
    torch.cuda.synchronize()
    return time.perf_counter() - start
