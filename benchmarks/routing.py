"""Vehicle routing with 20 customers (PyEPO's notebook 04): the search of ``auto`` with a tenth of the solves of SPO+.

python benchmarks/routing.py [--store FOLDER]

PyEPO's notebook trains SPO+ for 10 epochs of 1,000 instances: 10,000 solves, 5.88 % regret; CaVE+ reaches 5.44 %. Here
all settings of a search share one cache, which grows by 450 solves; 550 more score its models on held-out instances.
Labels are not counted: SPO+ needs the same. Nothing is chosen on test data.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import torch

from measure import line
from regretless import auto, evaluate
from regretless.problems import load

SOLVES_OF_SPO = 10_000


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--store", type=Path, default=Path("results") / "labels", help="folder that keeps the labels")
    options = parser.parse_args()
    torch.set_num_threads(1)
    loaded = load("vehicle-routing", store=options.store)
    found = auto(loaded.problem, loaded.train, growth=0.45, scoring=0.25)
    print(found.chosen, found.verdict)
    test = {
        name: 100 * evaluate(model, loaded.test, loaded.problem).relative_regret
        for name, model in {"two-stage": found.two_stage, "auto": found.model}.items()
    }
    line("two-stage: test regret in percent", test["two-stage"])
    print(f"solves: {found.solves['growth']} for growth, {found.solves['scoring']} for scoring")
    share = sum(found.solves.values()) / SOLVES_OF_SPO
    good = line("solves of the search, as a share of those of SPO+", share, at_most=0.1)
    return 0 if line("auto: test regret in percent", test["auto"], at_most=5.5) and good else 1


if __name__ == "__main__":
    sys.exit(main())
