"""Beyond the paper: regret against the share of solves, for the coin and for the gap policies."""

from __future__ import annotations

import math
from collections.abc import Sequence

from regretless.experiments.drawings import BLUE, ORANGE, Drawing
from regretless.experiments.grid import Grid
from regretless.experiments.results import Result, mean_and_deviation, select
from regretless.optional import need

LOOKS = {"coin": (BLUE, "o"), "largest-gap": (ORANGE, "s")}
LEAST = 1e-4  # a share of nothing has no place on a logarithmic axis


def has_policies(grid: Grid) -> bool:
    """Whether a grid compares policies."""
    return any("policy" in sweep for sweep in grid.sweeps)


def regret_against_solves(grid: Grid, problem: str, found: Sequence[Result]) -> Drawing | None:
    """Draw the test regret of each policy against the share of instances that it solved."""
    figures = need("matplotlib.figure", pip="regretless[figures]", why="draw figures")
    figure = figures.Figure(figsize=(6.4, 3.8), layout="constrained")
    axis, hover = figure.subplots(), dict[str, str]()
    for policy, (color, marker) in LOOKS.items():
        points = sorted(_points(grid, problem, policy, found))
        if not points:
            continue
        shares, regrets = [max(point[0], LEAST) for point in points], [point[1] for point in points]
        spread = [0.0 if math.isnan(point[2]) else point[2] for point in points]
        axis.errorbar(shares, regrets, yerr=spread, color=color, label=policy, capsize=2, linewidth=1)
        for k, (share, regret, deviation, seeds) in enumerate(points):
            (point,) = axis.plot([max(share, LEAST)], [regret], marker=marker, color=color, markersize=5)
            name = f"solves-{problem}-{policy}-{k}"
            point.set_gid(name)
            tail = "" if math.isnan(deviation) else f" ± {deviation:.2g}"
            hover[name] = f"{policy}: regret {regret:.4g}{tail} with {share:.2%} solved, {seeds} seeds"
    if not any("largest-gap" in name for name in hover):  # the coin alone is no comparison
        return None
    axis.set_xscale("log")
    axis.set_xlabel("share of instances that were solved")
    axis.set_ylabel("test regret")
    axis.legend(fontsize=8)
    return Drawing(
        f"solves-{problem}",
        f"{problem}: regret against the share of solves",
        "Test regret of map-dc after training against the share of instances that were solved exactly (mean and "
        "deviation over the seeds). The coin is the paper's; largest-gap spends the same budget where the best cached "
        "solution and a Lagrangian bound are furthest apart, and solves no instance whose gap is closed.",
        "Beyond the paper",
        figure,
        hover,
    )


def _points(grid: Grid, problem: str, policy: str, found: Sequence[Result]) -> list[tuple[float, float, float, int]]:
    """(share solved, mean regret, deviation, seeds) of every cell of a policy that has runs."""
    method = next(iter(grid.methods))
    words = {} if policy == "coin" else {"policy": policy}
    shares = {p for sweep in grid.sweeps if sweep.get("policy", "coin") == policy for p in sweep["p_solve"]}
    if policy == "coin":
        shares.add(float(grid.methods[method]["p_solve"]))
    points = []
    for p_solve in shares:
        spec = grid.spec(problem, method, settings={"p_solve": p_solve} | words)
        runs = max((select(found, spec, init=init) for init in ("random", "shared")), key=len)
        if runs:
            solved = sum(run.figures["solves"] for run in runs) / max(1, sum(run.figures["lookups"] for run in runs))
            points.append((solved, *mean_and_deviation(runs, "regret"), len(runs)))
    return points
