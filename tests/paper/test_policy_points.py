from __future__ import annotations

from pathlib import Path

import pytest

from regretless.paper.grid import load_grid
from regretless.paper.policy_points import has_policies, policy_points
from regretless.runs.results import read_results

from .folders import finished

GRID = load_grid("gaps")


def test_the_grid_runs_coin_and_gaps_on_all_nine_problems_with_five_seeds() -> None:
    assert has_policies(GRID)
    assert not has_policies(load_grid("knapsack"))
    specs = GRID.specs(seeds=10)
    assert len({spec.problem for spec in specs}) == 9
    kinds = {(spec.settings.get("policy", "coin"), spec.p_solve) for spec in specs}
    assert kinds == {(policy, p) for policy in ("coin", "largest-gap") for p in (0.001, 0.01, 0.05, 0.2, 1.0)}
    assert len(specs) == 9 * 10 * 5 + 3 * 3 * 5, "five seeds, and ten of what the policies are judged by"


def test_points_are_means_over_the_seeds_in_the_order_of_what_was_solved(tmp_path: Path) -> None:
    for seed in (0, 1):
        for p_solve, solves in ((1.0, 1000), (0.01, 10)):
            spec = GRID.spec("energy-1", "map-dc", seed=seed, settings={"p_solve": p_solve})
            finished(tmp_path, spec, regret=100.0 + seed, solves=solves, lookups=1000)
    found = read_results(tmp_path)
    (first, last) = policy_points(GRID, "energy-1", found)["coin"]
    assert first == pytest.approx((0.01, 100.5, 0.5**0.5, 2, 0.01))
    assert (last.share, last.p_solve) == (1.0, 1.0)
    assert policy_points(GRID, "energy-2", found) == {}
