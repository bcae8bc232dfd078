"""
A battery that trades every day
===============================

A battery buys and sells power by predicted prices, with a capacity that changes daily. Two years of half-hourly prices
come from a formula. The model is written in Pyomo. After training, sixty days are decided one by one, each with a
capacity that did not occur in training, and logged. An audit compares them with the best decisions in hindsight and
with those of two-stage. Then the run is retrained with the days that have passed. docs/production.md does the same in a
shell. Run it with::

    pip install pandas pyomo
    python examples/battery_every_day.py [--days 730] [--new 60] [--files FOLDER]
"""

import argparse
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
import pyomo.environ as pyo
from matplotlib import pyplot as plt

import regretless as rl
from regretless.deciding import Audit
from regretless.runs import Spec, run
from regretless.runs.retrain import go_on, retrain_spec

HALF_HOURS = range(48)


def battery() -> pyo.ConcreteModel:
    """Buy low and sell high: the cost of ``net[t]`` is the price of half-hour t."""
    m = pyo.ConcreteModel()
    m.net = pyo.Var(HALF_HOURS)
    m.charge = pyo.Var(HALF_HOURS, bounds=(0, 1))
    m.discharge = pyo.Var(HALF_HOURS, bounds=(0, 1))
    m.level = pyo.Var(HALF_HOURS, domain=pyo.NonNegativeReals)
    m.capacity = pyo.Var(bounds=(0, 4))
    m.balance = pyo.Constraint(HALF_HOURS, rule=lambda m, t: m.net[t] == m.charge[t] - m.discharge[t])
    m.store = pyo.Constraint(
        HALF_HOURS, rule=lambda m, t: m.level[t] == (m.level[t - 1] if t else 0) + 0.85 * m.charge[t] - m.discharge[t]
    )
    m.room = pyo.Constraint(HALF_HOURS, rule=lambda m, t: m.level[t] <= m.capacity)
    m.cost = pyo.Objective(expr=sum(m.net[t] for t in HALF_HOURS))
    return m


def write_files(folder: Path, days: int, new: int) -> None:
    """The model, and tables of past and new days: features, prices, capacities."""
    generator = np.random.default_rng(0)
    day = pd.date_range("2023-01-01", periods=days + new)
    wind = generator.gamma(4.0, 2.0, len(day))
    zone = generator.choice(["calm", "storm", "front"], len(day), p=[0.6, 0.3, 0.1])
    hour, season = np.arange(48) / 2, np.cos(2 * np.pi * day.day_of_year.to_numpy() / 365.25)
    evening = ((8 + 6 * season) * np.exp(1 - wind / 8))[:, None] * np.exp(-((hour - 18.5) ** 2) / 8)
    noon = np.where(day.day_of_week < 5, 6.0, -3.0)[:, None] * np.exp(-((hour - 12) ** 2) / 10)
    night = -(0.5 * wind * np.where(zone == "storm", 1.5, 1.0))[:, None] * np.exp(-((hour - 4) ** 2) / 18)
    price = 40 + 5 * season[:, None] + evening + noon + night + generator.normal(0, 1.5, (len(day), 48))
    x = pd.DataFrame({"day": day.date, "wind": wind.round(2), "weather": zone})
    c = pd.DataFrame(price.round(3), columns=[f"net({t})" for t in HALF_HOURS]).assign(day=day.date)
    # Past capacities are round; the new ones were never seen.
    capacity = np.append(generator.integers(2, 7, days), generator.uniform(1, 8, new).round(2))
    r = pd.DataFrame({"day": day.date, "upper:capacity": capacity})
    for name, table in (("features", x), ("prices", c), ("capacities", r)):
        table[:days].to_csv(folder / f"past_{name}.csv", index=False)
        table[days:].to_csv(folder / f"new_{name}.csv", index=False)
        for i in range(new):
            table[days + i : days + i + 1].to_csv(folder / f"day{i}_{name}.csv", index=False)
    battery().write(str(folder / "battery.mps"), io_options={"symbolic_solver_labels": True})


def main(folder: Path, days: int = 730, new: int = 60, epochs: int = 0) -> tuple[Audit, dict[str, object]]:
    """Train, decide day by day, audit, retrain; return the audit and the figures of the new run."""
    write_files(folder, days, new)
    tables = {"features": "features", "costs": "prices", "constraints": "capacities"}
    past, later = ({role: f"{folder}/{when}_{name}.csv" for role, name in tables.items()} for when in ("past", "new"))
    options = past | {"id": "day", "cost_variables": ["net*"], "test": 0.1}
    run(Spec(f"{folder}/battery.mps", "auto", epochs=epochs, options=options), folder / "run", progress=False)

    features, limits = pd.read_csv(later["features"]), pd.read_csv(later["constraints"])
    with rl.LoggedDecider(folder / "run", folder / "decisions.db") as decider:
        for day, capacity in zip(features.to_dict("records"), limits["upper:capacity"], strict=True):
            decider.decide(day["day"], day, {"upper:capacity": capacity}, deadline=1.0)

    # The prices of these days are known now: what were the decisions worth?
    audit = rl.audit_decisions(folder / "decisions.db", later["costs"], progress=False)
    totals = audit.totals()
    print(f"{new} days with capacities never seen: profit {-totals['objective']:.1f}, "
          f"at most {-totals['best']:.1f} with known prices")  # fmt: skip
    print(f"regret {totals['regret']:.1f}, that of two-stage {totals['two_stage_regret']:.1f}")
    print(audit.regret_drift.sentence)
    figures = go_on(retrain_spec(folder / "run", later), folder / "later", progress=False)
    print(f"retrained on {days + new} days: {figures['ledger']['labels']['solves']} new labels")

    plt.figure(figsize=(6, 2.6), layout="constrained")
    for name, regrets in {
        "decided": [day.regret for day in audit.known],
        "two-stage": [day.two_stage_regret for day in audit.known],
    }.items():
        plt.plot(np.cumsum(regrets), label=name)
    plt.xlabel("day")
    plt.ylabel("sum of regrets")
    plt.legend(frameon=False)
    return audit, figures


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--days", type=int, default=730)
    parser.add_argument("--new", type=int, default=60)
    parser.add_argument("--files", type=Path, help="only write the files, for the shell")
    given = parser.parse_args()
    if given.files:
        given.files.mkdir(parents=True, exist_ok=True)
        write_files(given.files, given.days, given.new)
    else:
        main(Path(tempfile.mkdtemp()), given.days, given.new)
